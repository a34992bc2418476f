"""Who writes for a run: whoever opened it last, until it ends.

Invariant: a process that was taken for dead and wakes again adds nothing to a run that has ended or goes on elsewhere. So what an
event covers stays the first of the run's calls and decisions, for each opening takes its numbers after all before it.
Source: DESIGN §6 (digests of calls and decisions), §7 (heartbeat, owner).
"""

from __future__ import annotations

from sqlalchemy import select

from memoir_engine.errors import RunNotFound, WriteFailed
from memoir_engine.store import tables as t
from memoir_engine.store.types import Tx


def hold(tx: Tx, run_id: str, owner: str | None, what: str) -> None:
    """Keep the run open and one's own until the transaction ends; without an owner it only has to be open.

    Raises RunNotFound; WriteFailed of `what` when it has ended or was taken over.
    """
    c = t.run.c
    row = tx.execute(select(c.owner, c.closed_seq).where(c.id == run_id).with_for_update()).one_or_none()
    if row is None:
        raise RunNotFound(run_id=run_id)
    if owner not in (None, row.owner):
        raise WriteFailed(operation=what, problem=f"its run {run_id} goes on elsewhere")
    if row.closed_seq is not None:
        raise WriteFailed(operation=what, problem=f"its run {run_id} has ended")


def is_held(tx: Tx, run_id: str, owner: str | None) -> bool:
    """Whether the run is still one's own, however it stands; nobody takes it over until the transaction ends."""
    return owner in (None, tx.execute(select(t.run.c.owner).where(t.run.c.id == run_id).with_for_update()).scalar())
