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

from sqlalchemy import Table, bindparam, select, update

from memoir_engine.results import AuditHead
from memoir_engine.run import RunStatus
from memoir_engine.store import inputs
from memoir_engine.store import tables as t
from memoir_engine.store.canon import canonical, roll_up, values_digest
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.prepared import Prepared
from memoir_engine.store.rules import tame
from memoir_engine.store.types import Tx

OUTCOME = ("status", "ended_at", "tree_seq", "committed_seq", "result", "error", "remedy")  # covered, in this order


def _digests(table: Table) -> Prepared:
    """Of the rows of a run, in the order they were made."""
    return Prepared(select(table.c.digest).where(table.c.run_id == bindparam("which")).order_by(table.c.id))


_THIS = t.run.c.id == bindparam("which")
_BEFORE = Prepared(select(t.run.c.digest, t.run.c.salt, t.run.c.tree_seq, t.run.c.result).where(_THIS))
_CALLS, _DECISIONS = _digests(t.model_call), _digests(t.decision)
_END = Prepared(update(t.run).where(_THIS).values({name: bindparam(f"new_{name}") for name in (*OUTCOME, "closed_seq")}), [])


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
        inputs.forget(tx, run_id)


def close_with(tx: Tx, action: OpenAction, run_id: str, *, now: datetime, result: dict[str, Any]) -> AuditHead:
    """End an action with the end of the run that led to it: done, with its result, and its answers are spent."""
    close(tx, action, run_id, Ending("done", now, result), committed=True)
    return action.seal()


def _covered(tx: Tx, digests: Prepared, run_id: str) -> list[Any]:
    """How many rows of the run there are so far, and their roll-up."""
    rows = digests.rows(tx, {"which": run_id})
    return [len(rows), roll_up(row.digest for row in rows)]
