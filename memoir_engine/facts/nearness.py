"""Facts of one user that are near to a text: exact cosine over a matrix in memory, kept up to date from SQL.

Invariant: a matrix belongs to one owner and one embedder; nothing of another owner can come out of it. It is a cache: what it
names is looked up in SQL, by the owner, before anybody sees it.
Source: TIMEM "Similarity Search" (user isolation, limit 10); verified/performance.md F.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from memoir_engine.embedding import Embedder, Vectors
from memoir_engine.index.vectors import ExactVectors, Matrices
from memoir_engine.run import Run
from memoir_engine.store import fact_vectors
from memoir_engine.store.database import Database
from memoir_engine.store.fact_vectors import Came
from memoir_engine.store.types import Tx

LIMIT = 10  # TIMEM "Similarity Search Limit"
AT_ONCE = 256  # facts that get their vectors in one go


@dataclass(frozen=True)
class Nearness:
    """kept: the matrices of the owners that were asked for last."""

    db: Database
    embedder: Embedder
    kept: Matrices
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def turn(self, owner: str) -> asyncio.Lock:
        """Who compares and writes facts of one owner here waits for who came before; other processes are met at the commit."""
        return self._turns.setdefault(owner, asyncio.Lock())

    async def vectors(self, texts: Sequence[str], run: Run) -> Vectors:
        return await self.embedder.embed(texts, run)

    async def of(self, owner: str, run: Run) -> tuple[ExactVectors | None, int]:
        """The owner's matrix with every fact in it, and the seq up to which it has them; no matrix where there are no facts.

        Facts without a vector get theirs first.
        """
        dim = self.embedder.dim
        while True:
            held = self.kept.of(owner, self.embedder.id, dim) if dim else None
            found = await self.db.aread(self._came(owner, dim, held.high_water if held else 0))
            if found.missing:
                dim = await self._add(found.missing[:AT_ONCE], run)
                continue
            if held is not None and len(found.vectors.keys):
                held.take_in(found.vectors.keys.tolist(), found.vectors.vectors, (), found.last)
            return held, found.seq

    def _came(self, owner: str, dim: int | None, since: int) -> Callable[[Tx], Came]:
        return lambda tx: fact_vectors.came(tx, owner, self.embedder.id, dim, since)

    async def _add(self, facts: Sequence[tuple[int, str]], run: Run) -> int:
        """How long a vector is."""
        vectors = await self.embedder.embed([content for _, content in facts], run)
        numbers = [number for number, _ in facts]
        await self.db.awrite(lambda tx: fact_vectors.put(tx, self.embedder.id, numbers, vectors), operation="vectors of facts")
        return int(vectors.shape[1])
