"""Who writes for a run: whoever opened it last, until it ends.

Invariant: a process that was taken for dead and wakes again adds nothing to a run that has ended or goes on elsewhere. So what an
event covers stays the first of the run's calls and decisions, for each opening takes its numbers after all before it.
Source: DESIGN §6 (digests of calls and decisions), §7 (heartbeat, owner).
"""

from __future__ import annotations

from sqlalchemy import bindparam, select

from memoir_engine.errors import RunNotFound, WriteFailed
from memoir_engine.store import tables as t
from memoir_engine.store.prepared import Prepared
from memoir_engine.store.types import Tx

_HOLD = Prepared(select(t.run.c.owner, t.run.c.closed_seq).where(t.run.c.id == bindparam("which")).with_for_update())


def hold(tx: Tx, run_id: str, owner: str | None, what: str) -> None:
    """Keep the run open and one's own until the transaction ends; without an owner it only has to be open.

    Raises RunNotFound; WriteFailed of `what` when it has ended or was taken over.
    """
    row = _HOLD.first(tx, {"which": run_id})
    if row is None:
        raise RunNotFound(run_id=run_id)
    if owner not in (None, row.owner):
        raise WriteFailed(operation=what, problem=f"its run {run_id} goes on elsewhere")
    if row.closed_seq is not None:
        raise WriteFailed(operation=what, problem=f"its run {run_id} has ended")


def is_held(tx: Tx, run_id: str, owner: str | None) -> bool:
    """Whether the run is still one's own, however it stands; nobody takes it over until the transaction ends."""
    if owner is None:
        return True
    row = _HOLD.first(tx, {"which": run_id})
    return row is not None and row.owner == owner
