"""Facts of one user that are near to a text: exact cosine over a matrix in memory, or in the database where the setting says so.

Invariant: an index belongs to one owner and one embedder; nothing of another owner can come out of it. It is a cache: what it
names is looked up in SQL, by the owner, before anybody sees it.
Source: TIMEM "Similarity Search" (user isolation, limit 10); verified/performance.md F.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import TypeVar
from weakref import WeakValueDictionary

from memoir_engine.embedding import Embedder, Vectors
from memoir_engine.index.vectors import ExactVectors, Matrices
from memoir_engine.nearest import Near, NearestIndex
from memoir_engine.run import Run
from memoir_engine.store import fact_vectors
from memoir_engine.store.database import Database
from memoir_engine.store.fact_vectors import Came
from memoir_engine.store.types import Tx

S = TypeVar("S")
T = TypeVar("T")

LIMIT = 10  # TIMEM "Similarity Search Limit"
AT_ONCE = 256  # facts that get their vectors in one go


@dataclass(frozen=True)
class Nearness:
    """kept: the matrices of the owners that were asked for last. index_of: what finds the facts of an owner."""

    db: Database
    embedder: Embedder
    kept: Matrices
    index_of: Callable[[str, str, int], NearestIndex]
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def turn(self, owner: str) -> asyncio.Lock:
        """Who compares and writes facts of one owner here waits for who came before; other processes are met at the commit."""
        return self._turns.setdefault(owner, asyncio.Lock())

    async def vectors(self, texts: Sequence[str], run: Run) -> Vectors:
        return await self.embedder.embed(texts, run)

    async def of(self, owner: str, run: Run) -> tuple[NearestIndex | None, int]:
        """What finds every fact of the owner, and the seq up to which it has them; None where there are no facts.

        Facts without a vector get theirs first.
        """
        held, seq, _ = await self.beside(owner, run, lambda tx: None)
        return held, seq

    async def beside(self, owner: str, run: Run, read: Callable[[Tx], T]) -> tuple[NearestIndex | None, int, T]:
        """The same, and what is read at that very moment."""
        dim = self.embedder.dim
        while True:
            held = await self._held(owner, dim) if dim else None
            came = self._came(owner, dim, await _high_water(held))
            found, more = await self.db.aread(_both(came, read))
            if found.missing:
                for at in range(0, len(found.missing), AT_ONCE):
                    dim = await self._add(found.missing[at : at + AT_ONCE], run)
                continue
            if held is not None and len(found.vectors.keys):
                await _taken_in(held, found)
            return held, found.seq, more

    async def top(self, held: NearestIndex | None, vectors: Vectors | Sequence[Vectors], k: int) -> list[list[Near]]:
        """The k nearest to each of the vectors, nearest first."""
        if held is None:
            return [[] for _ in vectors]
        return await _asked(held, lambda: [held.top(one, k) for one in vectors])

    async def scores(self, held: NearestIndex, vector: Vectors, numbers: Sequence[int]) -> list[float]:
        """The true cosine of each; 0 of one that has no vector."""
        found = await _asked(held, lambda: held.scores(vector, numbers))
        return [0.0 if isnan(one) else float(one) for one in found]

    async def _held(self, owner: str, dim: int) -> NearestIndex:
        """A database may have to make its table first; SQLite has none."""
        if self.db.dialect == "sqlite":
            return self.index_of(owner, self.embedder.id, dim)
        return await asyncio.to_thread(self.index_of, owner, self.embedder.id, dim)

    def _came(self, owner: str, dim: int | None, since: int) -> Callable[[Tx], Came]:
        return lambda tx: fact_vectors.came(tx, owner, self.embedder.id, dim, since)

    async def _add(self, facts: Sequence[tuple[int, str]], run: Run) -> int:
        """How long a vector is."""
        vectors = await self.embedder.embed([content for _, content in facts], run)
        await self.db.awrite(lambda tx: fact_vectors.put(tx, self.embedder.id, facts, vectors), operation="vectors of facts")
        return int(vectors.shape[1])


def _both(one: Callable[[Tx], S], other: Callable[[Tx], T]) -> Callable[[Tx], tuple[S, T]]:
    return lambda tx: (one(tx), other(tx))


async def _high_water(held: NearestIndex | None) -> int:
    return 0 if held is None else await _asked(held, lambda: held.high_water)


async def _taken_in(held: NearestIndex, found: Came) -> None:
    await _asked(held, lambda: held.take_in(found.vectors.keys.tolist(), found.vectors.vectors, (), found.last))


async def _asked(held: NearestIndex, work: Callable[[], T]) -> T:
    """A matrix answers at once; for a database the loop does not wait."""
    return work() if isinstance(held, ExactVectors) else await asyncio.to_thread(work)
