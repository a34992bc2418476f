"""Audit chain on the page: its head to write down, and the check that the record is untouched."""

from __future__ import annotations

import json
from dataclasses import dataclass

import streamlit as st

from memoir_engine import AuditCheck, InvalidSetting, Memory
from ui import engine_words, figures, presenting, problems
from ui.escape import md_escape
from ui.wording_activity import texts
from ui.wording_counts import texts as counts

KEPT = "chain-checked"


@dataclass(frozen=True)
class Checked:
    """Outcome of the last check in this tab. events: how many were checked."""

    ok: bool
    events: int


def last() -> Checked | None:
    kept = json.loads(st.session_state.get(KEPT, "{}"))
    return Checked(bool(kept["ok"]), int(kept["checked"])) if kept else None


def verify(memory: Memory) -> None:
    """Check everything, and keep the outcome for the card."""
    st.session_state[KEPT] = json.dumps(_told_of(memory.audit.verify(), compared=False))


def card(memory: Memory) -> None:
    head = memory.audit.head()
    with st.container(border=True, key="chain"):
        st.markdown(f"**{texts.CHAIN}**", help=texts.CHAIN_ABOUT)
        st.caption(texts.HEAD.format(events=counts.EVENTS(head.seq)))
        with presenting.technical("chain"):
            st.code(head.hash, language=None, wrap_lines=True)
            expected = st.text_input(
                texts.EXPECTED, key="chain-expected", help=texts.EXPECTED_HELP, placeholder=texts.EXPECTED_FORM
            )
        with st.container(horizontal=True):
            every = st.button(texts.VERIFY_ALL, icon=":material/verified:", key="chain-all", help=texts.ALL_HELP)
            links = st.button(texts.VERIFY_LINKS, icon=":material/link:", key="chain-links", help=texts.LINKS_HELP)
        _anchors(memory)
        if every or links:
            _check(memory, expected.strip().lower(), links_only=links)
        _told(memory)


def _anchors(memory: Memory) -> None:
    """Show the places that hold checkpoints, with what is owed to each."""
    st.markdown(f"**{texts.ANCHORS}**", help=texts.ANCHORS_ABOUT)
    with problems.noted():
        states = memory.audit.anchors()
        for state in states:
            holds = texts.ANCHOR_STATES["empty"] if state.seq is None else texts.ANCHOR_HOLDS.format(seq=figures.count(state.seq))
            owed = f" · {texts.ANCHOR_OWED(state.owed)}" if state.owed else ""
            icon = ":material/error:" if state.problem else ":material/anchor:"
            st.caption(f"{icon} {md_escape(state.place)}  \n{holds}{owed}")
            if state.problem:
                st.caption(md_escape(engine_words.phrase(state.problem)))
        if not states:
            st.caption(texts.NO_ANCHORS)


def _check(memory: Memory, expected: str, *, links_only: bool) -> None:
    """Verify the chain; a mistyped head proves no tampering, so it is rejected before any comparison."""
    st.session_state.pop(KEPT, None)
    bar = st.empty()

    def on_progress(done: float) -> None:
        bar.progress(done, texts.CHECKING)

    with problems.noted():
        try:
            check = memory.audit.verify(expected or None, links_only=links_only, on_progress=on_progress)
        except InvalidSetting:
            st.warning(texts.NOT_A_HEAD, icon=":material/edit:")
            return
        bar.empty()
        st.session_state[KEPT] = json.dumps(_told_of(check, bool(expected)))


def _told_of(check: AuditCheck, compared: bool) -> dict[str, object]:
    kept: dict[str, object] = {"ok": check.ok, "checked": check.checked, "problem": check.problem, "first_bad": check.first_bad}
    return kept | {"compared": compared, "anchors": [list(place) for place in check.anchors]}


def _told(memory: Memory) -> None:
    kept = json.loads(st.session_state.get(KEPT, "{}"))
    if not kept:
        return
    for place, state, seq in kept["anchors"]:
        icon = {"agrees": ":material/check:", "differs": ":material/error:"}.get(state, ":material/help:")
        st.caption(f"{icon} {md_escape(place)}: {texts.ANCHOR_STATES[state].format(seq=figures.count(seq or 0))}")
    if kept["ok"]:
        words = texts.OK_WITH_HEAD if kept["compared"] else texts.OK
        st.success(words.format(events=counts.EVENTS(kept["checked"])), icon=":material/verified:")
        return
    problems.tell(texts.BAD, kept["problem"])
    if kept["first_bad"] is not None:
        _bad(memory, int(kept["first_bad"]))


def _bad(memory: Memory, seq: int) -> None:
    """Show the first event that fails, and its action, if they still exist."""
    st.caption(texts.BAD_AT.format(seq=figures.count(seq)))
    with problems.noted():
        found = [event for event in memory.audit.events(limit=1, before=seq + 1) if event.seq == seq]
    for event in found:
        label = texts.SHOW_BAD.format(seq=figures.count(seq))
        if st.button(label, key="chain-bad", icon=":material/arrow_forward:", type="tertiary"):
            st.switch_page("../pages/activity.py", query_params={"action": event.action_id})
