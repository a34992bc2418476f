"""Who did it, when and why: the events behind rows that hold from one seq until another.

Invariant: an event that is gone is no cause; nothing is made up for it.
Source: DESIGN §2.8, §6.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import select

from memoir_engine.results import Cause
from memoir_engine.store import payloads
from memoir_engine.store import tables as t
from memoir_engine.store.canon import moment_of
from memoir_engine.store.types import FAR, Tx, portions


def of_seqs(tx: Tx, seqs: Iterable[int]) -> dict[int, Cause]:
    """By seq; FAR is no event."""
    e, a = t.audit_event.c, t.action.c
    rows: list[Any] = []
    for some in portions(sorted(set(seqs) - {FAR})):
        wanted = select(e.seq, e.at, e.kind, a.id, a.verb, a.actor, a.run_id, a.payload)
        rows += tx.execute(wanted.join(t.action, a.id == e.action_id).where(e.seq.in_(some)).order_by(e.seq)).all()
    bodies = payloads.get(tx, (row.payload for row in rows))
    return {
        row.seq: Cause(
            seq=row.seq,
            at=moment_of(row.at),
            kind=row.kind,
            action_id=row.id,
            verb=row.verb,
            actor=row.actor,
            reason=bodies.get(row.payload, {}).get("reason"),
            run_id=row.run_id,
        )
        for row in rows
    }
