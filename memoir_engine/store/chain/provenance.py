"""Provenance: who wrote the event behind a seq, when and why; and the seq that a moment names.

Invariant: a row whose event is gone has no provenance; nothing is made up for it. A time inside an action means after the
action, since nobody saw half of it; a seq means exactly that seq.
Source: DESIGN §2.7, §2.8, §5 (seq is the product's logical clock), §6.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from memoir_engine.core.errors import InvalidSetting
from memoir_engine.core.results import Cause
from memoir_engine.store import tables
from memoir_engine.store.chain import actions, payloads
from memoir_engine.store.chain.canonical_json import moment_of, stamp
from memoir_engine.store.db.types import FAR, Tx, portions


def of_seqs(tx: Tx, seqs: Iterable[int]) -> dict[int, Cause]:
    """By seq; FAR is no event."""
    e, a = tables.audit_event.c, tables.action.c
    rows: list[Any] = []
    for some in portions(sorted(set(seqs) - {FAR})):
        wanted = select(e.seq, e.at, e.kind, a.id, a.verb, a.actor, a.run_id, a.payload)
        rows += tx.execute(wanted.join(tables.action, a.id == e.action_id).where(e.seq.in_(some)).order_by(e.seq)).all()
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


def seq_of(tx: Tx, when: int | datetime, name: str = "as_of") -> int:
    """The seq that a moment names: 0 before the first event, the last one for a time ahead. Raises InvalidSetting, by `name`."""
    if isinstance(when, int):
        last = actions.seq(tx)
        if not 0 <= when <= last:
            advice = f"Give a number from 0, which is before the first event, to {last}, the newest; or a time."
            raise InvalidSetting(name=name, value=when, problem="there is no such event", advice=advice)
        return when
    e = tables.audit_event.c
    action = tx.execute(select(e.action_id).where(e.at <= stamp(when)).order_by(e.at.desc()).limit(1)).scalar()
    return 0 if action is None else int(tx.execute(select(func.max(e.seq)).where(e.action_id == action)).scalar_one())


def time_of(tx: Tx, seq: int) -> datetime | None:
    """When the event happened; None for 0."""
    at = tx.execute(select(tables.audit_event.c.at).where(tables.audit_event.c.seq == seq)).scalar()
    return None if at is None else moment_of(at)
