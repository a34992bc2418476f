"""The end of a run, and the input that is kept for one that may be resumed.

Invariant: the row of a closed run equals what its last `run.closed` covers, and is not written to any more: the event covers the
run, its calls, its decisions and its outcome. `owner` and `heartbeat_at` are no evidence. Kept input is no evidence either and in
no event; bytes and words of an ingestion that came to nothing do not outlive it, and those of a failed or interrupted one go when
another run stores the same bytes.
Source: DESIGN §6 (each commit's event carries its run's digests); MEMOIR 2B.7 (an ingestion that waits for a person), 7.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Table, bindparam, delete, insert, select, update

from memoir_engine.core.results import AuditHead
from memoir_engine.core.run import RunStatus
from memoir_engine.store import tables
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import OUTCOME, canonical, parse, roll_up, values_digest
from memoir_engine.store.db.prepared import Prepared
from memoir_engine.store.db.text_rules import tame
from memoir_engine.store.db.types import Tx

PART = 4_000_000  # bytes: MySQL's default packet is 16 MB
_FORGET = Prepared(delete(tables.run_input).where(tables.run_input.c.run_id == bindparam("which")))


@dataclass(frozen=True)
class RunInput:
    """`how` is JSON: all of what was asked but the bytes."""

    how: dict[str, Any]
    data: bytes


def keep(tx: Tx, run_id: str, kept: RunInput) -> None:
    """Write it; does nothing when it is there already."""
    if kept_runs(tx, [run_id]):
        return
    parts = [_told(kept.how), *(kept.data[i : i + PART] for i in range(0, len(kept.data), PART))]
    for part, some in enumerate(parts):
        tx.execute(insert(tables.run_input).values(run_id=run_id, part=part, bytes=some))


def amend(tx: Tx, run_id: str, **how: Any) -> None:
    """Change how to go on."""
    c = tables.run_input.c
    header = (c.run_id == run_id) & (c.part == 0)
    before = tx.execute(select(c.bytes).where(header)).scalar_one()
    after = {**_read(before), **how}
    tx.execute(update(tables.run_input).where(header).values(bytes=_told(after)))


def get(tx: Tx, run_id: str) -> RunInput | None:
    c = tables.run_input.c
    parts = tx.execute(select(c.bytes).where(c.run_id == run_id).order_by(c.part)).scalars().all()
    return RunInput(_read(parts[0]), b"".join(parts[1:])) if parts else None


def kept_runs(tx: Tx, run_ids: list[str]) -> set[str]:
    """Return the runs whose input is kept."""
    c = tables.run_input.c
    return set(tx.execute(select(c.run_id).where(c.run_id.in_(run_ids), c.part == 0)).scalars()) if run_ids else set()


def forget(tx: Tx, run_id: str) -> None:
    _FORGET.run(tx, {"which": run_id})


def forget_ended(tx: Tx, subject: str | None) -> None:
    """Drop the input of failed and interrupted runs over the same bytes: they are stored now."""
    if subject is not None:
        c = tables.run.c
        ended = select(c.id).where(c.subject == subject, c.status.in_(("failed", "interrupted")))
        tx.execute(delete(tables.run_input).where(tables.run_input.c.run_id.in_(ended)))


def _told(how: dict[str, Any]) -> bytes:
    return canonical(how).encode("utf-8", "surrogatepass")  # what cannot be stored is told so later, by its own error


def _read(told: bytes) -> dict[str, Any]:
    how: dict[str, Any] = parse(told.decode("utf-8", "surrogatepass"))
    return how


def _digests(table: Table) -> Prepared:
    """Select the digests of a run's rows in the order they were made."""
    return Prepared(select(table.c.digest).where(table.c.run_id == bindparam("which")).order_by(table.c.id))


_THIS = tables.run.c.id == bindparam("which")
_BEFORE = Prepared(select(tables.run.c.digest, tables.run.c.salt, tables.run.c.tree_seq, tables.run.c.result).where(_THIS))
_CALLS, _DECISIONS = _digests(tables.model_call), _digests(tables.decision)
_END = Prepared(update(tables.run).where(_THIS).values({name: bindparam(f"new_{name}") for name in (*OUTCOME, "closed_seq")}), [])


@dataclass(frozen=True)
class Ending:
    """result None: what the row says of it already."""

    status: RunStatus
    at: datetime
    result: dict[str, Any] | None = None
    error: str | None = None
    remedy: str | None = None


def outcome_digest(salt: str, values: Sequence[Any]) -> str:
    """Hash the values of `OUTCOME` with the run's salt, so that equal outcomes do not look equal."""
    return values_digest(salt, values)


def close(tx: Tx, action: OpenAction, run_id: str, ending: Ending, *, committed: bool = False) -> None:
    """End the run by an event of the action. With `committed` it ends by the commit itself, whose last event this is."""
    row = _BEFORE.rows(tx, {"which": run_id})[0]
    seq = action.next_seq
    ended = {
        "status": ending.status,
        "ended_at": ending.at,
        "tree_seq": row.tree_seq,
        "committed_seq": seq if committed else None,
        "result": row.result if ending.result is None else tame(canonical(ending.result)),
        "error": ending.error and tame(ending.error),
        "remedy": ending.remedy and tame(ending.remedy),
    }
    action.add(
        "run.closed",
        run=run_id,
        status=ending.status,
        digest=row.digest,
        outcome=outcome_digest(row.salt, [ended[name] for name in OUTCOME]),
        calls=_covered(tx, _CALLS, run_id),
        decisions=_covered(tx, _DECISIONS, run_id),
    )
    _END.run(tx, {f"new_{name}": value for name, value in ended.items()} | {"new_closed_seq": seq, "which": run_id})
    if ending.status in ("done", "cancelled"):
        forget(tx, run_id)


def close_with(tx: Tx, action: OpenAction, run_id: str, *, now: datetime, result: dict[str, Any]) -> AuditHead:
    """End an action with the end of the run that led to it: done, with its result, and its answers are spent."""
    close(tx, action, run_id, Ending("done", now, result), committed=True)
    return action.seal()


def _covered(tx: Tx, digests: Prepared, run_id: str) -> list[Any]:
    """Count the rows of the run so far, and roll their digests up."""
    rows = digests.rows(tx, {"which": run_id})
    return [len(rows), roll_up(row.digest for row in rows)]
