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
PATIENCE_S = 10  # where nobody opens a page, the first text is not kept waiting either
_lock = threading.Lock()
_held: list[Memory] = []
_drawn = threading.Event()


def memory() -> Memory:
    """Return the open memory. Raises MemoirError if it cannot be opened."""
    with _lock:
        if not _held:
            _held.append(Memory())
        return _held[0]


def warm() -> None:
    """Open the memory, and load what the first text needs once the first page is drawn: it would take the processor from it.

    Errors are left to that page. MEMOIR_DEMO=1 fills an empty memory.
    """
    with contextlib.suppress(MemoirError):
        opened = memory()
        if os.environ.get("MEMOIR_DEMO") == "1" and opened.overview().sources == 0:
            opened.start("load_samples")
            for talk in sample_conversations():
                opened.start("remember", messages=talk.messages, user_id=talk.user, session_id=talk.session_id)
        _drawn.wait(PATIENCE_S)
        opened.warm_up()
        opened.estimate(FIRST)  # loads the tokeniser


def drawn() -> None:
    """Note that a page is drawn, or that none will be."""
    _drawn.set()


def close() -> None:
    with _lock:
        while _held:
            _held.pop().close()


def state() -> str:
    return "open" if _held else "closed"
