"""Who has the app open: the tabs that are connected to this server, in its memory alone.

Invariant: nothing of it is recorded, and a tab that is closed is gone. Only names that an action would carry are kept.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from memoir_engine import Memory

MOST = 1_000


@dataclass(frozen=True)
class AppSession:
    """A tab: who uses it, the page it shows, since when it is open, when it was drawn last."""

    name: str
    page: str
    since: datetime
    last: datetime
    is_own: bool = False


_lock = threading.Lock()
_tabs: dict[str, AppSession] = {}


def note(memory: Memory, page: str) -> None:
    """Note that this tab shows a page."""
    context, now = get_script_run_ctx(suppress_warning=True), datetime.now(UTC)
    if context is None:
        return
    with _lock:
        before = _tabs.get(context.session_id)
        since = before.since if before and before.name == memory.actor.name else now
        _tabs[context.session_id] = AppSession(memory.actor.name, page, since, now)
        if len(_tabs) > MOST:
            _forget_closed()


def open_now() -> list[AppSession]:
    """Return the open tabs, the one seen last first."""
    context = get_script_run_ctx(suppress_warning=True)
    own = None if context is None else context.session_id
    with _lock:
        _forget_closed()
        tabs = [replace(tab, is_own=key == own) for key, tab in _tabs.items()]
    return sorted(tabs, key=lambda tab: tab.last, reverse=True)


def _forget_closed() -> None:
    if not exists():  # a test of a single page has no server
        return
    runtime = get_instance()
    for key in [key for key in _tabs if not runtime.is_active_session(key)]:
        del _tabs[key]
