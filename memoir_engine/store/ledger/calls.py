"""Each attempt at a model, one row, written before its answer is used.

Invariant: a row never changes; prompt and reply stand in its payload. Nothing is written for a run that has ended, nor by
a process from which it was taken over.
Source: DESIGN §2.6, §6, §8 (answers paid for).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, insert, select

from memoir_engine.core.errors import ErasedMeanwhile
from memoir_engine.core.events import CallEnded, ChunkPlaced, DatabaseRetried, RunEnded, RunStarted, Stamped, Waiting
from memoir_engine.core.results import Call
from memoir_engine.core.run import Attempt, Paid
from memoir_engine.store import tables
from memoir_engine.store.chain import payloads
from memoir_engine.store.chain.canonical_json import canonical, parse, seal
from memoir_engine.store.db import ids
from memoir_engine.store.db.database import Database, is_retried
from memoir_engine.store.db.statements import Prepared
from memoir_engine.store.db.text_rules import tame
from memoir_engine.store.db.types import Tx
from memoir_engine.store.ledger import runs
from memoir_engine.store.ledger.runs import hold

_C = tables.model_call.c
_ADD = Prepared(insert(tables.model_call))
_PAID = Prepared(
    select(_C.fingerprint)
    .join(tables.run, tables.run.c.id == _C.run_id)
    .where(_C.subject == bindparam("whose"), _C.error.is_(None), _C.reused_from.is_(None), tables.run.c.committed_seq.is_(None))
)


class Counted(NamedTuple):
    """Totals of a run: attempts sent to a model, answers re-used from the ledger, USD spent as far as known."""

    sent: int
    reused: int
    spent: float

    def with_one(self, attempt: Attempt) -> Counted:
        reused = attempt.reused_from is not None
        return Counted(self.sent + (not reused), self.reused + reused, self.spent + (attempt.cost or 0.0))


def record(tx: Tx, attempt: Attempt, subject: str | None = None, *, call_id: int | None = None, owner: str | None = None) -> int:
    """Write the attempt; its id, reserved beforehand or now. Raises what `hold` raises of the run and its `owner`."""
    written = _written(tx, attempt) if is_retried(tx) else None
    if written is not None:
        return written
    hold(tx, attempt.run_id, owner, "a call")
    row = _row(attempt, subject)
    row["id"] = call_id or ids.reserve(tx, "model_call", 1)
    row["payload"] = payloads.put(tx, [{"prompt": _clean(attempt.prompt), "reply": _clean(attempt.reply)}])[0]
    _ADD.run(tx, seal(tables.model_call, [row])[0])
    return int(row["id"])


def paid(tx: Tx, fingerprint: str, subject: str) -> Paid | None:
    """Find the answer to the same question that an uncommitted run of the same subject paid for."""
    c = tables.model_call.c
    wanted = (
        select(c.id, c.payload, c.model, c.tokens_prompt, c.tokens_completion)
        .join(tables.run, tables.run.c.id == c.run_id)
        .where(c.fingerprint == fingerprint, c.subject == subject, c.error.is_(None), c.reused_from.is_(None))
        .where(tables.run.c.committed_seq.is_(None))
        .order_by(c.id.desc())  # the last one: what was asked again was answered wrongly before
    )
    row = tx.execute(wanted.limit(1)).one_or_none()
    lost = tables.tombstone.c.row_key == (row.payload if row else "")  # its words, to an erasure
    if tx.execute(select(tables.tombstone.c.seq).where(tables.tombstone.c.place == "payload", lost)).first():
        return None
    reply = payloads.get(tx, [row.payload]).get(row.payload, {}).get("reply") if row else None
    if row is None or reply is None:
        return None
    return Paid(row.id, reply, row.model, row.tokens_prompt, row.tokens_completion)


def paid_fingerprints(tx: Tx, subject: str) -> set[str]:
    """Return the fingerprints that `paid` can find: answers that uncommitted runs of the subject paid for."""
    return {row.fingerprint for row in _PAID.rows(tx, {"whose": subject})}


def counted(tx: Tx, run_id: str) -> Counted:
    c = tables.model_call.c
    sums = select(func.count().label("written"), func.count(c.reused_from).label("reused"), func.sum(c.cost).label("spent"))
    row = tx.execute(sums.where(c.run_id == run_id)).one()
    return Counted(row.written - row.reused, row.reused, float(row.spent or 0.0))


def of_run(tx: Tx, run_id: str, *, texts: bool = False, after: int = 0, limit: int | None = None) -> tuple[Call, ...]:
    """Behind the call `after`, in the order they were written; prompts and replies only with `texts`."""
    c = tables.model_call.c
    wanted = select(tables.model_call).where(c.run_id == run_id, c.id > after).order_by(c.id).limit(limit)
    rows = tx.execute(wanted).all()
    bodies = payloads.get(tx, (row.payload for row in rows)) if texts else {}
    return tuple(_call(row, bodies.get(row.payload, {})) for row in rows)


def answers(tx: Tx, run_id: str) -> int:
    """How many questions of the run were answered: going on with it asks none of them again."""
    c = tables.model_call.c
    return tx.execute(select(func.count(c.fingerprint.distinct())).where(c.run_id == run_id, c.error.is_(None))).scalar_one()


def get(tx: Tx, call_id: int) -> Call | None:
    """With prompt and reply."""
    row = tx.execute(select(tables.model_call).where(tables.model_call.c.id == call_id)).one_or_none()
    return None if row is None else _call(row, payloads.get(tx, [row.payload]).get(row.payload, {}))


def _written(tx: Tx, attempt: Attempt) -> int | None:
    c = tables.model_call.c
    same = select(c.id).where(c.run_id == attempt.run_id, c.fingerprint == attempt.fingerprint)
    same = same.where(c.attempt == attempt.attempt, c.started_at == attempt.started_at)
    return tx.execute(same.order_by(c.id.desc()).limit(1)).scalar()


def _clean(text: str | None) -> str | None:
    """Verbatim, but for what no database stores: NUL is escaped by JSON, half surrogates are replaced."""
    return text if text is None else text.encode("utf-8", "replace").decode()


def _row(attempt: Attempt, subject: str | None) -> dict[str, Any]:
    return {
        "run_id": attempt.run_id,
        "subject": subject,
        "purpose": attempt.purpose,
        "prompt_version": attempt.prompt_version,
        "fingerprint": attempt.fingerprint,
        "model": attempt.model[:200],
        "provider": attempt.provider[:100],
        "output_mode": attempt.output_mode,
        "params": canonical(attempt.params),
        "attempt": attempt.attempt,
        "started_at": attempt.started_at,
        "latency_ms": round(attempt.latency_ms, 3),  # as exact as every database gives it back
        "tokens_prompt": attempt.tokens_prompt,
        "tokens_completion": attempt.tokens_completion,
        "tokens_estimated": int(attempt.tokens_estimated),
        "cost": None if attempt.cost is None else round(attempt.cost, 10),
        "error": attempt.error and tame(attempt.error),
        "reused_from": attempt.reused_from,
    }


def _call(row: Any, body: dict[str, Any]) -> Call:
    return Call(
        id=row.id,
        run_id=row.run_id,
        purpose=row.purpose,
        prompt_version=row.prompt_version,
        model=row.model,
        provider=row.provider,
        output_mode=row.output_mode,
        params=parse(row.params),
        attempt=row.attempt,
        started_at=row.started_at,
        latency_ms=row.latency_ms,
        tokens_prompt=row.tokens_prompt,
        tokens_completion=row.tokens_completion,
        tokens_estimated=bool(row.tokens_estimated),
        cost=row.cost,
        error=row.error,
        reused_from=row.reused_from,
        fingerprint=row.fingerprint,
        prompt=body.get("prompt"),
        reply=body.get("reply"),
    )


BLOCK = 16  # call ids reserved at a time
NONE_YET = Counted(0, 0, 0.0)
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
        counted: Counted = NONE_YET,
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
            self._paid = await self._db.aread(lambda tx: paid_fingerprints(tx, subject))
        if fingerprint not in self._paid:
            return None
        return await self._db.aread(lambda tx: paid(tx, fingerprint, subject))

    async def recount(self) -> None:
        """Count as the rows say, where a unit was left before it said whether it has committed."""
        if self._doubtful:
            self._counted = await self._db.aread(lambda tx: counted(tx, self._run_id))

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
        written = record(tx, attempt, self._subject, call_id=self._next_id(tx, fresh), owner=self._owner)
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
