"""A run that is under way in this process, and what its row said when it was opened."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memoir_engine.run import Run

if TYPE_CHECKING:
    from memoir_engine.store.calls import Counted
    from memoir_engine.store.recorder import Recorder


@dataclass
class Running:
    run: Run
    recorder: Recorder
    task: asyncio.Task[Any] | None = None
    done: threading.Event = field(default_factory=threading.Event)
    leaving: bool = False  # the memory closes under it
    begun: bool = False  # its row says so already


@dataclass(frozen=True)
class Opened:
    """A run's row as it was written: what an earlier opening has counted, and how many erasures there had been by then.

    paid: fingerprints of what others have paid for of the same subject; None where nobody looked.
    """

    erasures: int
    events: int = 0
    counted: Counted | None = None
    begun: bool = False
    paid: set[str] | None = None
