"""Vectors of facts: what came since an index last looked, and what has none yet.

Invariant: only of one owner at a time. Facts of an owner are numbered in the order in which they are committed, so an index that
has seen one number has seen all before it. Vectors are a cache: facts without one, after an import or with another embedder, get
theirs before they are compared. What was forgotten has none.
Source: verified/store.md §7.2; DESIGN §2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy import select

from memoir_engine.embedding import Vectors
from memoir_engine.store import embeddings
from memoir_engine.store import tables as t
from memoir_engine.store.embeddings import ONE, Matrix
from memoir_engine.store.types import Tx, portions


class Came(NamedTuple):
    """last: the number up to which everything is in it. missing: (number, content) of facts without a vector."""

    last: int
    vectors: Matrix
    missing: tuple[tuple[int, str], ...]


def came(tx: Tx, owner: str, embedder: str, dim: int | None, since: int) -> Came:
    """Facts of the owner behind that number, whatever became of them. dim: None where the embedder has not answered yet."""
    f, c = t.fact.c, t.embedding.c
    join = (c.kind == "fact") & (c.item_id == f.id) & (c.embedder == embedder)
    wanted = select(f.id, c.vector, c.dim).outerjoin(t.embedding, join)
    rows = tx.execute(wanted.where(f.owner == owner, f.id > since, f.salt != "").order_by(f.id)).all()
    there = [row for row in rows if row.vector is not None and row.dim == dim]
    lacking = [row.id for row in rows if row.vector is None or row.dim != dim]
    vectors = np.frombuffer(b"".join(row.vector for row in there), dtype=ONE).reshape(len(there), dim or 0)
    keys = np.array([row.id for row in there], np.int64)
    return Came(rows[-1].id if rows else since, Matrix(keys, vectors.astype(np.float32)), _texts(tx, lacking))


def put(tx: Tx, embedder: str, numbers: Sequence[int], vectors: Vectors) -> None:
    """Of facts that were not forgotten meanwhile. vectors: (len(numbers), dim)."""
    f = t.fact.c
    stand = {one for some in portions(numbers) for one in tx.execute(select(f.id).where(f.id.in_(some), f.salt != "")).scalars()}
    at = [place for place, number in enumerate(numbers) if number in stand]
    if at:
        embeddings.put(tx, "fact", embedder, [numbers[place] for place in at], vectors[at])


def _texts(tx: Tx, numbers: list[int]) -> tuple[tuple[int, str], ...]:
    f = t.fact.c
    wanted = select(f.id, f.content)
    rows = (row for some in portions(numbers) for row in tx.execute(wanted.where(f.id.in_(some)).order_by(f.id)))
    return tuple((row.id, row.content) for row in rows)
