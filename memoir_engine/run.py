"""A run: one execution of one verb, the unit of everything.

Invariant: a run's row is committed before its first call, and every event, call, decision and action names its run.
Source: DESIGN §2.5, §7.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from memoir_engine.errors import MemoirError
from memoir_engine.events import Event, Stamped
from memoir_engine.ledger import Ledger
from memoir_engine.logged import log

RunStatus = Literal["queued", "running", "waiting_helper", "done", "failed", "cancelled", "interrupted"]
Role = Literal["viewer", "auditor", "admin"]
Listener = Callable[[Stamped], None]

ALL_ROLES: frozenset[Role] = frozenset(("viewer", "auditor", "admin"))


class Clock(Protocol):
    """Time as the engine sees it; tests bring their own."""

    def now(self) -> datetime:
        """Aware, UTC."""
        ...

    def tick_ms(self) -> float:
        """Monotonic milliseconds, for latencies only."""
        ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def tick_ms(self) -> float:
        return time.perf_counter() * 1000


@dataclass(frozen=True)
class Actor:
    """Who does it (`name`, `roles`) and whose data it is (`user`, None for the workspace)."""

    name: str = "local"
    roles: frozenset[Role] = ALL_ROLES
    user: str | None = None


class Cancellation:
    """Asked for from any thread; looked at between two steps. Too late once the commit has begun."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = False
        self._committing = False

    def ask(self) -> bool:
        """True when the run will stop, False when its commit has begun."""
        with self._lock:
            self._asked = self._asked or not self._committing
            return self._asked

    @property
    def asked(self) -> bool:
        return self._asked

    def begin_commit(self) -> bool:
        """True when the commit may begin; from then on `ask` answers False."""
        with self._lock:
            self._committing = not self._asked
            return self._committing

    def commit_failed(self) -> None:
        """The commit was refused and the run goes on; it may be cancelled again."""
        with self._lock:
            self._committing = False


@dataclass
class Run:
    """What a service needs to know of its run. Events reach every listener in the order they were emitted."""

    id: str
    verb: str
    actor: Actor
    clock: Clock
    ledger: Ledger
    listeners: list[Listener] = field(default_factory=list)
    cancellation: Cancellation = field(default_factory=Cancellation)
    owner: str | None = None  # of this opening of the run: once another has opened it, nothing more is written here
    _count: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)  # a listener may read the database, which tells of a retry

    def emit(self, event: Event) -> None:
        with self._lock:
            self._count += 1
            stamped = Stamped(self.id, self._count, self.clock.now(), event)
            log(stamped)
            for listener in self.listeners:
                listener(stamped)

    def check(self, stopped: type[MemoirError], **facts: Any) -> None:
        """Raise `stopped` when somebody asked to cancel."""
        if self.cancellation.asked:
            raise stopped(**facts)


def new_id(now: datetime) -> str:
    """26 hex digits: 12 of the time in ms, so that ids sort by age, then 14 of chance."""
    return f"{int(now.timestamp() * 1000):012x}{secrets.token_hex(7)}"
