"""The embedder that needs no key, no model and no network. It is lexical: it knows words, not what they mean.

Invariant: nothing is asked of anybody, so nothing is written to the ledger.
Source: spec README 14; text/similarity.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from memoir_engine.core.ports import Vectors
from memoir_engine.core.run import Run
from memoir_engine.text.similarity import DIM, HASHED_ID, hash_vectors

AT_ONCE = 16  # texts hashed on the loop itself: a question waits for no thread


class OfflineEmbedder:
    @property
    def id(self) -> str:
        return HASHED_ID

    @property
    def dim(self) -> int:
        return DIM

    @property
    def lexical(self) -> bool:
        return True

    async def embed(self, texts: Sequence[str], run: Run) -> Vectors:
        return hash_vectors(texts) if len(texts) <= AT_ONCE else await asyncio.to_thread(hash_vectors, texts)

    async def close(self) -> None:
        """There is nothing to end."""
