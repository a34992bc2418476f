"""Cache of the review queue, kept in memory between two requests.

Invariant: a cache. Decisions never change and are read once; of the filings those that were touched are read again when the
chain has moved. What it hands out never changes.
Source: DESIGN §2.3, §9.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from memoir_engine.review.order import QueuedFiling, QueueItem, SampleRule, ranked_items
from memoir_engine.review.risk import RiskChoice, RiskSignal, risk_signals
from memoir_engine.store.chain import actions
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.types import Tx
from memoir_engine.store.review import reviews
from memoir_engine.store.review.reviews import ChunkDecision, ReviewedFiling

MOST_LOTS = 4  # samples that are kept in order at a time


@dataclass(frozen=True)
class WaitingNow:
    """One moment. `signs`: of the decisions about a chunk, by chunk; `unhelped`: sources without a contextual helper."""

    seq: int
    filed: tuple[QueuedFiling, ...]
    signs: Mapping[int, tuple[RiskSignal, ...]]
    unhelped: frozenset[int]


class WaitingList:
    """One per memory; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._signs: dict[int, tuple[RiskSignal, ...]] = {}
        self._last_decision = 0
        self._filed: dict[int, QueuedFiling] = {}  # open filings, by chunk
        self._now: WaitingNow | None = None
        self._weighed: dict[SampleRule, tuple[int, tuple[QueueItem, ...]]] = {}  # with the seq they are of

    def now(self, db: Database) -> WaitingNow:
        with self._lock:
            return self._current(db)

    def weighed(self, db: Database, lot: SampleRule) -> tuple[QueueItem, ...]:
        """All there is, in its order."""
        with self._lock:
            now = self._current(db)
            seq, waiting = self._weighed.pop(lot, (-1, ()))
            if seq != now.seq:
                waiting = ranked_items(now.filed, now.signs, now.unhelped, lot, waiting)
            latest = list(self._weighed.items())[-MOST_LOTS + 1 :]
            self._weighed = {**dict(latest), lot: (now.seq, waiting)}
            return waiting

    def _current(self, db: Database) -> WaitingNow:
        if self._now is None or db.read(actions.seq) != self._now.seq:
            self._now = self._read(db)
        return self._now

    def _read(self, db: Database) -> WaitingNow:
        seen = None if self._now is None else self._now.seq

        def work(tx: Tx) -> _Read:
            touched = None if seen is None else reviews.touched_since(tx, seen)
            filed = reviews.open_items(tx, touched)
            new = reviews.decisions_since(tx, self._last_decision)
            return _Read(actions.seq(tx), touched, filed, reviews.rejected_items(tx), new, reviews.sources_without_helper(tx))

        read = db.read(work)
        self._signs = {**self._signs, **_signs(read.chosen)} if read.chosen else self._signs
        self._last_decision = max((one.id for one in read.chosen), default=self._last_decision)
        kept = {} if read.touched is None else {n: one for n, one in self._filed.items() if n not in read.touched}
        self._filed = {**kept, **{one.chunk_id: QueuedFiling(*one) for one in read.filed}}
        rejected = (QueuedFiling(*one) for one in read.rejected)
        return WaitingNow(read.seq, (*self._filed.values(), *rejected), self._signs, read.unhelped)


@dataclass(frozen=True)
class _Read:
    """`touched`: the chunks that `filed` is limited to; None: all there are."""

    seq: int
    touched: set[int] | None
    filed: list[ReviewedFiling]
    rejected: list[ReviewedFiling]
    chosen: list[ChunkDecision]
    unhelped: frozenset[int]


def _signs(chosen: Iterable[ChunkDecision]) -> dict[int, tuple[RiskSignal, ...]]:
    """By chunk; all decisions of a chunk are made in one commit."""
    by_chunk = groupby(sorted(chosen, key=attrgetter("chunk_id", "id")), key=attrgetter("chunk_id"))
    return {chunk: risk_signals([RiskChoice(*one[2:]) for one in found]) for chunk, found in by_chunk}
