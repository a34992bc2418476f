"""Vectors for passages that have none yet: asked of the embedder outside any transaction, written in short ones.

Invariant: what was asked is written before more is asked: whatever stops it loses one batch at most, and the next search goes on.
Source: MEMOLLA F-02-02; DESIGN §2.2.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence

from memoir_engine.core.ports import Embedder, Vectors
from memoir_engine.core.run import Run
from memoir_engine.runtime.passages import Collections
from memoir_engine.store.db import ids
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.types import Tx, portions
from memoir_engine.store.search import embeddings

BATCH = 256  # passages asked for between two transactions
LISTED = 200_000  # ids looked up at once: to find what is missing is to look at all there are


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

    async def stands(self, owner: str, run: Run, at: int) -> int:
        """A number of the clock of searching, up to which each passage that came by `at` has its vector. Raises as `catch_up`."""
        if self._done.get(owner) != at:
            await self.catch_up(owner, run)
        return self._done[owner]

    async def _make(self, owner: str, run: Run, told: Callable[[int], None]) -> int:
        asked = 0
        while True:
            now, numbers = await self._db.aread(lambda tx: self._missing(tx, owner))
            before = asked
            for some in portions(numbers, BATCH):
                texts = await self._db.aread(lambda tx, some=some: self._texts(tx, owner, some))  # type: ignore[misc]
                if texts:
                    await self._put(texts, await self._embedder.embed(list(texts.values()), run))
                    asked += len(texts)
                    told(asked)
            if asked == before:  # nothing is missing of which there is a text
                self._done[owner] = now
                return asked

    def forget(self) -> None:
        """Look again at all there are."""
        self._done.clear()

    async def _put(self, texts: dict[int, str], vectors: Vectors) -> None:
        name, keys = self._embedder.id, list(texts)
        await self._db.awrite(lambda tx: embeddings.put(tx, "passage", name, keys, vectors), operation="vectors of passages")

    def _missing(self, tx: Tx, owner: str) -> tuple[int, Sequence[int]]:
        """Read the search clock and the passages without a vector at one moment, so that every other vector is older."""
        now, since = ids.searched(tx), self._done.get(owner, 0)
        if since == now:
            return now, ()
        since = since if since < now else 0  # beyond it: SQL stands as it once did
        name, dim = self._embedder.id, self._embedder.dim
        return now, embeddings.missing_ids(tx, name, owner=owner, dim=dim, since=since, limit=LISTED)

    def _texts(self, tx: Tx, owner: str, numbers: Sequence[int]) -> dict[int, str]:
        """Return the texts for which nobody else has asked meanwhile."""
        name, dim = self._embedder.id, self._embedder.dim
        return self._passages.indexed(tx, embeddings.still_missing(tx, name, numbers, owner=owner, dim=dim))


OFF = "off"  # of the setting vector_store
