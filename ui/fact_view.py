"""Facts that pass the filters: figures, then a timeline, a table or a graph."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from memoir_engine import FactProposal, FactView, Memory
from ui import fact_filters, fact_graph, fact_labels, fact_lanes, figures, frame, state
from ui import wording_facts as texts
from ui.components import timeline


def metrics(memory: Memory, known: Sequence[FactView], filters: fact_filters.FactFilters, waiting: int) -> None:
    """known: all of the user's facts in their current state."""
    counts = memory.facts.counts(filters.user, as_of=filters.moment)
    totals = {one: sum(number for (_, status), number in counts.items() if status == one) for one in texts.STATUSES}
    changes = [when for fact in known for when in (fact.recorded_at, fact.retired_at) if when]
    frame.metrics(
        {
            texts.ACTIVE: figures.count(totals["active"]),
            texts.OUTDATED: figures.count(totals["outdated"]),
            texts.LAST: figures.ago(max(changes)) if changes else "–",
            texts.TO_DECIDE: figures.count(waiting),
        },
        width=140,
    )


def show(memory: Memory, facts: Sequence[FactView], filters: fact_filters.FactFilters, proposals: Sequence[FactProposal]) -> None:
    wanted = state.param("view")
    view = st.segmented_control(
        "view",
        texts.VIEWS,
        default=wanted if wanted in texts.VIEWS else texts.VIEWS[0],
        required=True,
        key="facts-view",
        label_visibility="collapsed",
        width="content",
    )
    state.update(view=view if view != texts.VIEWS[0] else None)
    if not facts:
        frame.empty(texts.NONE_FOUND, texts.NONE_FOUND_TEXT, ":material/filter_alt_off:")
    elif view == texts.VIEWS[2]:
        fact_graph.show(facts, memory.facts.relations(filters.user))
    elif view == texts.VIEWS[1]:
        _table(facts)
    else:
        _timeline(facts, filters, proposals)


def _timeline(facts: Sequence[FactView], filters: fact_filters.FactFilters, proposals: Sequence[FactProposal]) -> None:
    now = filters.moment or filters.held or datetime.now(UTC)
    doubted = {proposal.new.id for proposal in proposals}
    lanes = fact_lanes.lanes(facts, now, doubted=doubted, told=fact_labels.describe)
    begin, end = fact_lanes.span(facts, now)
    picked = timeline.show(lanes, begin=begin, end=end, now=now.timestamp(), chosen=state.param("fact"), key="facts-timeline")
    if picked is not None and picked != state.param("fact"):
        state.update(fact=picked)
        st.rerun()


def _table(facts: Sequence[FactView]) -> None:
    import pandas as pd

    rows = [
        {
            "content": fact.content,
            "state": texts.STATUSES[fact.status],
            "type": texts.TYPES[fact.type],
            "subject": fact.subject,
            "since": fact_labels.since(fact),
            "until": fact_labels.until(fact),
            "said": fact_labels.day(fact.said_at) if fact.said_at else "",
            "confidence": fact.confidence,
        }
        for fact in facts
    ]
    config = {
        name: st.column_config.TextColumn(label, width="large" if name == "content" else None)
        for name, label in texts.COLUMNS.items()
    }
    config["confidence"] = st.column_config.NumberColumn(texts.COLUMNS["confidence"], format="%.2f")
    chosen = st.dataframe(
        pd.DataFrame(rows, columns=list(texts.COLUMNS)),
        hide_index=True,
        column_config=config,
        on_select="rerun",
        selection_mode=frame.A_ROW,
        key="facts-table",
    )
    at = state.row(chosen)
    if at is not None and at < len(facts) and facts[at].id != state.param("fact"):
        state.update(fact=facts[at].id)
        st.rerun()
