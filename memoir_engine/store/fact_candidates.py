"""Facts of one owner that new ones may meet: those in force.

Invariant: pure reading, by the owner.
Source: TIMEM "Similarity Search".
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from memoir_engine.store import tables as t
from memoir_engine.store.canon import parse
from memoir_engine.store.fact_plan import Known
from memoir_engine.store.fact_rows import ACTIVE
from memoir_engine.store.types import FAR, Tx, portions


def standing(tx: Tx, owner: str, numbers: Collection[int]) -> dict[int, Known]:
    """Those of them that are active facts of the owner, by number."""
    f, s = t.fact.c, t.fact_status.c
    wanted = select(t.fact).join(t.fact_status, s.fact_id == f.id)
    wanted = wanted.where(f.owner == owner, s.to_seq == FAR, s.status == ACTIVE)
    rows = (row for some in portions(sorted(numbers)) for row in tx.execute(wanted.where(f.id.in_(some))))
    return {
        row.id: Known(
            key=row.id,
            content=row.content,
            type=row.type,
            subject=row.subject,
            entities=tuple(parse(row.entities)),
            confidence=row.confidence,
            said_at=row.said_at,
            valid_from=row.valid_from,
            from_precision=row.from_precision,
            valid_to=row.valid_to,
            to_precision=row.to_precision,
        )
        for row in rows
    }
