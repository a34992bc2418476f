"""Who may open an answer: told beside it where people sign in, with the owner's buttons to share it and to stop.

Invariant: what the line says is what the engine checks; a question that belongs to nobody has no line.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from memoir_engine import Action, MemoirError, Memory, RunView, Sharing
from ui import figures, problems, viewer
from ui.escape import md_escape
from ui.wording_share import texts

REFUSED = "share-refused"


def show(memory: Memory, view: RunView) -> None:
    """Draw the line, and what may be done about it."""
    if view.user is None:
        return
    held = memory.runs.sharing(view.id)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="sharing"):
        icon = ":material/group:" if held.state in ("shared", "everybody") else ":material/lock:"
        st.caption(f"{icon} {_told(memory, held)}", width="content")
        if held.may_share:
            _button(texts.SHARE, ":material/share:", texts.SHARE_HELP, memory.runs.share, held, key="share-go")
        if held.may_close:
            _button(texts.UNSHARE, ":material/link_off:", texts.UNSHARE_HELP, memory.runs.unshare, held, key="share-stop")
    if refused := st.session_state.pop(REFUSED, None):
        problems.tell(refused, None)


def form_note(memory: Memory) -> None:
    """Tell below the form whose a question will be, where people sign in."""
    if viewer.mine().actor.user is not None:
        st.caption(f":material/lock_person: {texts.YOURS[memory.config.question_sharing]}")


def _told(memory: Memory, held: Sharing) -> str:
    owner, is_own = md_escape(str(held.owner)), held.owner == memory.actor.name
    by, when = md_escape(held.by or ""), "" if held.at is None else figures.ago(held.at)
    if held.state == "everybody":
        return texts.EVERYBODY.format(owner=owner)
    if held.state == "shared":
        return texts.SHARED_BY_YOU.format(when=when) if is_own else texts.SHARED_BY.format(owner=owner, when=when)
    if not is_own:
        about = texts.OF_ANOTHER.format(owner=owner)
        return about if held.state == "private" else f"{about} {texts.CLOSED.format(when=when)}"
    if held.rule == "off":
        return texts.PRIVATE_OFF
    if held.state == "closed":
        form = texts.OWN_CLOSED if held.by == held.owner else texts.OWN_CLOSED_BY
        return form.format(by=by, when=when)
    return texts.PRIVATE


def _button(label: str, icon: str, about: str, act: Callable[[str], Action], held: Sharing, *, key: str) -> None:
    st.button(label, icon=icon, key=key, help=about, type="tertiary", on_click=_do, args=(act, held.run_id))


def _do(act: Callable[[str], Action], run_id: str) -> None:
    """Share or stop, before the page is drawn again; another tab may have been first."""
    try:
        act(run_id)
    except MemoirError as error:
        st.session_state[REFUSED] = str(error)
