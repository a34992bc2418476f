"""A run's ledger: its calls, durable before their answers are used, and its events carried along.

Invariant: `record` has committed when it returns, and only while the run is `owner`'s. Events wait for the next call's
transaction or the next heartbeat; they are for people to look at and prove nothing, so a killed process may lose the last of
them, never a call.
Source: DESIGN §2.6.
"""

from __future__ import annotations

import threading

from memoir_engine.errors import ErasedMeanwhile
from memoir_engine.events import CallEnded, ChunkPlaced, DatabaseRetried, RunEnded, RunStarted, Stamped, Waiting
from memoir_engine.ledger import Attempt, Paid
from memoir_engine.store import calls, ids, runs
from memoir_engine.store.database import Database, is_retried
from memoir_engine.store.types import Tx

BLOCK = 16  # call ids reserved at a time
NONE_YET = calls.Counted(0, 0, 0.0)
WORDLESS = (CallEnded, DatabaseRetried, RunEnded, RunStarted, Waiting)


class Recorder:
    """Stands behind the protocol `Ledger`; `take` listens to the run's events."""

    def __init__(
        self, db: Database, run_id: str, subject: str | None, *, counted: calls.Counted = NONE_YET, owner: str | None = None
    ) -> None:
        self._db = db
        self._run_id = run_id
        self._subject = subject
        self._owner = owner
        self._counted = counted
        self._erasures = db.read(ids.erasures)  # as many as there were before this run read anything
        self.openings: dict[int, str] = {}  # of the chunks it has placed, by event: no row keeps them
        self._lock = threading.Lock()
        self._waiting: list[Stamped] = []
        self._ids: list[int] = []
        self._doubtful = False  # a unit was left before it said whether it has committed
        self._paid: set[str] | None = None  # fingerprints that `paid` could find; read once, since only this run adds to them

    @property
    def sent(self) -> int:
        return self._counted.sent

    @property
    def reused(self) -> int:
        return self._counted.reused

    @property
    def spent(self) -> float:
        return self._counted.spent

    def take(self, stamped: Stamped) -> None:
        if isinstance(stamped.event, ChunkPlaced) and stamped.event.quote:
            self.openings[stamped.n] = stamped.event.quote
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
        self._counted = self._counted.with_one(attempt)
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

    async def recount(self) -> None:
        """Count as the rows say, where a unit was left before it said whether it has committed."""
        if self._doubtful:
            self._counted = await self._db.aread(lambda tx: calls.counted(tx, self._run_id))

    async def flush(self) -> None:
        """Write the events that wait."""
        events = self._taken()
        if not events:
            return
        try:
            await self._db.awrite(
                lambda tx: runs.append_events(tx, self._unerased(tx, events), again=self._doubtful, owner=self._owner),
                operation=f"the events of run {self._run_id}",
            )
        except BaseException:
            self._give_back(events)
            raise

    def _write(self, tx: Tx, attempt: Attempt, events: list[Stamped], call_id: int) -> int:
        if ids.erasures(tx, hold=True) != self._erasures:
            raise ErasedMeanwhile
        written = calls.record(tx, attempt, self._subject, call_id=call_id, owner=self._owner)
        held = not is_retried(tx)  # by the call: another look at the run's row would cost a statement a call
        runs.append_events(tx, events, again=self._doubtful, owner=None if held else self._owner)
        return written

    async def _next_id(self) -> int:
        """From a block of its own, so that a call's transaction is short; what a run leaves of a block stays unused."""
        if not self._ids:
            first = await self._db.awrite(lambda tx: ids.reserve(tx, "model_call", BLOCK), operation="numbers for calls")
            self._ids = [*self._ids, *range(first, first + BLOCK)]
        return self._ids.pop(0)

    def _unerased(self, tx: Tx, events: list[Stamped]) -> list[Stamped]:
        """Once something was erased under the run, only events that can quote nothing."""
        same = ids.erasures(tx, hold=True) == self._erasures
        return events if same else [one for one in events if isinstance(one.event, WORDLESS)]

    def _taken(self) -> list[Stamped]:
        with self._lock:
            events, self._waiting = self._waiting, []
        return events

    def _give_back(self, events: list[Stamped]) -> None:
        with self._lock:
            self._waiting = events + self._waiting
            self._doubtful = True
