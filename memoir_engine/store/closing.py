"""How a run ends: in one event that covers the run, its calls, its decisions, and what it came to.

Invariant: the row of a run that is closed says what its last `run.closed` covers, and is not written to any more. Who worked on
it (`owner`) and when it last showed life (`heartbeat_at`) are no evidence.
Source: DESIGN §6 (each commit's event carries its run's digests; a failed run gets a closing event of its own).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select, update

from memoir_engine.results import AuditHead
from memoir_engine.run import RunStatus
from memoir_engine.store import inputs
from memoir_engine.store import tables as t
from memoir_engine.store.canon import canonical, roll_up, values_digest
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.rules import tame
from memoir_engine.store.types import Tx

OUTCOME = ("status", "ended_at", "tree_seq", "committed_seq", "result", "error", "remedy")  # covered, in this order


@dataclass(frozen=True)
class Ending:
    """result None: what the row says of it already."""

    status: RunStatus
    at: datetime
    result: dict[str, Any] | None = None
    error: str | None = None
    remedy: str | None = None


def outcome_digest(salt: str, values: Sequence[Any]) -> str:
    """Of the values of `OUTCOME`; the salt is the run's, so that two runs that came to the same do not look it."""
    return values_digest(salt, values)


def close(tx: Tx, action: OpenAction, run_id: str, ending: Ending, *, committed: bool = False) -> None:
    """End the run by an event of the action. With `committed` it ends by the commit itself, whose last event this is."""
    c = t.run.c
    row = tx.execute(select(c.digest, c.salt, c.tree_seq, c.result).where(c.id == run_id)).one()
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
        calls=_covered(tx, t.model_call, run_id),
        decisions=_covered(tx, t.decision, run_id),
    )
    tx.execute(update(t.run).where(c.id == run_id).values(**ended, closed_seq=seq))
    if ending.status in ("done", "cancelled"):
        inputs.forget(tx, run_id)


def close_with(tx: Tx, action: OpenAction, run_id: str, *, now: datetime, result: dict[str, Any]) -> AuditHead:
    """End an action with the end of the run that led to it: done, with its result, and its answers are spent."""
    close(tx, action, run_id, Ending("done", now, result), committed=True)
    return action.seal()


def _covered(tx: Tx, table: Any, run_id: str) -> list[Any]:
    """How many rows of the run there are so far, and their roll-up."""
    rows = tx.execute(select(table.c.digest).where(table.c.run_id == run_id).order_by(table.c.id)).scalars().all()
    return [len(rows), roll_up(rows)]
