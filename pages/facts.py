"""Facts: what is remembered of a person, since when, from which sentence, and what was believed before."""

from __future__ import annotations

from functools import partial

import streamlit as st

from memoir_engine import FactView, Memory
from ui import fact_asked, fact_decide, fact_export, fact_panel, fact_remember, fact_view, figures, frame, problems, state, who
from ui import wording_facts as said
from ui.escape import md_escape


def seen_by(memory: Memory) -> Memory:
    """Who may not look at everybody's looks at their own."""
    actor = memory.actor
    return memory if "admin" in actor.roles else memory.acting_as(actor.name, user=actor.name, roles=actor.roles)


def take_along(facts: tuple[FactView, ...]) -> None:
    with st.popover(said.EXPORT, icon=":material/download:", key="facts-export"):
        st.caption(said.EXPORT_HELP)
        for label, make, name, mime in (
            (said.EXPORT_CSV, fact_export.as_csv, "facts.csv", "text/csv"),
            (said.EXPORT_JSON, fact_export.as_json, "facts.json", "application/json"),
        ):
            st.download_button(
                label, data=partial(make, facts), file_name=name, mime=mime, key=f"facts-{name}", on_click="ignore"
            )


def asked_for(memory: Memory) -> fact_asked.Asked:
    """The fields, in one row where there is room for it."""
    person, states, moment = st.columns([3, 3, 5], gap="medium")
    with person:
        user = fact_asked.user(memory)
    with states:
        statuses = fact_asked.states()
    with moment:
        when = fact_asked.moment(memory, user)
    words, kind = st.columns([8, 3], gap="medium")
    counted: dict[str, int] = {}
    for (name, _), number in memory.facts.counts(user, as_of=when).items():
        counted[name] = counted.get(name, 0) + number
    with words:
        typed = fact_asked.words()
    with kind:
        chosen = fact_asked.kind(counted)
    return fact_asked.Asked(user, statuses, chosen, typed, when)


memory = seen_by(who.memory())
with problems.shown():
    known = memory.facts.users()
    with frame.head("facts", said.TITLE):
        st.space("stretch")
        fact_remember.button(memory)
        beside = st.container(width="content")
    fact_remember.progress(memory)
    if not any(number for _, number in known):
        frame.empty(said.EMPTY, said.EMPTY_TEXT, ":material/timeline:")
        with st.container(horizontal=True, horizontal_alignment="center"):
            if "admin" in memory.actor.roles:
                fact_remember.samples(memory)
            else:
                who.may(memory, key="facts", role="admin")
        st.stop()
    asked = asked_for(memory)
    facts = fact_asked.found(memory, asked)
    proposals = memory.facts.proposals(asked.user) if asked.user is not None else ()
    with beside:
        take_along(facts)
    fact_view.metrics(memory, asked, len(proposals))
    if asked.moment is None:
        fact_decide.show(memory, proposals)
    else:
        st.caption(f":material/history: {md_escape(said.THEN.format(when=figures.stamp(asked.moment)))}")
    left, right = st.columns([8, 4], gap="medium")
    with left:
        fact_view.show(memory, facts, asked, proposals)
    with right:
        chosen = state.asked("fact")
        if chosen is None:
            st.caption(said.CHOOSE)
        else:
            fact_panel.show(memory, chosen, past=asked.moment is not None)
