"""A run's ledger: its calls, durable before their answers are used, and its events carried along.

Invariant: `record` has committed when it returns. Events wait for the next call's transaction or the next heartbeat;
they are for people to look at and prove nothing, so a killed process may lose the last of them, never a call.
Source: DESIGN §2.6.
"""

from __future__ import annotations

import threading

from memoir_engine.events import Stamped
from memoir_engine.ledger import Attempt, Paid
from memoir_engine.store import calls, ids, runs
from memoir_engine.store.database import Database
from memoir_engine.store.types import Tx

BLOCK = 16  # call ids reserved at a time


class Recorder:
    """Stands behind the protocol `Ledger`; `take` listens to the run's events."""

    def __init__(self, db: Database, run_id: str, subject: str | None) -> None:
        self._db = db
        self._run_id = run_id
        self._subject = subject
        self._lock = threading.Lock()
        self._waiting: list[Stamped] = []
        self._ids: list[int] = []
        self._doubtful = False  # a unit was left before it said whether it has committed
        self._paid: set[str] | None = None  # fingerprints that `paid` could find; read once, since only this run adds to them

    def take(self, stamped: Stamped) -> None:
        with self._lock:
            self._waiting.append(stamped)

    async def record(self, attempt: Attempt) -> int:
        events = self._taken()
        try:
            call_id = await self._next_id()
            await self._db.awrite(
                lambda tx: self._write(tx, attempt, events, call_id),
                operation=f"the call {attempt.purpose} of run {self._run_id}",
            )
        except BaseException:
            self._give_back(events)
            raise
        if self._paid is not None and attempt.error is None:
            self._paid.add(attempt.fingerprint)
        return call_id

    async def paid(self, fingerprint: str) -> Paid | None:
        if self._subject is None:
            return None
        subject = self._subject
        if self._paid is None:
            self._paid = await self._db.aread(lambda tx: calls.paid_fingerprints(tx, subject))
        if fingerprint not in self._paid:
            return None
        return await self._db.aread(lambda tx: calls.paid(tx, fingerprint, subject))

    async def flush(self) -> None:
        """Write the events that wait."""
        events = self._taken()
        if not events:
            return
        try:
            await self._db.awrite(
                lambda tx: runs.append_events(tx, events, again=self._doubtful), operation=f"the events of run {self._run_id}"
            )
        except BaseException:
            self._give_back(events)
            raise

    def _write(self, tx: Tx, attempt: Attempt, events: list[Stamped], call_id: int) -> int:
        runs.append_events(tx, events, again=self._doubtful)
        return calls.record(tx, attempt, self._subject, call_id=call_id)

    async def _next_id(self) -> int:
        """From a block of its own, so that a call's transaction is short; what a run leaves of a block stays unused."""
        if not self._ids:
            first = await self._db.awrite(lambda tx: ids.reserve(tx, "model_call", BLOCK), operation="numbers for calls")
            self._ids = [*self._ids, *range(first, first + BLOCK)]
        return self._ids.pop(0)

    def _taken(self) -> list[Stamped]:
        with self._lock:
            events, self._waiting = self._waiting, []
        return events

    def _give_back(self, events: list[Stamped]) -> None:
        with self._lock:
            self._waiting = events + self._waiting
            self._doubtful = True
