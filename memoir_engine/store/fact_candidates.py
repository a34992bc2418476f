"""Facts of one owner that new ones may meet: those in force.

Invariant: pure reading, by the owner.
Source: TIMEM "Similarity Search".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, select

from memoir_engine.store import tables as t
from memoir_engine.store.canon import parse
from memoir_engine.store.fact_plan import Known
from memoir_engine.store.fact_rows import ACTIVE
from memoir_engine.store.types import FAR, Tx, portions

_F, _S = t.fact.c, t.fact_status.c
_SHOWN = (
    "content",
    "type",
    "subject",
    "entities",
    "confidence",
    "said_at",
    "valid_from",
    "from_precision",
    "valid_to",
    "to_precision",
)
_OURS = (_F.owner == bindparam("whose"), _F.id.in_(bindparam("ids", expanding=True)))
_ACTIVE = select(_F.id).join(t.fact_status, _S.fact_id == _F.id).where(*_OURS, _S.to_seq == FAR, _S.status == ACTIVE)
_READ = select(_F.id, *(_F[name] for name in _SHOWN)).where(*_OURS)


def standing(tx: Tx, owner: str, ranked: Sequence[Sequence[int]], most: int) -> dict[int, Known]:
    """Of each row of numbers the first `most` that are active facts of the owner, by number."""
    numbers = sorted({one for some in ranked for one in some})
    active = {one for some in portions(numbers) for one in tx.execute(_ACTIVE, {"whose": owner, "ids": some}).scalars()}
    wanted = {one for some in ranked for one in [each for each in some if each in active][:most]}
    rows = (row for some in portions(sorted(wanted)) for row in tx.execute(_READ, {"whose": owner, "ids": some}))
    return {row.id: _known(row) for row in rows}


def _known(row: Any) -> Known:
    number, content, kind, subject, entities, *more = row
    return Known(number, content, kind, subject, tuple(parse(entities)), *more)
