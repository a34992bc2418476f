"""Compare passage vectors in the database: pgvector in PostgreSQL, VECTOR in TiDB; for stores that many machines share.

One table per embedder and dimension, outside the schema: a cache over `embedding` like every index, its high-water mark in
`setting`. Comparison is exact; a large table gets a graph where the database has one.
Invariant: rows and mark change in one transaction, so the table holds exactly what was added up to `high_water`.
Source: spec README 13; verified/store.md §6 (TiDB: at most 16,383 numbers, exact without TiFlash).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

import numpy as np
from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    MetaData,
    Table,
    cast,
    delete,
    func,
    insert,
    inspect,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.types import UserDefinedType

from memoir_engine.core.errors import DatabaseError
from memoir_engine.core.ports import HEALTHY, Cosines, Health, Near, VectorIndexUnavailable, Vectors
from memoir_engine.store import tables
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.types import Tx, portions

Kind = Literal["pgvector", "tidb"]

AT_ONCE = 500
LARGE = 10_000  # rows above which PostgreSQL gets a graph index
MOST_OF_GRAPH = 2000  # dimensions pgvector's graph supports


class VectorType(UserDefinedType[str]):
    """VECTOR(dim), written as text, `[0.1,0.2]`. TiDB parses it; PostgreSQL needs a cast (`is_cast`)."""

    cache_ok = True

    def __init__(self, dim: int, is_cast: bool) -> None:
        self.dim = dim
        self.is_cast = is_cast

    def get_col_spec(self, **_: Any) -> str:
        return f"VECTOR({self.dim})"

    def bind_expression(self, bindvalue: Any) -> Any:
        return cast(bindvalue, self) if self.is_cast else bindvalue


class DatabaseVectors:
    """A NearestIndex in the database. edition: of the store whose vectors it holds."""

    def __init__(self, db: Database, embedder: str, dim: int, edition: str) -> None:
        self._db = db
        self._dim = dim
        self._edition = edition
        self._type = VectorType(dim, is_cast=self._kind == "pgvector")
        self._lock = threading.Lock()
        self._health: Health | None = None
        name = "vectors_" + hashlib.sha256(f"{embedder} {dim}".encode()).hexdigest()[:12]
        self._mark = name
        self.table = Table(
            name,
            MetaData(),
            Column("item_id", BigInteger, primary_key=True, autoincrement=False),
            Column("vector", self._type, nullable=False),
        )

    @property
    def health(self) -> Health:
        with self._lock:
            if self._health is None:
                self._health = self._opened()
            return self._health

    @property
    def high_water(self) -> int:
        return self._db.read(self._marked) if self.health.ok else 0

    def __len__(self) -> int:
        self._check()
        return int(self._db.read(lambda tx: tx.execute(select(func.count()).select_from(self.table)).scalar_one()))

    def take_in(
        self, keys: Sequence[int], vectors: Vectors, removed: Iterable[int], seq: int, *, since: int | None = None
    ) -> bool:
        self._check()
        rows = {int(key): vector_literal(vector, self._dim) for key, vector in zip(keys, vectors, strict=True)}
        gone = sorted({*map(int, removed), *rows})

        def work(tx: Tx) -> bool:
            before = self._marked(tx, locked=True)
            if seq < before or since not in (None, before):
                return False
            for some in portions(gone, AT_ONCE):
                tx.execute(delete(self.table).where(self.table.c.item_id.in_(some)))
            for part in portions(rows.items(), AT_ONCE):
                tx.execute(insert(self.table), [{"item_id": key, "vector": value} for key, value in part])
            told = f"{seq} {self._edition}"
            tx.execute(update(tables.setting).where(tables.setting.c.name == self._mark).values(value=told))
            return True

        done = self._db.write(work, operation="vectors")
        if done:
            self._index_if_large()
        return done

    def top(self, vector: Vectors, k: int, *, within: Collection[int] | None = None) -> list[Near]:
        self._check()
        target = vector_literal(vector, self._dim)
        if k <= 0 or (within is not None and not within):
            return []
        if within is None:
            return self._db.read(lambda tx: self._nearest(tx, target, k, None))
        hits = [near for some in portions(sorted(within), 5000) for near in self._read(target, k, some)]
        return sorted(hits, key=lambda near: (-near.cosine, near.key))[:k]

    def scores(self, vector: Vectors, keys: Sequence[int]) -> Cosines:
        self._check()
        target = vector_literal(vector, self._dim)
        cosines: dict[int, float] = {}
        for some in portions(sorted(set(map(int, keys))), 5000):
            cosines |= {near.key: near.cosine for near in self._read(target, len(some), some)}
        return np.array([cosines.get(int(key), np.nan) for key in keys], np.float32)

    def clear(self) -> None:
        self._check()

        def work(tx: Tx) -> None:
            tx.execute(delete(self.table))
            tx.execute(update(tables.setting).where(tables.setting.c.name == self._mark).values(value=f"0 {self._edition}"))

        self._db.write(work, operation="vectors")

    def close(self) -> None:
        """Do nothing: the database belongs to the caller."""

    def distance(self, target: str) -> ColumnElement[float]:
        """Return 1 − cosine of each row."""
        return distance(self._db.dialect, self.table.c.vector, literal(target, self._type))

    @property
    def _kind(self) -> Kind:
        return "pgvector" if self._db.dialect == "postgresql" else "tidb"

    def _read(self, target: str, k: int, within: Sequence[int]) -> list[Near]:
        return self._db.read(lambda tx: self._nearest(tx, target, k, within))

    def _nearest(self, tx: Tx, target: str, k: int, within: Sequence[int] | None) -> list[Near]:
        far = self.distance(target).label("far")
        wanted = select(self.table.c.item_id, far).order_by(far).limit(k)
        if within is not None:
            wanted = wanted.where(self.table.c.item_id.in_(within))
        hits = [Near(row[0], 1.0 - float(row[1])) for row in tx.execute(wanted)]
        return sorted(hits, key=lambda near: (-round(near.cosine, 6), near.key))

    def _marked(self, tx: Tx, *, locked: bool = False) -> int:
        wanted = select(tables.setting.c.value).where(tables.setting.c.name == self._mark)
        mark = tx.execute(wanted.with_for_update() if locked else wanted).scalar() or "0 "
        seq, edition = mark.split(" ", 1)
        return int(seq) if edition == self._edition else 0

    def _opened(self) -> Health:
        """Create the table, or empty it if it belongs to another edition."""
        if self._db.dialect not in ("postgresql", "mysql"):
            reason = f"{self._db.dialect} cannot compare vectors"
            return Health(False, reason, "Use PostgreSQL with pgvector or TiDB, or vector_store='auto'.")
        try:
            self._db.write(self._made, operation="the table of vectors")
        except DatabaseError as refused:
            return unavailable_health(refused)
        return HEALTHY

    def _made(self, tx: Tx) -> None:
        if self._kind == "pgvector":
            tx.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        if not inspect(tx).has_table(self.table.name):
            self.table.create(tx)
        known = tx.execute(select(tables.setting.c.value).where(tables.setting.c.name == self._mark)).scalar()
        if known is None:
            tx.execute(insert(tables.setting).values(name=self._mark, value=f"0 {self._edition}"))
        elif known.split(" ", 1)[1] != self._edition:
            tx.execute(delete(self.table))
            tx.execute(update(tables.setting).where(tables.setting.c.name == self._mark).values(value=f"0 {self._edition}"))

    def _index_if_large(self) -> None:
        if self._kind == "pgvector" and self._dim <= MOST_OF_GRAPH and len(self) >= LARGE:
            name = self.table.name
            made = f"CREATE INDEX IF NOT EXISTS {name}_graph ON {name} USING hnsw (vector vector_cosine_ops)"
            self._db.write(lambda tx: tx.execute(text(made)) and None, operation="the graph of vectors")

    def _check(self) -> None:
        if not self.health.ok:
            raise VectorIndexUnavailable(self.health)


def distance(dialect: str, column: ColumnElement[Any], target: ColumnElement[Any]) -> ColumnElement[float]:
    """Return 1 − cosine of each row, in the database's dialect."""
    if dialect == "postgresql":
        return column.op("<=>", return_type=Float())(target)
    return func.VEC_COSINE_DISTANCE(column, target, type_=Float())


def vector_literal(vector: Vectors, dim: int) -> str:
    """Format a vector for the database, at unit length. Raises ValueError for a wrong shape or one without direction."""
    row = np.asarray(vector, np.float32)
    length = float(np.linalg.norm(row.astype(np.float64)))
    if row.shape != (dim,) or not np.isfinite(length) or not length:
        raise ValueError(f"a vector of shape {row.shape}, not finite or of no length, was given where each has {dim} numbers")
    return "[" + ",".join(f"{number:.9g}" for number in (row / length).tolist()) + "]"


def unavailable_health(refused: DatabaseError) -> Health:
    """Return the health of a database that refused to create a table of vectors."""
    remedy = "In PostgreSQL install pgvector and run CREATE EXTENSION vector; in MySQL only TiDB has vectors."
    return Health(False, f"the database has no vectors ({refused.message})", remedy)
