"""Each attempt at a model, one row, written before its answer is used.

Invariant: a row never changes; prompt and reply stand in its payload. Nothing is written for a run that has ended.
Source: DESIGN §2.6, §6, §8 (answers paid for).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select

from memoir_engine.errors import RunNotFound, WriteFailed
from memoir_engine.ledger import Attempt, Paid
from memoir_engine.results import Call
from memoir_engine.store import ids, payloads
from memoir_engine.store import tables as t
from memoir_engine.store.canon import canonical, parse, seal
from memoir_engine.store.database import is_retried
from memoir_engine.store.rules import tame
from memoir_engine.store.types import Tx


def record(tx: Tx, attempt: Attempt, subject: str | None = None, *, call_id: int | None = None) -> int:
    """Write the attempt; its id, reserved beforehand or now. Raises RunNotFound, and WriteFailed when its run has ended."""
    status = tx.execute(select(t.run.c.closed_seq).where(t.run.c.id == attempt.run_id).with_for_update()).one_or_none()
    if status is None:
        raise RunNotFound(run_id=attempt.run_id)
    written = _written(tx, attempt) if is_retried(tx) else None
    if written is not None:
        return written
    if status.closed_seq is not None:
        raise WriteFailed(operation="a call", problem=f"its run {attempt.run_id} has ended")
    row = _row(attempt, subject)
    row["id"] = call_id or ids.reserve(tx, "model_call", 1)
    row["payload"] = payloads.put(tx, [{"prompt": _clean(attempt.prompt), "reply": _clean(attempt.reply)}])[0]
    tx.execute(insert(t.model_call), seal(t.model_call, [row]))
    return int(row["id"])


def paid(tx: Tx, fingerprint: str, subject: str) -> Paid | None:
    """The answer to the same question that an uncommitted run of the same subject has paid for."""
    c = t.model_call.c
    wanted = (
        select(c.id, c.payload, c.model, c.tokens_prompt, c.tokens_completion)
        .join(t.run, t.run.c.id == c.run_id)
        .where(c.fingerprint == fingerprint, c.subject == subject, c.error.is_(None), c.reused_from.is_(None))
        .where(t.run.c.committed_seq.is_(None))
        .order_by(c.id.desc())  # the last one: what was asked again was answered wrongly before
    )
    row = tx.execute(wanted.limit(1)).one_or_none()
    reply = payloads.get(tx, [row.payload]).get(row.payload, {}).get("reply") if row else None
    if row is None or reply is None:
        return None
    return Paid(row.id, reply, row.model, row.tokens_prompt, row.tokens_completion)


def paid_fingerprints(tx: Tx, subject: str) -> set[str]:
    """What uncommitted runs of the subject have paid for: all that `paid` could find."""
    c = t.model_call.c
    wanted = select(c.fingerprint).join(t.run, t.run.c.id == c.run_id)
    wanted = wanted.where(c.subject == subject, c.error.is_(None), c.reused_from.is_(None), t.run.c.committed_seq.is_(None))
    return set(tx.execute(wanted).scalars())


def of_run(tx: Tx, run_id: str, *, texts: bool = False) -> tuple[Call, ...]:
    """In the order they were written; prompts and replies only with `texts`."""
    rows = tx.execute(select(t.model_call).where(t.model_call.c.run_id == run_id).order_by(t.model_call.c.id)).all()
    bodies = payloads.get(tx, (row.payload for row in rows)) if texts else {}
    return tuple(_call(row, bodies.get(row.payload, {})) for row in rows)


def get(tx: Tx, call_id: int) -> Call | None:
    """With prompt and reply."""
    row = tx.execute(select(t.model_call).where(t.model_call.c.id == call_id)).one_or_none()
    return None if row is None else _call(row, payloads.get(tx, [row.payload]).get(row.payload, {}))


def _written(tx: Tx, attempt: Attempt) -> int | None:
    c = t.model_call.c
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
