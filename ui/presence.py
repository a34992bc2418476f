"""Who looks at an item at this moment, whichever process of the app serves them.

Invariant: it is no evidence of anything, and is over after some seconds. Only people who gave a name are shown, to others who may
see the same item.
Source: docs/decisions/0119.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from memoir_engine import MemoirError, Memory
from ui import state, viewer
from ui.escape import md_escape
from ui.wording_audits import texts

EVERY_S = 4


@st.fragment(run_every=EVERY_S, key="presence")
def show(memory: Memory, item: str) -> None:
    """Say who else looks at this item, as long as they do."""
    ctx = get_script_run_ctx()
    if ctx is None:
        return
    place, is_named = state.param("sample") or "", viewer.is_named(memory)
    try:
        others = memory.review.look_at(item, ctx.session_id, place=place, is_named=is_named)
    except MemoirError:  # the page below says what is wrong with the memory
        return
    if others:
        st.markdown(f":violet[:material/group: {_told(others)}]")


def _told(others: tuple[str, ...]) -> str:
    name, *rest = (md_escape(viewer.plain_name(one)) for one in others)
    if not rest:
        return texts.HERE.format(name=name)
    return texts.HERE_TWO.format(name=name, other=rest[0]) if len(rest) == 1 else texts.HERE_MANY(len(rest), name=name)
