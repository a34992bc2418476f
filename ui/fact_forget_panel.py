"""Forgetting a fact: what is removed with it, what comes back into force, where its words remain; then a reason.

Invariant: the effect is shown before it can be carried out; statements are escaped. Looked up only on request.
"""

from __future__ import annotations

import streamlit as st

from memoir_engine import FactView, ForgetPreview, Memory
from ui import fact_labels, figures, problems, state, viewer
from ui import wording_facts as texts
from ui.escape import md_escape

SHOWN = 6  # facts of a list, and messages


def button(memory: Memory, fact: FactView) -> None:
    if "admin" not in memory.actor.roles:
        return
    asked = st.popover(
        texts.FORGET, icon=":material/delete_forever:", key=f"fact-forget-{fact.id}", type="tertiary", on_change="rerun"
    )
    if asked.open:
        with asked, problems.noted():
            _effect(memory.facts.preview_forget(fact.id))
            _form(memory, fact)


def _form(memory: Memory, fact: FactView) -> None:
    reason = st.text_input(texts.FORGET_REASON, key=f"fact-forget-why-{fact.id}", max_chars=300)
    if st.button(texts.FORGET_GO, type="primary", key="fact-forget-go", disabled=not reason.strip()):
        memory.facts.forget(fact.id, reason=reason.strip())
        state.update(fact=None)
        st.toast(texts.FORGOTTEN)
        st.rerun()


def _effect(preview: ForgetPreview) -> None:
    st.markdown(f"**{md_escape(figures.one_line(preview.fact.content, 240))}**")
    st.markdown(texts.FORGET_ABOUT)
    st.caption(texts.FORGET_CLEARS.format(places=_counted(preview.places)))
    _facts(texts.FORGET_ALSO, preview.also)
    _facts(texts.FORGET_AGAIN, preview.again)
    if preview.stays:
        _stays(preview)


def _counted(places: dict[str, int]) -> str:
    return ", ".join(figures.plural(count, *texts.FORGET_PLACES[place]) for place, count in places.items())


def _facts(title: str, facts: tuple[FactView, ...]) -> None:
    if not facts:
        return
    lines = [
        f"- {md_escape(figures.one_line(one.content, 160))} :small[:gray[{md_escape(fact_labels.period(one))}]]" for one in facts
    ]
    more = [f"- :gray[{texts.FORGET_MORE.format(count=figures.count(len(facts) - SHOWN))}]"] if len(facts) > SHOWN else []
    st.markdown("\n".join([f"**{title}**  ", *lines, *more]))


def _stays(preview: ForgetPreview) -> None:
    """List the messages that keep the words without being the fact's source, each as a link."""
    with st.container(border=True, gap="small"):
        st.markdown(f":orange[:material/info:] {texts.FORGET_STAYS.format(places=_counted(preview.stays))}")
        for conversation, number in preview.elsewhere[:SHOWN]:
            label = texts.FORGET_ELSEWHERE.format(message=number, conversation=md_escape(figures.one_line(conversation, 60)))
            there = {"session": conversation, **viewer.user_named(preview.fact.user_id)}
            st.page_link("../pages/conversations.py", label=label, icon=":material/forum:", query_params=there)
