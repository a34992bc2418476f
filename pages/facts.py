"""Facts: what is remembered of a person, since when, from which sentence, and what was believed before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from memoir_engine import FactView, Memory
from ui import (
    fact_decision,
    fact_export,
    fact_filters,
    fact_panel,
    fact_view,
    figures,
    frame,
    problems,
    remember_form,
    state,
    viewer,
)
from ui import wording_facts as texts
from ui.escape import md_escape


def take_along(memory: Memory, filters: fact_filters.FactFilters) -> None:
    with st.popover(texts.EXPORT, icon=":material/download:", key="facts-export"):
        st.caption(texts.EXPORT_HELP)
        for label, make, name, mime in (
            (texts.EXPORT_CSV, fact_export.as_csv, "facts.csv", "text/csv"),
            (texts.EXPORT_JSON, fact_export.as_json, "facts.json", "application/json"),
        ):
            st.download_button(
                label,
                data=partial(written, make, memory, filters),
                file_name=name,
                mime=mime,
                key=f"facts-{name}",
                on_click="ignore",
            )


def written(make: Callable[[Sequence[FactView]], bytes], memory: Memory, filters: fact_filters.FactFilters) -> bytes:
    return make(fact_filters.all_matching(memory, filters))


def asked_for(memory: Memory) -> tuple[fact_filters.FactFilters, tuple[FactView, ...]]:
    """Draw the filters; return them with all facts of the chosen user."""
    fields = st.grid(4, gap="medium", min_column_width=190)
    with fields:
        user = fact_filters.user(memory)
        statuses = fact_filters.states()
    known = memory.facts.list(user, limit=fact_filters.MOST)
    with fields.cell(column_span=2):
        when, held = fact_filters.moment(known)
    counted: Counter[str] = Counter(fact.type for fact in known)
    with fields.cell(column_span=3):
        typed = fact_filters.words()
    with fields.cell():
        chosen = fact_filters.kind(counted)
    return fact_filters.FactFilters(user, statuses, chosen, typed, when, held), known


memory = fact_filters.seen_by(viewer.memory())
with problems.shown():
    with frame.head("facts", texts.TITLE):
        st.space("stretch")
        remember_form.button(memory)
        beside = st.container(width="content")
    remember_form.progress(memory)
    if not any(number for _, number in memory.facts.users()):
        nameless = memory.actor.name == viewer.ALONE and "admin" not in memory.actor.roles
        title, text = (texts.WHOSE, texts.WHOSE_TEXT) if nameless else (texts.EMPTY, texts.EMPTY_TEXT)
        frame.empty(title, text, ":material/timeline:")
        with st.container(horizontal=True, horizontal_alignment="center"):
            if "admin" in memory.actor.roles:
                remember_form.samples(memory)
            else:
                viewer.may(memory, key="facts", role="admin")
        st.stop()
    filters, known = asked_for(memory)
    facts = fact_filters.matching(memory, filters)
    proposals = memory.facts.proposals(filters.user) if filters.user is not None else ()
    with beside:
        take_along(memory, filters)
    fact_view.metrics(memory, known, filters, len(proposals))
    if filters.held is not None:
        st.caption(f":material/event: {md_escape(texts.HELD.format(when=filters.held.date().isoformat()))}")
    if filters.moment is None:
        fact_decision.show(memory, proposals)
    else:
        st.caption(f":material/history: {md_escape(texts.THEN.format(when=figures.stamp(filters.moment)))}")
    chosen = state.param("fact")
    if chosen is None:
        fact_view.show(memory, facts, filters, proposals)
        st.caption(texts.CHOOSE)
    else:
        left, right = frame.sides(2, 1, least=270)
        with left:
            fact_view.show(memory, facts, filters, proposals)
        with right:
            fact_panel.show(memory, chosen, past=filters.moment is not None)
