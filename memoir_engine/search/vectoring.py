"""Vectors for passages that have none yet: asked of the embedder outside any transaction, written in short ones.

Invariant: what was asked is written before more is asked: whatever stops it loses one batch at most, and the next search goes on.
Source: MEMOLLA F-02-02; DESIGN §2.2.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable

from memoir_engine.embedding import Embedder, Vectors
from memoir_engine.run import Run
from memoir_engine.search.collections import Collections
from memoir_engine.store import embeddings, ids
from memoir_engine.store.database import Database
from memoir_engine.store.types import Tx

BATCH = 256  # passages asked for between two transactions


class Vectoring:
    """Remembers up to where an owner's passages have their vectors, so that a search in between looks nothing up."""

    def __init__(self, db: Database, embedder: Embedder, passages: Collections) -> None:
        self._db = db
        self._embedder = embedder
        self._passages = passages
        self._done: dict[str, int] = {}  # owner → number of the clock of searching
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def catch_up(self, owner: str, run: Run, *, told: Callable[[int], None] = lambda _asked: None) -> int:
        """How many of that owner's own were asked for; `told` so after each portion.

        Raises ModelError subclasses, and whatever the ledger raises.
        """
        async with self._turns[owner]:  # who comes second finds them made, and paid for once
            return await self._make(owner, run, told)

    async def _make(self, owner: str, run: Run, told: Callable[[int], None]) -> int:
        now = await self._db.aread(ids.searched)
        asked, since = 0, self._done.get(owner, 0)
        while now > since:
            texts = await self._db.aread(lambda tx: self._missing(tx, owner, since))
            if not texts:
                self._done[owner] = now
                break
            await self._put(texts, await self._embedder.embed(list(texts.values()), run))
            asked += len(texts)
            told(asked)
        return asked

    def forget(self) -> None:
        """Look again at all there are."""
        self._done.clear()

    async def _put(self, texts: dict[int, str], vectors: Vectors) -> None:
        name, keys = self._embedder.id, list(texts)
        await self._db.awrite(lambda tx: embeddings.put(tx, "passage", name, keys, vectors), operation="vectors of passages")

    def _missing(self, tx: Tx, owner: str, since: int) -> dict[int, str]:
        found = embeddings.missing(tx, self._embedder.id, owner=owner, dim=self._embedder.dim, since=since, limit=BATCH)
        return self._passages.indexed(tx, found)
