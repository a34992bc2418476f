"""Who has acted in a memory, with how much and between which times.

Invariant: pure reading; the end of a run is no deed of its own, nor is a record of what the settings say.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select

from memoir_engine.store import roles, tables
from memoir_engine.store.chain.canonical_json import moment_of
from memoir_engine.store.db.statements import Tx

MOST = 1_000
_NO_DEED = ("close", roles.VERB)


class Deeds(NamedTuple):
    """Actions of one actor."""

    actor: str
    actions: int
    first_at: datetime
    last_at: datetime


def deeds(tx: Tx) -> tuple[Deeds, ...]:
    """Return the actors by name."""
    a = tables.action.c
    query = select(a.actor, func.count(), func.min(a.at), func.max(a.at)).where(a.verb.not_in(_NO_DEED)).group_by(a.actor)
    return tuple(
        Deeds(name, int(count), moment_of(first), moment_of(last))
        for name, count, first, last in tx.execute(query.order_by(a.actor).limit(MOST))
    )
