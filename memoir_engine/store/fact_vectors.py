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
from sqlalchemy import bindparam, insert, select

from memoir_engine.embedding import Vectors
from memoir_engine.store import chain, embeddings, ids
from memoir_engine.store import tables as t
from memoir_engine.store.embeddings import ONE, Matrix
from memoir_engine.store.fact_rows import REMEMBERED
from memoir_engine.store.prepared import Prepared
from memoir_engine.store.types import Tx, portions

_F, _E = t.fact.c, t.embedding.c
_BESIDE = (_E.kind == "fact") & (_E.item_id == _F.id) & (_E.embedder == bindparam("by"))
_CAME = Prepared(
    select(_F.id, _E.vector, _E.dim)
    .outerjoin(t.embedding, _BESIDE)
    .where(_F.owner == bindparam("whose"), _F.id > bindparam("since"), REMEMBERED)
    .order_by(_F.id)
)
_ADD = Prepared(insert(t.embedding))


class Came(NamedTuple):
    """seq: of the moment. last: the number up to which everything is in it. missing: (number, content) of what has no vector."""

    seq: int
    last: int
    vectors: Matrix
    missing: tuple[tuple[int, str], ...]


def came(tx: Tx, owner: str, embedder: str, dim: int | None, since: int) -> Came:
    """Facts of the owner behind that number, whatever became of them. dim: None where the embedder has not answered yet."""
    seq = chain.seq(tx)
    rows = _CAME.rows(tx, {"whose": owner, "by": embedder, "since": since})
    if not rows:
        return Came(seq, since, Matrix(np.zeros(0, np.int64), np.zeros((0, dim or 0), np.float32)), ())
    there = [row for row in rows if row.vector is not None and row.dim == dim]
    lacking = [row.id for row in rows if row.vector is None or row.dim != dim]
    vectors = np.frombuffer(b"".join(row.vector for row in there), dtype=ONE).reshape(len(there), dim or 0)
    keys = np.array([row.id for row in there], np.int64)
    return Came(seq, rows[-1].id, Matrix(keys, vectors.astype(np.float32)), _texts(tx, lacking))


def add(tx: Tx, embedder: str, numbers: Sequence[int], vectors: Vectors) -> None:
    """Of facts that this transaction adds: there is nothing to take the place of."""
    of = {"kind": "fact", "embedder": embedder, "dim": vectors.shape[1], "seq": ids.tick(tx)}
    rows = np.ascontiguousarray(vectors, dtype=ONE)
    _ADD.run_all(tx, [{**of, "item_id": number, "vector": row.tobytes()} for number, row in zip(numbers, rows, strict=True)])


def put(tx: Tx, embedder: str, facts: Sequence[tuple[int, str]], vectors: Vectors) -> None:
    """Of those that say what they said: an erasure may have taken words from them meanwhile. vectors: (len(facts), dim)."""
    stand = dict(_texts(tx, [number for number, _ in facts]))
    at = [place for place, (number, content) in enumerate(facts) if stand[number] == content]
    if at:
        embeddings.put(tx, "fact", embedder, [facts[place][0] for place in at], vectors[at])


def _texts(tx: Tx, numbers: list[int]) -> tuple[tuple[int, str], ...]:
    f = t.fact.c
    wanted = select(f.id, f.content)
    rows = (row for some in portions(numbers) for row in tx.execute(wanted.where(f.id.in_(some)).order_by(f.id)))
    return tuple((row.id, row.content) for row in rows)
