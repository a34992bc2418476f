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
from memoir_engine.store.listed import Listed
from memoir_engine.store.types import FAR, Tx

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
_MINE = _F.owner == bindparam("whose")
_ACTIVE = Listed(
    lambda among: (
        select(_F.id).join(t.fact_status, _S.fact_id == _F.id).where(_MINE, among(_F.id), _S.to_seq == FAR, _S.status == ACTIVE)
    )
)
_READ = Listed(lambda among: select(_F.id, *(_F[name] for name in _SHOWN)).where(_MINE, among(_F.id)))


def standing(tx: Tx, owner: str, ranked: Sequence[Sequence[int]], most: int) -> dict[int, Known]:
    """Of each row of numbers the first `most` that are active facts of the owner, by number."""
    numbers = (one for some in ranked for one in some)
    active = {row.id for row in _ACTIVE.rows(tx, numbers, whose=owner)}
    wanted = (one for some in ranked for one in [each for each in some if each in active][:most])
    return {row.id: _known(row) for row in _READ.rows(tx, wanted, whose=owner)}


def _known(row: Any) -> Known:
    number, content, kind, subject, entities, *more = row
    return Known(number, content, kind, subject, tuple(parse(entities)), *more)
