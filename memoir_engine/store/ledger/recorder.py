"""A run's ledger: its calls, durable before their answers are used, and its events carried along.

Invariant: `record` has committed when it returns, and only while the run is `owner`'s. Events wait for the next call's
transaction or the next heartbeat; they are for people to look at and prove nothing, so a killed process may lose the last of
them, never a call. So do rows that others `carry`: they stand before the next call is answered, and before the run ends.
Source: DESIGN §2.6.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from memoir_engine.core.errors import ErasedMeanwhile
from memoir_engine.core.events import CallEnded, ChunkPlaced, DatabaseRetried, RunEnded, RunStarted, Stamped, Waiting
from memoir_engine.core.run import Attempt, Paid
from memoir_engine.store.db import ids
from memoir_engine.store.db.database import Database, is_retried
from memoir_engine.store.db.types import Tx
from memoir_engine.store.ledger import calls, runs
from memoir_engine.store.ledger.runs import hold

BLOCK = 16  # call ids reserved at a time
NONE_YET = calls.Counted(0, 0, 0.0)
WORDLESS = (CallEnded, DatabaseRetried, RunEnded, RunStarted, Waiting)

Unit = Callable[[Tx, bool], None]  # given whether it may have been written before


class Carried(NamedTuple):
    """Events and units that wait for the next transaction of the run."""

    events: list[Stamped]
    units: list[Unit]


class Recorder:
    """Stands behind the protocol `Ledger`; `take` listens to the run's events."""

    def __init__(
        self,
        db: Database,
        run_id: str,
        subject: str | None,
        *,
        counted: calls.Counted = NONE_YET,
        owner: str | None = None,
        erasures: int | None = None,
        paid: set[str] | None = None,
    ) -> None:
        """erasures: as many as there were before this run read anything. paid: fingerprints. None of either reads it."""
        self._db = db
        self._run_id = run_id
        self._subject = subject
        self._owner = owner
        self._counted = counted
        self._erasures = db.read(ids.erasures) if erasures is None else erasures
        self.openings: dict[int, str] = {}  # of the chunks it has placed, by event: no row keeps them
        self._lock = threading.Lock()
        self._waiting: list[Stamped] = []
        self._units: list[Unit] = []
        self._ids: list[int] = []
        self._doubtful = False  # a unit was left before it said whether it has committed
        self._paid = paid  # fingerprints that `paid` could find; read once, since only this run adds to them

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

    def carry(self, unit: Unit) -> None:
        """Write it with the next call, or at the end of the run; its words are not written once something was erased."""
        with self._lock:
            self._units.append(unit)

    async def record(self, attempt: Attempt) -> int:
        carried, fresh = self._taken(), list[int]()
        try:
            call_id = await self._db.awrite(
                lambda tx: self._write(tx, attempt, carried, fresh),
                operation=f"the call {attempt.purpose} of run {self._run_id}",
            )
        except BaseException:
            self._give_back(carried)
            raise
        with self._lock:
            self._ids += fresh
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

    async def flush(self, then: Callable[[Tx], None] | None = None, *, operation: str | None = None) -> None:
        """Write what waits, and `then` in the same transaction."""
        carried = self._taken()
        if not any(carried) and then is None:
            return

        def write(tx: Tx) -> None:
            self._flush(tx, carried)
            if then is not None:
                then(tx)

        try:
            await self._db.awrite(write, operation=operation or f"the events of run {self._run_id}")
        except BaseException:
            self._give_back(carried)
            raise

    def _write(self, tx: Tx, attempt: Attempt, carried: Carried, fresh: list[int]) -> int:
        if ids.erasures(tx, hold=True) != self._erasures:
            raise ErasedMeanwhile
        written = calls.record(tx, attempt, self._subject, call_id=self._next_id(tx, fresh), owner=self._owner)
        held = not is_retried(tx)  # by the call: another look at the run's row would cost a statement a call
        self._put(tx, carried, owner=None if held else self._owner)
        return written

    def _next_id(self, tx: Tx, fresh: list[int]) -> int:
        """From a block of its own, so that few calls lock the counter; what a run leaves of a block stays unused.

        fresh: takes the rest of a new block, which is the run's only once the transaction has committed.
        """
        with self._lock:
            if self._ids:
                return self._ids.pop(0)
        first = ids.reserve(tx, "model_call", BLOCK)
        fresh[:] = range(first + 1, first + BLOCK)
        return first

    def _flush(self, tx: Tx, carried: Carried) -> None:
        """Write what waits; after an erasure during the run only events that cannot quote."""
        if ids.erasures(tx, hold=True) != self._erasures:
            carried = Carried([one for one in carried.events if isinstance(one.event, WORDLESS)], [])
        if carried.units:
            hold(tx, self._run_id, self._owner, "a decision")
        self._put(tx, carried, owner=self._owner)

    def _put(self, tx: Tx, carried: Carried, *, owner: str | None) -> None:
        for unit in carried.units:
            unit(tx, self._doubtful or is_retried(tx))
        if carried.events:
            runs.append_events(tx, carried.events, again=self._doubtful, owner=owner)

    def _taken(self) -> Carried:
        with self._lock:
            carried, self._waiting, self._units = Carried(self._waiting, self._units), [], []
        return carried

    def _give_back(self, carried: Carried) -> None:
        with self._lock:
            self._waiting, self._units = carried.events + self._waiting, carried.units + self._units
            self._doubtful = True
