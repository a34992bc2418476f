"""Who looks at an item at this moment: kept in the memory of this process for seconds, and nowhere else.

Invariant: nothing of it is stored, and it is no evidence of anything. Only people who gave a name are shown, to others who may
see the same item; whoever has gone is forgotten after LASTS_S. Several processes of the app do not see each other's visitors.
Source: docs/decisions/0107.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from memoir_engine import Memory
from ui import state, viewer
from ui.escape import md_escape
from ui.wording_audits import texts

EVERY_S, LASTS_S = 4, 12


@dataclass
class Board:
    """Who is where, by session: the item, the name, and until when it holds. Safe for threads."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _seen: dict[str, tuple[str, str, float]] = field(default_factory=dict)

    def look(self, session: str, item: str, name: str | None, now: float) -> tuple[str, ...]:
        """Note that a session looks at an item, and return the names of others who do. name: None for who gave none."""
        with self._lock:
            self._seen = {one: seen for one, seen in self._seen.items() if seen[2] > now and one != session}
            others = {seen_by for at, seen_by, _ in self._seen.values() if at == item and seen_by != name}
            if name is not None:
                self._seen[session] = (item, name, now + LASTS_S)
            return tuple(sorted(others))


board = Board()


@st.fragment(run_every=EVERY_S, key="presence")
def show(memory: Memory, item: str) -> None:
    """Say who else looks at this item, as long as they do."""
    ctx = get_script_run_ctx()
    if ctx is None:
        return
    name = memory.actor.name if viewer.is_named(memory) else None
    others = board.look(ctx.session_id, f"{state.param('sample') or ''}/{item}", name, time.monotonic())
    if others:
        st.markdown(f":violet[:material/group: {_told(others)}]")


def _told(others: tuple[str, ...]) -> str:
    name, *rest = (md_escape(viewer.plain_name(one)) for one in others)
    if not rest:
        return texts.HERE.format(name=name)
    return texts.HERE_TWO.format(name=name, other=rest[0]) if len(rest) == 1 else texts.HERE_MANY(len(rest), name=name)
