"""A run: one execution of one verb, the unit of everything.

Invariant: a run's row is committed before its first call, and every event, call, decision and action names its run.
Source: DESIGN §2.5, §7.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from memoir_engine.core.errors import MemoirError
from memoir_engine.core.events import (
    BatchClassified,
    CallEnded,
    Committed,
    DatabaseRetried,
    Event,
    HelperReady,
    RunEnded,
    RunStarted,
    Stamped,
    Warned,
)

# === ledger: What is written down of each attempt at a model, before its answer is used.
#
# Invariant: `record` has committed when it returns; if it raises, the answer is not used and no further call is made.
# The model adapter knows only this protocol; the store stands behind it.
# Source: DESIGN §2.6; `../docs/architecture.md` (evidence first).


@dataclass(frozen=True)
class Attempt:
    """One request to a model. `prompt` is the body that went over the wire, `reply` what came back, both verbatim.

    fingerprint: sha256 of model, parameters, prompt version, exact text and exact schema: equal fingerprints ask the same.
    reused_from: the call whose paid answer this one repeats; then it cost nothing and took no time at the model.
    """

    run_id: str
    purpose: str
    prompt_version: str
    fingerprint: str
    model: str
    provider: str
    output_mode: str
    params: dict[str, Any]
    attempt: int
    started_at: datetime
    latency_ms: float
    tokens_prompt: int
    tokens_completion: int
    tokens_estimated: bool
    cost: float | None
    prompt: str
    reply: str | None
    error: str | None = None
    reused_from: int | None = None


@dataclass(frozen=True)
class Paid:
    """An answer that an uncommitted run of the same source already paid for."""

    call_id: int
    reply: str
    model: str
    tokens_prompt: int
    tokens_completion: int


def to_call_ended(call_id: int, attempt: Attempt) -> CallEnded:
    """What a run tells of an attempt that is written down."""
    return CallEnded(
        call_id=call_id,
        purpose=attempt.purpose,
        model=attempt.model,
        attempt=attempt.attempt,
        tokens_prompt=attempt.tokens_prompt,
        tokens_completion=attempt.tokens_completion,
        latency_ms=attempt.latency_ms,
        cost=attempt.cost,
        error=attempt.error,
        reused=attempt.reused_from is not None,
    )


class Ledger(Protocol):
    @property
    def sent(self) -> int:
        """How many attempts of the run went to a model, in all its processes; what was answered from the ledger did not."""
        ...

    @property
    def reused(self) -> int:
        """How many answers of the run were taken from the ledger."""
        ...

    @property
    def spent(self) -> float:
        """USD that the attempts of the run have cost in all its openings, as far as it is known."""
        ...

    async def record(self, attempt: Attempt) -> int:
        """Write it durably; the id of its row."""
        ...

    async def paid(self, fingerprint: str) -> Paid | None:
        """The answer to re-use, if an uncommitted run of the same source has one."""
        ...


# === logged: Every event to Python's log, beside the listeners: where the database itself fails, this is what is left to
# read.
#
# Invariant: what is logged is what may be written down (`Event.kept`): no word of a text, no prompt, no secret.
# No handler is added: who embeds the engine says where it goes. Logger: "memoir_engine.runs"; the record's `run_id` and
# `event`
# stand in its extra fields.
# Source: MEMOIR 2A.10, 2B.10, 7.1, 7.9, 7B.4; DESIGN §2.6, §10.


_log = logging.getLogger("memoir_engine.runs")
_TOLD = (RunStarted, BatchClassified, HelperReady, Committed, RunEnded)


def log_event(stamped: Stamped) -> None:
    event = stamped.event
    level = _level(stamped)
    if not _log.isEnabledFor(level):
        return
    extra = {"run_id": stamped.run_id, "event": event.kind}
    if isinstance(event, Warned):
        _log.log(level, "[mem] %s (run %s)", event.message, stamped.run_id, extra=extra)
    else:
        _log.log(level, "[mem] %s %s (run %s)", event.kind, event.kept(), stamped.run_id, extra=extra)


def _level(stamped: Stamped) -> int:
    event = stamped.event
    if isinstance(event, RunEnded) and event.status == "failed":
        return logging.ERROR
    if isinstance(event, (Warned, DatabaseRetried)):
        return logging.WARNING
    return logging.INFO if isinstance(event, _TOLD) else logging.DEBUG


# === run


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
            log_event(stamped)
            for listener in self.listeners:
                listener(stamped)

    def check(self, stopped: type[MemoirError], **facts: Any) -> None:
        """Raise `stopped` when somebody asked to cancel."""
        if self.cancellation.asked:
            raise stopped(**facts)


def new_id(now: datetime) -> str:
    """26 hex digits: 12 of the time in ms, so that ids sort by age, then 14 of chance."""
    return f"{int(now.timestamp() * 1000):012x}{secrets.token_hex(7)}"


@dataclass(frozen=True)
class NullLedger:
    """The ledger of what asks nobody."""

    sent: int = 0
    reused: int = 0
    spent: float = 0.0

    async def record(self, attempt: Any) -> int:
        raise AssertionError("an embedder that asks a server is given a run")

    async def paid(self, fingerprint: str) -> None:
        return None
