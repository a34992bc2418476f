"""Caches kept up with the store, on a thread of their own, behind what changed it.

Invariant: a cache that lags or fails delays search, never an ingestion, and never makes it wrong: whoever reads one lets it
take in what is missing first.
Source: DESIGN §2.3, §8 ("index").
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memoir_engine.index.lexical import LexicalIndex
    from memoir_engine.store.database import Database
    from memoir_engine.store.evidence import TreeCache


class Keeper:
    """`problem` says why a cache lags behind, None when none does."""

    def __init__(self, db: Database, cache: TreeCache, lexical: LexicalIndex) -> None:
        self._db = db
        self._cache = cache
        self._lexical = lexical
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="memoir-caches")
        self._next: Future[None] | None = None
        self.problem: str | None = None

    def later(self) -> None:
        """Catch up soon; several changes in a row are one round."""
        with self._lock:
            if self._next is None or self._next.running() or self._next.done():
                self._next = self._pool.submit(self._round)

    def catch_up(self) -> None:
        """The lexical index takes in what it misses, now."""
        from memoir_engine.store import chunks

        changed = self._db.read(lambda tx: chunks.changes_since(tx, self._lexical.high_water))
        if changed.seq > self._lexical.high_water:
            self._lexical.take_in([(filed.chunk_id, filed.text) for filed in changed.filed], changed.closed, changed.seq)

    def close(self) -> None:
        self._pool.shutdown(wait=True)

    def _round(self) -> None:
        try:
            self._cache.current()
            self.catch_up()
            self._cache.persist()
            self.problem = None
        except Exception as delayed:  # whatever it is, the next reader tries again and is told
            self.problem = f"{type(delayed).__name__}: {delayed}"
