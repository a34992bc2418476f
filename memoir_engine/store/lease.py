"""One planner per store: the lease an ingestion holds while it plans.

Invariant: at most one owner at a time; one that shows no life for `ttl_s` loses it to the next who asks.
Source: DESIGN §5, §8.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import or_, select, update

from memoir_engine.store import tables as t
from memoir_engine.store.types import Tx

_PLANNER = t.lease.c.name == "planner"


def acquire(tx: Tx, owner: str, *, now: datetime, ttl_s: float) -> bool:
    """True when it is `owner`'s from now on, also when it was already."""
    c = t.lease.c
    free = or_(c.owner.is_(None), c.owner == owner, c.heartbeat_at < now - timedelta(seconds=ttl_s))
    return tx.execute(update(t.lease).where(_PLANNER, free).values(owner=owner, heartbeat_at=now)).rowcount == 1


def renew(tx: Tx, owner: str, *, now: datetime) -> bool:
    """False when somebody else has taken it over."""
    mine = update(t.lease).where(_PLANNER, t.lease.c.owner == owner)
    return tx.execute(mine.values(heartbeat_at=now)).rowcount == 1


def release(tx: Tx, owner: str) -> None:
    tx.execute(update(t.lease).where(_PLANNER, t.lease.c.owner == owner).values(owner=None, heartbeat_at=None))


def holder(tx: Tx) -> str | None:
    return tx.execute(select(t.lease.c.owner).where(_PLANNER)).scalar()
