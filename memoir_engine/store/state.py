"""One hash over everything that is open: what undo must give back.

Invariant: equal states hash alike whatever led there; seqs and closed rows do not count.
Source: DESIGN §6 ("the state hash that undo restores covers open rows").
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Select, select

from memoir_engine.store import tables as t
from memoir_engine.store.canon import canonical
from memoir_engine.store.sources import LIVE
from memoir_engine.store.types import FAR, Tx


def state_hash(tx: Tx) -> str:
    covered = hashlib.sha256()
    for rows in _open_rows():
        for row in tx.execute(rows):
            covered.update(canonical(list(row)).encode())
        covered.update(b"\n")
    return covered.hexdigest()


def _open_rows() -> Iterable[Select[Any]]:
    f, v, s = t.filing.c, t.category_version.c, t.source.c
    yield (
        select(f.chunk_id, f.category_id, f.decision_id, f.reviewed_by, f.reviewed_seq)
        .where(f.to_seq == FAR)
        .order_by(f.chunk_id)
    )
    yield select(v.category_id, v.parent_key, v.name, v.merged_into).where(v.to_seq == FAR).order_by(v.category_id)
    yield select(s.id, s.status, s.helper_version).where(s.status.in_(LIVE)).order_by(s.id)
