"""Callers' listeners: what `on_event` is given, and what becomes of one that fails.

Invariant: a listener that fails is told to the log and not called again: an ingestion is worth more than its progress bar.
Source: DESIGN §2.6.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from memoir_engine import given
from memoir_engine.events import Stamped
from memoir_engine.run import Listener

OnEvent = Callable[[Stamped], object]  # called on the engine's own thread, one event after the other, while the run waits for it


def listeners(on_event: OnEvent | None) -> tuple[Listener, ...]:
    """Raises InvalidSetting for what cannot be called."""
    return () if on_event is None else (_guarded(given.function("on_event", on_event)),)


def _guarded(on_event: OnEvent) -> Listener:
    failed = False

    def listener(stamped: Stamped) -> None:
        nonlocal failed
        if failed:
            return
        try:
            on_event(stamped)
        except Exception:
            failed = True
            logging.getLogger(__name__).exception("on_event failed; it hears no more of run %s", stamped.run_id)

    return listener
