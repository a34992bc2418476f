"""Each attempt at a model, one row, written before its answer is used.

Invariant: a row never changes; prompt and reply stand in its payload. Nothing is written for a run that has ended, nor by
a process from which it was taken over.
Source: DESIGN §2.6, §6, §8 (answers paid for).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, insert, select

from memoir_engine.core.results import Call
from memoir_engine.core.run import Attempt, Paid
from memoir_engine.store import tables
from memoir_engine.store.chain import payloads
from memoir_engine.store.chain.canonical_json import canonical, parse, seal
from memoir_engine.store.db import ids
from memoir_engine.store.db.database import is_retried
from memoir_engine.store.db.prepared import Prepared
from memoir_engine.store.db.text_rules import tame
from memoir_engine.store.db.types import Tx
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
