"""Who looks at an item at this moment: one row for each tab, which is over after some seconds.

Invariant: it is no evidence of anything, and stands outside the chain. Whoever writes deletes what is over, so there are never
more rows than tabs that were open within the last seconds; a row that still holds for long enough is not written again.
Source: docs/decisions/0119.
"""

from __future__ import annotations

import hashlib
from datetime import datetime

from sqlalchemy import delete, insert, select, update

from memoir_engine.store import tables
from memoir_engine.store.db.statements import Tx

LASTS_S, RENEWED_S = 12, 6  # how long a row holds, and how much of that may be left before it is written again
_P = tables.presence.c


def others(tx: Tx, visitor: str, item: str, person: str, *, now: datetime) -> tuple[str, ...]:
    """Return who else looks at an item, by name."""
    looking = select(_P.person).where(_P.item == key_of(item), _P.until_ms > in_ms(now), _P.visitor != key_of(visitor))
    return tuple(sorted({name for name in tx.execute(looking).scalars() if name != person}))


def is_noted(tx: Tx, visitor: str, item: str, person: str, *, now: datetime) -> bool:
    """Check whether a tab is noted for this item, for long enough."""
    row = tx.execute(select(_P.item, _P.person, _P.until_ms).where(_P.visitor == key_of(visitor))).one_or_none()
    return row is not None and (row.item, row.person) == (key_of(item), person) and row.until_ms > in_ms(now) + RENEWED_S * 1_000


def note(tx: Tx, visitor: str, item: str, person: str, *, now: datetime) -> None:
    """Note that a tab looks at an item, in place of what it looked at before, and delete the rows that are over."""
    key, values = key_of(visitor), {"item": key_of(item), "person": person, "until_ms": in_ms(now) + LASTS_S * 1_000}
    tx.execute(delete(tables.presence).where(_P.until_ms <= in_ms(now), _P.visitor != key))
    if not tx.execute(update(tables.presence).where(_P.visitor == key).values(**values)).rowcount:
        tx.execute(insert(tables.presence).values(visitor=key, **values))


def leave(tx: Tx, person: str) -> None:
    """Delete the rows of a person."""
    tx.execute(delete(tables.presence).where(_P.person == person))


def key_of(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def in_ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000)
