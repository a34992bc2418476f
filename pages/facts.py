"""Facts: what is remembered of a person, since when, from which sentence, and what was believed before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from memoir_engine import FactView, Memory
from ui import fact_asked, fact_decide, fact_export, fact_panel, fact_remember, fact_view, figures, frame, problems, state, who
from ui import wording_facts as said
from ui.escape import md_escape


def take_along(memory: Memory, asked: fact_asked.Asked) -> None:
    with st.popover(said.EXPORT, icon=":material/download:", key="facts-export"):
        st.caption(said.EXPORT_HELP)
        for label, make, name, mime in (
            (said.EXPORT_CSV, fact_export.as_csv, "facts.csv", "text/csv"),
            (said.EXPORT_JSON, fact_export.as_json, "facts.json", "application/json"),
        ):
            st.download_button(
                label,
                data=partial(written, make, memory, asked),
                file_name=name,
                mime=mime,
                key=f"facts-{name}",
                on_click="ignore",
            )


def written(make: Callable[[Sequence[FactView]], bytes], memory: Memory, asked: fact_asked.Asked) -> bytes:
    return make(fact_asked.every(memory, asked))


def asked_for(memory: Memory) -> tuple[fact_asked.Asked, tuple[FactView, ...]]:
    """Draw the filters; return them with all facts of the chosen user."""
    fields = st.grid(4, gap="medium", min_column_width=190)
    with fields:
        user = fact_asked.user(memory)
        statuses = fact_asked.states()
    known = memory.facts.list(user, limit=fact_asked.MOST)
    with fields.cell(column_span=2):
        when, held = fact_asked.moment(known)
    counted: Counter[str] = Counter(fact.type for fact in known)
    with fields.cell(column_span=3):
        typed = fact_asked.words()
    with fields.cell():
        chosen = fact_asked.kind(counted)
    return fact_asked.Asked(user, statuses, chosen, typed, when, held), known


memory = fact_asked.seen_by(who.memory())
with problems.shown():
    with frame.head("facts", said.TITLE):
        st.space("stretch")
        fact_remember.button(memory)
        beside = st.container(width="content")
    fact_remember.progress(memory)
    if not any(number for _, number in memory.facts.users()):
        nameless = memory.actor.name == who.ALONE and "admin" not in memory.actor.roles
        title, text = (said.WHOSE, said.WHOSE_TEXT) if nameless else (said.EMPTY, said.EMPTY_TEXT)
        frame.empty(title, text, ":material/timeline:")
        with st.container(horizontal=True, horizontal_alignment="center"):
            if "admin" in memory.actor.roles:
                fact_remember.samples(memory)
            else:
                who.may(memory, key="facts", role="admin")
        st.stop()
    asked, known = asked_for(memory)
    facts = fact_asked.found(memory, asked)
    proposals = memory.facts.proposals(asked.user) if asked.user is not None else ()
    with beside:
        take_along(memory, asked)
    fact_view.metrics(memory, known, asked, len(proposals))
    if asked.held is not None:
        st.caption(f":material/event: {md_escape(said.HELD.format(when=asked.held.date().isoformat()))}")
    if asked.moment is None:
        fact_decide.show(memory, proposals)
    else:
        st.caption(f":material/history: {md_escape(said.THEN.format(when=figures.stamp(asked.moment)))}")
    chosen = state.asked("fact")
    if chosen is None:
        fact_view.show(memory, facts, asked, proposals)
        st.caption(said.CHOOSE)
    else:
        left, right = frame.sides(2, 1, least=270)
        with left:
            fact_view.show(memory, facts, asked, proposals)
        with right:
            fact_panel.show(memory, chosen, past=asked.moment is not None)
