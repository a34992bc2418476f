"""Vectors of facts: changes for indexes, and comparison in the database (pgvector, TiDB's VECTOR) for shared stores.

One table per embedder and dimension, with the owner in every row and query. It has no graph: a user's rows are found by owner
and compared one by one, so nothing near is missed.
Invariant: a cache over `embedding`, one owner at a time. An owner's facts are numbered in commit order, since writers of facts
wait for each other, so the highest number held tells what an index has. Facts without a vector (import, other embedder) get one
before comparison; forgotten facts lose theirs in the transaction that forgets them.
Source: TIMEM "Vector Operations", "Similarity Search"; DESIGN §2.3; spec README 13; verified/store.md §6, §7.2.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    MetaData,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    inspect,
    literal,
    select,
    text,
)
from sqlalchemy import table as named_table
from sqlalchemy.sql import column as named_column

from memoir_engine.core.errors import DatabaseError
from memoir_engine.core.ports import HEALTHY, Cosines, Health, Near, VectorIndexUnavailable, Vectors
from memoir_engine.store import tables
from memoir_engine.store.chain import actions
from memoir_engine.store.db import ids
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.prepared import Prepared
from memoir_engine.store.db.types import Tx, key, portions
from memoir_engine.store.facts.rows import REMEMBERED
from memoir_engine.store.search import embeddings
from memoir_engine.store.search.embeddings import VECTOR_DTYPE, Matrix
from memoir_engine.store.search.vector_sql import AT_ONCE, VectorType, distance, unavailable_health, vector_literal

_F, _E = tables.fact.c, tables.embedding.c
_BESIDE = (_E.kind == "fact") & (_E.item_id == _F.id) & (_E.embedder == bindparam("by"))
_CAME = Prepared(
    select(_F.id, _E.vector, _E.dim)
    .outerjoin(tables.embedding, _BESIDE)
    .where(_F.owner == bindparam("owner"), _F.id > bindparam("since"), REMEMBERED)
    .order_by(_F.id)
)
_ADD = Prepared(insert(tables.embedding))


class FactVectorChanges(NamedTuple):
    """seq: of the read. last: the highest number included. missing: (number, content) of facts without a vector."""

    seq: int
    last: int
    vectors: Matrix
    missing: tuple[tuple[int, str], ...]


def vectors_since(tx: Tx, owner: str, embedder: str, dim: int | None, since: int) -> FactVectorChanges:
    """Return the owner's facts after that number, whatever their state. dim: None if the embedder has not answered yet."""
    seq = actions.seq(tx)
    rows = _CAME.rows(tx, {"owner": owner, "by": embedder, "since": since})
    if not rows:
        return FactVectorChanges(seq, since, Matrix(np.zeros(0, np.int64), np.zeros((0, dim or 0), np.float32)), ())
    present = [row for row in rows if row.vector is not None and row.dim == dim]
    missing = [row.id for row in rows if row.vector is None or row.dim != dim]
    vectors = np.frombuffer(b"".join(row.vector for row in present), dtype=VECTOR_DTYPE).reshape(len(present), dim or 0)
    keys = np.array([row.id for row in present], np.int64)
    return FactVectorChanges(seq, rows[-1].id, Matrix(keys, vectors.astype(np.float32)), _texts(tx, missing))


def add(tx: Tx, embedder: str, numbers: Sequence[int], vectors: Vectors) -> None:
    """Write vectors of facts this transaction adds; there are none to replace."""
    of = {"kind": "fact", "embedder": embedder, "dim": vectors.shape[1], "seq": ids.tick(tx)}
    rows = np.ascontiguousarray(vectors, dtype=VECTOR_DTYPE)
    _ADD.run_all(tx, [{**of, "item_id": number, "vector": row.tobytes()} for number, row in zip(numbers, rows, strict=True)])


def put(tx: Tx, embedder: str, facts: Sequence[tuple[int, str]], vectors: Vectors) -> None:
    """Write vectors of facts whose text is unchanged: an erasure may have removed words meanwhile. vectors: (len(facts), dim)."""
    current = dict(_texts(tx, [number for number, _ in facts]))
    unchanged = [place for place, (number, content) in enumerate(facts) if current[number] == content]
    if unchanged:
        embeddings.put(tx, "fact", embedder, [facts[place][0] for place in unchanged], vectors[unchanged])


def _texts(tx: Tx, numbers: list[int]) -> tuple[tuple[int, str], ...]:
    f = tables.fact.c
    wanted = select(f.id, f.content)
    rows = (row for some in portions(numbers) for row in tx.execute(wanted.where(f.id.in_(some)).order_by(f.id)))
    return tuple((row.id, row.content) for row in rows)


PREFIX = "fact_vectors_"


class FactTable:
    """The table of one embedder and dimension. `health` creates it if needed."""

    def __init__(self, db: Database, embedder: str, dim: int) -> None:
        self.db = db
        self.dim = dim
        self.kind = VectorType(dim, is_cast=db.dialect == "postgresql")
        self._lock = threading.Lock()
        self._health: Health | None = None
        self.table = Table(
            PREFIX + hashlib.sha256(f"{embedder} {dim}".encode()).hexdigest()[:12],
            MetaData(),
            Column("item_id", BigInteger, primary_key=True, autoincrement=False),
            Column("owner", key(64), nullable=False),
            Column("vector", self.kind, nullable=False),
        )
        Index(f"ix_{self.table.name}", self.table.c.owner, self.table.c.item_id)

    @property
    def health(self) -> Health:
        with self._lock:
            if self._health is None:
                self._health = self._opened()
            return self._health

    def of(self, owner: str) -> FactVectors:
        return FactVectors(self, owner)

    def _opened(self) -> Health:
        try:
            self.db.write(self._made, operation="the table of vectors of facts")
        except DatabaseError as refused:
            return unavailable_health(refused)
        return HEALTHY

    def _made(self, tx: Tx) -> None:
        if self.db.dialect == "postgresql":
            tx.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        if not inspect(tx).has_table(self.table.name):
            self.table.create(tx)
        if tx.execute(select(tables.setting.c.name).where(tables.setting.c.name == self.table.name)).first() is None:
            tx.execute(insert(tables.setting).values(name=self.table.name, value=str(self.dim)))


class FactVectors:
    """A NearestIndex over the facts of one owner."""

    def __init__(self, home: FactTable, owner: str) -> None:
        self._home, self._owner = home, owner
        self._c = home.table.c

    @property
    def health(self) -> Health:
        return self._home.health

    @property
    def high_water(self) -> int:
        """The highest number held."""
        return self._home.db.read(self._highest) if self.health.ok else 0

    def __len__(self) -> int:
        self._check()
        wanted = select(func.count()).where(self._c.owner == self._owner)
        return int(self._home.db.read(lambda tx: tx.execute(wanted).scalar_one()))

    def take_in(
        self, keys: Sequence[int], vectors: Vectors, removed: Iterable[int], seq: int, *, since: int | None = None
    ) -> bool:
        """Add vectors; those not above the highest number are present already. keys: rising."""
        self._check()
        rows = {int(number): vector_literal(vector, self._home.dim) for number, vector in zip(keys, vectors, strict=True)}
        gone = sorted(map(int, removed))

        def work(tx: Tx) -> bool:
            ids.reserve(tx, "fact", 0)  # concurrent writers and forgetting wait here
            highest = self._highest(tx)
            if since not in (None, highest):
                return False
            for some in portions(gone, AT_ONCE):
                tx.execute(delete(self._home.table).where(self._c.owner == self._owner, self._c.item_id.in_(some)))
            new = ({"item_id": number, "owner": self._owner, "vector": row} for number, row in rows.items() if number > highest)
            for part in portions(new, AT_ONCE):
                tx.execute(insert(self._home.table), part)
            return True

        return self._home.db.write(work, operation="vectors of facts")

    def top(self, vector: Vectors, k: int, *, within: Collection[int] | None = None) -> list[Near]:
        self._check()
        if k <= 0 or (within is not None and not within):
            return []
        asked = vector_literal(vector, self._home.dim)
        some: list[list[int] | None] = [None] if within is None else list(portions(sorted(within), 5000))
        found = self._home.db.read(lambda tx: [near for one in some for near in self._found(tx, asked, k, one)])
        return sorted(found, key=lambda near: (-round(near.cosine, 6), near.key))[:k]

    def scores(self, vector: Vectors, keys: Sequence[int]) -> Cosines:
        found = {near.key: near.cosine for near in self.top(vector, len(keys), within=set(map(int, keys)))}
        return np.array([found.get(int(number), np.nan) for number in keys], np.float32)

    def nearest(self, asked: str, k: int, within: Sequence[int] | None = None) -> Select[Any]:
        """Select the owner's k nearest, with distances."""
        far = distance(self._home.db.dialect, self._c.vector, literal(asked, self._home.kind)).label("far")
        wanted = select(self._c.item_id, far).where(self._c.owner == self._owner).order_by(far, self._c.item_id).limit(k)
        return wanted if within is None else wanted.where(self._c.item_id.in_(within))

    def clear(self) -> None:
        self._check()
        mine = delete(self._home.table).where(self._c.owner == self._owner)
        self._home.db.write(lambda tx: tx.execute(mine) and None, operation="vectors of facts")

    def close(self) -> None:
        """Do nothing: the database belongs to the caller."""

    def _found(self, tx: Tx, asked: str, k: int, within: Sequence[int] | None) -> list[Near]:
        return [Near(row[0], 1.0 - float(row[1])) for row in tx.execute(self.nearest(asked, k, within))]

    def _highest(self, tx: Tx) -> int:
        return tx.execute(select(func.max(self._c.item_id)).where(self._c.owner == self._owner)).scalar() or 0

    def _check(self) -> None:
        if not self.health.ok:
            raise VectorIndexUnavailable(self.health)


def reset_owners(tx: Tx, owners: Collection[str]) -> None:
    """Empty all such tables of these owners, so that they are filled again."""
    for name in _tables(tx):
        owner = named_column("owner", key(64))
        for some in portions(sorted(owners), AT_ONCE):
            tx.execute(delete(named_table(name, owner)).where(owner.in_(some)))


def drop(tx: Tx, numbers: Collection[int]) -> None:
    """Delete forgotten facts from all such tables."""
    for name in _tables(tx):
        item = named_column("item_id", BigInteger)
        for some in portions(sorted(numbers), AT_ONCE):
            tx.execute(delete(named_table(name, item)).where(item.in_(some)))


def _tables(tx: Tx) -> Sequence[str]:
    if tx.dialect.name not in ("postgresql", "mysql"):
        return ()
    return tx.execute(select(tables.setting.c.name).where(tables.setting.c.name.like(f"{PREFIX}%"))).scalars().all()
