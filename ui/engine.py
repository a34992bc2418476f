"""The process's only Memory, shared by every tab and route.

Invariant: at most one is open; the first caller opens it and the server's end closes it. A failure to open is not cached: the
next page tries again, so a database that comes back is found.
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
    """Return the open memory. Raises MemoirError if it cannot be opened."""
    with _lock:
        if not _held:
            _held.append(Memory())
        return _held[0]


def warm() -> None:
    """Open the memory before the first page; errors are left to that page. MEMOIR_DEMO=1 fills an empty one."""
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
