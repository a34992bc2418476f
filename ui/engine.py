"""The one Memory of the process, for every tab and every route.

Invariant: at most one is open; it is opened by the first who needs it and closed with the server.
A failure to open is not kept: the next page tries again, so a database that comes back is found.
"""

from __future__ import annotations

import contextlib
import os
import threading

from memoir_engine import MemoirError, Memory, sample_conversations

FIRST = "A few words."
_lock = threading.Lock()
_held: list[Memory] = []


def memory() -> Memory:
    """Raises MemoirError when it cannot be opened."""
    with _lock:
        if not _held:
            _held.append(Memory())
        return _held[0]


def warm() -> None:
    """Open it ahead of the first page; that page shows the error, if there is one. MEMOIR_DEMO=1 fills an empty one."""
    with contextlib.suppress(MemoirError):
        opened = memory()
        opened.warm_up()
        opened.estimate(FIRST)  # loads the tokeniser, for which the first text would wait
        if os.environ.get("MEMOIR_DEMO") == "1" and opened.overview().sources == 0:
            opened.start("load_samples")
            for talk in sample_conversations():
                opened.start("remember", messages=talk.messages, user_id=talk.user, session_id=talk.session_id)


def close() -> None:
    with _lock:
        while _held:
            _held.pop().close()


def state() -> str:
    return "open" if _held else "closed"
