"""Vectors of passages and of facts, beside what they are of.

Invariant: a vector is written only while its passage stands, by the id and the length of the embedder that made it, and goes with
what it is of. It is a cache: it costs time or money to make again, and says nothing that the text does not.
Source: MEMOLLA F-02-02; DESIGN §2.3, §5; verified/store.md §6 (float32 as bytes, never as text).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, ColumnElement, Row, Select, bindparam, delete, func, insert, literal, select

from memoir_engine.core.ports import Vectors
from memoir_engine.store import tables
from memoir_engine.store.db import ids
from memoir_engine.store.db.text_rules import WORKSPACE
from memoir_engine.store.db.types import FAR, Tx, portions
from memoir_engine.store.search import passages
from memoir_engine.store.search.passages import PassageRow

Kind = Literal["passage", "fact"]
Keys = NDArray[np.int64]

VECTOR_DTYPE = "<f4"
AT_ONCE = 200  # rows of some kilobytes each

_E = tables.embedding.c
_OF = (
    select(_E.item_id, _E.vector)
    .where(_E.kind == bindparam("kind"), _E.embedder == bindparam("embedder"), _E.dim == bindparam("dim"))
    .where(_E.item_id.in_(bindparam("ids", expanding=True)))
    .order_by(_E.item_id)
)


class Matrix(NamedTuple):
    """keys: (n,) rising. vectors: (n, dim) float32, each of unit length."""

    keys: Keys
    vectors: Vectors


class VectorChanges(NamedTuple):
    """What an index of vectors that stands at one number of the clock of searching must do to stand at `seq`."""

    seq: int
    added: Matrix
    removed: tuple[int, ...]


def put(tx: Tx, kind: Kind, embedder: str, keys: Sequence[int], vectors: Vectors) -> int:
    """Write them, in place of what this embedder said before; how many. Passages that have gone meanwhile are left out.

    vectors: (len(keys), dim).
    """
    seq = ids.tick(tx)  # an erasure of them is behind us, and seen below, or waits for us
    c = tables.embedding.c
    written = 0
    for some in portions(zip(keys, vectors, strict=True), AT_ONCE):
        numbers = [key for key, _ in some]
        stand = set(numbers) if kind == "fact" else _open(tx, numbers)
        tx.execute(delete(tables.embedding).where(c.kind == kind, c.embedder == embedder, c.item_id.in_(numbers)))
        of = {"kind": kind, "embedder": embedder, "dim": vectors.shape[1], "seq": seq}
        rows = [{**of, "item_id": key, "vector": _bytes(vector)} for key, vector in some if key in stand]
        if rows:
            tx.execute(insert(tables.embedding), rows)
        written += len(rows)
    return written


def missing(
    tx: Tx, embedder: str, *, owner: str = WORKSPACE, dim: int | None = None, since: int = 0, limit: int = 256
) -> tuple[PassageRow, ...]:
    """Passages of exactly this owner, that came after `since`, for which it has said nothing of this length, lowest id first.

    With the texts of sources.
    """
    numbers = missing_ids(tx, embedder, owner=owner, dim=dim, since=since, limit=limit)
    return tuple(passages.get(tx, numbers, owner=owner).values())


def missing_ids(tx: Tx, embedder: str, *, owner: str, dim: int | None, since: int, limit: int) -> Sequence[int]:
    """The same without the passages. It looks at all that came after `since`: whoever wants many asks for many at once."""
    p = tables.passage.c
    wanted = select(p.id).where(p.owner == owner, p.to_seq == FAR, p.from_seq > since, ~_said(embedder, dim))
    return tx.execute(wanted.order_by(p.id).limit(limit)).scalars().all()


def still_missing(tx: Tx, embedder: str, numbers: Sequence[int], *, owner: str, dim: int | None) -> tuple[PassageRow, ...]:
    """Of these, who may have gone or been given one meanwhile."""
    left = tx.execute(select(tables.passage.c.id).where(tables.passage.c.id.in_(numbers), ~_said(embedder, dim))).scalars()
    return tuple(passages.get(tx, left, owner=owner).values())


def matrix(tx: Tx, embedder: str, dim: int, *, owner: str = WORKSPACE) -> Matrix:
    """Of all passages of exactly this owner that stand."""
    return _matrix(tx.execute(_of_owner(embedder, dim, owner)), dim)


def changed(tx: Tx, embedder: str, dim: int, since: int, *, owner: str = WORKSPACE, limit: int | None = None) -> VectorChanges:
    """Of exactly this owner, after that number of the clock: vectors that came, or whose passages came back; ids that went.

    limit: about so many vectors; then it is up to the number that the answer names.
    """
    p, c, now = tables.passage.c, tables.embedding.c, ids.searched(tx)
    upto = now if limit is None else _upto(tx, embedder, since, limit, now)
    every = _of_owner(embedder, dim, owner).order_by(None)  # in the order of ids a database may walk through all there are
    # a vector comes with the later of the two numbers, once; + 0: what nearly all keep to is no way to walk along
    came = every.where(c.seq > since, c.seq <= upto, p.from_seq + 0 <= upto)
    came_back = every.where(p.from_seq > since, p.from_seq <= upto, c.seq + 0 <= upto)  # apart: OR uses no index
    found = {row[0]: row for wanted in (came, came_back) for row in tx.execute(wanted)}
    gone = select(p.id).where(p.owner == owner, p.to_seq > since, p.to_seq <= upto).order_by(p.id)
    return VectorChanges(upto, _matrix([found[key] for key in sorted(found)], dim), tuple(tx.execute(gone).scalars()))


def get(tx: Tx, kind: Kind, keys: Iterable[int], embedder: str, dim: int) -> Matrix:
    """Those there are, of these ids."""
    given = {"kind": kind, "embedder": embedder, "dim": dim}
    rows = [row for some in portions(sorted(set(keys))) for row in tx.execute(_OF, {"ids": some, **given})]
    return _matrix(rows, dim)


def inherit(tx: Tx, source_id: int, version_id: int) -> None:
    """The vectors of a source for a version of it with the very same text, so that nobody is asked for them again."""
    s, e = tables.source.c, tables.embedding.c
    hashes = tx.execute(select(s.text_sha256).where(s.id.in_((source_id, version_id)))).scalars().all()
    if len(hashes) != 2 or hashes[0] != hashes[1]:
        return
    old, new = tables.passage.alias(), tables.passage.alias()
    same = (old.c.n == new.c.n) & (old.c.start == new.c.start) & (old.c.end == new.c.end)
    seq = literal(ids.tick(tx), BigInteger)
    wanted = select(e.kind, new.c.id, e.embedder, e.dim, e.vector, seq).join(old, old.c.id == e.item_id).join(new, same)
    wanted = wanted.where(e.kind == "passage", old.c.source_id == source_id, new.c.source_id == version_id)
    tx.execute(insert(tables.embedding).from_select(["kind", "item_id", "embedder", "dim", "vector", "seq"], wanted))


def count(tx: Tx, embedder: str, *, owner: str = WORKSPACE) -> int:
    """How many passages of exactly this owner that stand have a vector of it."""
    c, p = tables.embedding.c, tables.passage.c
    wanted = select(func.count()).select_from(tables.embedding.join(tables.passage, p.id == c.item_id))
    return int(
        tx.execute(wanted.where(c.kind == "passage", c.embedder == embedder, p.owner == owner, p.to_seq == FAR)).scalar_one()
    )


def embedders(tx: Tx) -> tuple[tuple[str, int], ...]:
    """Whose vectors there are: id and length."""
    c = tables.embedding.c
    return tuple((row[0], row[1]) for row in tx.execute(select(c.embedder, c.dim).distinct().order_by(c.embedder, c.dim)))


def drop(tx: Tx, kind: Kind, keys: Iterable[int]) -> None:
    """Whoever made them."""
    c = tables.embedding.c
    for some in portions(keys):
        tx.execute(delete(tables.embedding).where(c.kind == kind, c.item_id.in_(some)))


def _said(embedder: str, dim: int | None) -> ColumnElement[bool]:
    c = tables.embedding.c
    said = select(c.item_id).where(c.kind == "passage", c.item_id == tables.passage.c.id, c.embedder == embedder)
    return (said if dim is None else said.where(c.dim == dim)).exists()


def _upto(tx: Tx, embedder: str, since: int, limit: int, now: int) -> int:
    """What came at one number comes together."""
    seq = tables.embedding.c.seq
    beyond = select(seq).where(tables.embedding.c.kind == "passage", tables.embedding.c.embedder == embedder, seq > since)
    return tx.execute(beyond.order_by(seq).limit(1).offset(limit)).scalar() or now


def _open(tx: Tx, numbers: Sequence[int]) -> set[int]:
    c = tables.passage.c
    return set(tx.execute(select(c.id).where(c.id.in_(numbers), c.to_seq == FAR)).scalars())


def _of_owner(embedder: str, dim: int, owner: str) -> Select[int, bytes]:
    c, p = tables.embedding.c, tables.passage.c
    wanted = select(c.item_id, c.vector).join(tables.passage, p.id == c.item_id)
    return wanted.where(c.kind == "passage", c.embedder == embedder, c.dim == dim, p.owner == owner, p.to_seq == FAR).order_by(
        c.item_id
    )


def _matrix(rows: Iterable[Row[int, bytes]], dim: int) -> Matrix:
    """One copy: a hundred thousand vectors are a hundred megabytes and more."""
    found = [(row[0], row[1]) for row in rows]
    vectors = np.frombuffer(b"".join(vector for _, vector in found), dtype=VECTOR_DTYPE).reshape(len(found), dim)
    return Matrix(np.array([key for key, _ in found], np.int64), vectors.astype(np.float32, copy=False))


def _bytes(vector: Vectors) -> bytes:
    return np.ascontiguousarray(vector, dtype=VECTOR_DTYPE).tobytes()
