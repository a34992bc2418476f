"""Facts that pass the filters: figures, then a timeline, a table or a graph."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from memoir_engine import FactProposal, FactView, Memory
from ui import fact_asked, fact_graph, fact_lanes, fact_told, figures, frame, state
from ui import wording_facts as said
from ui.components import timeline


def metrics(memory: Memory, known: Sequence[FactView], asked: fact_asked.Asked, waiting: int) -> None:
    """known: all of the user's facts in their current state."""
    counts = memory.facts.counts(asked.user, as_of=asked.moment)
    totals = {one: sum(number for (_, status), number in counts.items() if status == one) for one in said.STATUSES}
    changes = [when for fact in known for when in (fact.recorded_at, fact.retired_at) if when]
    frame.metrics(
        {
            said.ACTIVE: figures.count(totals["active"]),
            said.OUTDATED: figures.count(totals["outdated"]),
            said.LAST: figures.ago(max(changes)) if changes else "–",
            said.TO_DECIDE: figures.count(waiting),
        },
        width=140,
    )


def show(memory: Memory, facts: Sequence[FactView], asked: fact_asked.Asked, proposals: Sequence[FactProposal]) -> None:
    wanted = state.asked("view")
    view = st.segmented_control(
        "view",
        said.VIEWS,
        default=wanted if wanted in said.VIEWS else said.VIEWS[0],
        required=True,
        key="facts-view",
        label_visibility="collapsed",
        width="content",
    )
    state.show(view=view if view != said.VIEWS[0] else None)
    if not facts:
        frame.empty(said.NONE_FOUND, said.NONE_FOUND_TEXT, ":material/filter_alt_off:")
    elif view == said.VIEWS[2]:
        fact_graph.show(facts, memory.facts.relations(asked.user))
    elif view == said.VIEWS[1]:
        _table(facts)
    else:
        _timeline(facts, asked, proposals)


def _timeline(facts: Sequence[FactView], asked: fact_asked.Asked, proposals: Sequence[FactProposal]) -> None:
    now = asked.moment or asked.held or datetime.now(UTC)
    doubted = {proposal.new.id for proposal in proposals}
    lanes = fact_lanes.lanes(facts, now, doubted=doubted, told=fact_told.told)
    begin, end = fact_lanes.span(facts, now)
    picked = timeline.show(lanes, begin=begin, end=end, now=now.timestamp(), chosen=state.asked("fact"), key="facts-timeline")
    if picked is not None and picked != state.asked("fact"):
        state.show(fact=picked)
        st.rerun()


def _table(facts: Sequence[FactView]) -> None:
    import pandas as pd

    rows = [
        {
            "content": fact.content,
            "state": said.STATUSES[fact.status],
            "type": said.TYPES[fact.type],
            "subject": fact.subject,
            "since": fact_told.since(fact),
            "until": fact_told.until(fact),
            "said": fact_told.day(fact.said_at) if fact.said_at else "",
            "confidence": fact.confidence,
        }
        for fact in facts
    ]
    config = {
        name: st.column_config.TextColumn(label, width="large" if name == "content" else None)
        for name, label in said.COLUMNS.items()
    }
    config["confidence"] = st.column_config.NumberColumn(said.COLUMNS["confidence"], format="%.2f")
    chosen = st.dataframe(
        pd.DataFrame(rows, columns=list(said.COLUMNS)),
        hide_index=True,
        column_config=config,
        on_select="rerun",
        selection_mode=frame.A_ROW,
        key="facts-table",
    )
    at = state.row(chosen)
    if at is not None and at < len(facts) and facts[at].id != state.asked("fact"):
        state.show(fact=facts[at].id)
        st.rerun()
