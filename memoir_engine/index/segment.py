"""One bm25s matrix over some of the documents, whose scores are those of one over all of them.

bm25s writes the rarity of each term and the length of each document into every score. Lengths are set right when a segment
is built, by the parameters: with r = own mean length / mean length of all, k1' = k1·(1 − b + b·r) and
b' = b·r / (1 − b + b·r) give the same sum. Rarity is taken out again, and comes in when asked, counted over all segments.
Invariant: segments of one `mean_length` score like one index over all their documents; joined, they score the same.
Source: verified/store.md §2.3 (exact to 5e-7), §2.2 (an index of nothing raises: there is no matrix then).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoir_engine.index.documents import Documents, Keys, Mask, Numbers, join

COMMON = 512  # documents that hold a term: below, to count is faster than to remember
MOST_KNOWN = 1_000_000  # numbers of wholes remembered, each with its count
FEW = 16  # documents counted here: what comes one by one is searched right away

Scores = NDArray[np.float32]
Floats = NDArray[np.float64]
Count = TypeVar("Count", np.float32, np.float64)


class Weighing(NamedTuple):
    """How much a repeated word (k1) and a text's length (b, 0 to 1) count; whole_b: the length of what passages were cut from."""

    k1: float = 0.9
    b: float = 0.4
    whole_b: float = 0.75  # whole texts differ in length as passages of one cut do not


@dataclass(frozen=True, eq=False)
class Segment:
    """`alive` masks removed documents; `holding` counts the living documents with each term.

    shares, rows, starts: a column per term with its documents in rising order, and each one's score but for rarity.
    """

    documents: Documents
    mean_length: float  # of all documents there were when the matrix was built
    alive: Mask  # (n,)
    holding: Numbers  # (n_terms,)
    shares: Scores  # (n_entries,)
    rows: Numbers  # (n_entries,)
    starts: Keys  # (n_terms + 1,)

    @cached_property
    def living(self) -> int:
        return int(self.alive.sum())

    @cached_property
    def living_tokens(self) -> int:
        return int(self.documents.lengths[self.alive].sum())

    def only(self, keys: Keys) -> Segment:
        """The same with all others masked."""
        return self.without(np.setdiff1d(self.documents.keys, keys))

    def held(self, term: str) -> int:
        number = self.documents.numbers.get(term)
        return 0 if number is None else int(self.holding[number])

    def without(self, keys: Iterable[int]) -> Segment:
        """The same with those documents masked; keys it does not hold are passed over."""
        gone = self.documents.rows_of(keys)
        gone = gone[self.alive[gone]]
        if not len(gone):
            return self
        alive, holding = self.alive.copy(), self.holding.copy()
        alive[gone] = False
        if len(gone) > 64:  # one by one they would cost more than going through all
            wanted = np.zeros(len(alive), bool)
            wanted[gone] = True
            np.subtract.at(holding, self._columns[wanted[self.rows]], 1)
        else:
            for row in gone.tolist():
                holding[np.unique(self._tokens(row))] -= 1
        return replace(self, alive=alive, holding=holding)

    def repinned(self, mean_length: float, weighing: Weighing) -> Segment:
        """The same scores as if it had been built for another mean length of all.

        A share is tf / (tf + K) with K = k1·(1 − b + b·length / mean length), so the count of a word comes back out of it.
        """
        if mean_length == self.mean_length or not len(self.shares):
            return replace(self, mean_length=mean_length)
        lengths = self.documents.lengths
        before, after = (
            (weighing.k1 * (1 - weighing.b + weighing.b * lengths / mean)).astype(np.float32)[self.rows]
            for mean in (self.mean_length, mean_length)
        )
        times = np.rint(self.shares * before / (1 - self.shares))
        return replace(self, mean_length=mean_length, shares=(times / (times + after)).astype(np.float32))

    def rest(self) -> Segment:
        """The living documents alone; what only removed ones held is gone, words included."""
        if self.living == len(self.documents):
            return self
        kept = self.alive[self.rows]
        into = (np.cumsum(self.alive) - 1).astype(np.int32)
        holding = self.holding[self.holding > 0]  # the terms that `documents.only` keeps, in its order
        documents = self.documents.only(self.alive)
        return _segment(documents, self.mean_length, self.shares[kept], into[self.rows[kept]], holding)

    def scores(self, weights: Mapping[str, float]) -> tuple[Keys, Scores]:
        """weights: how often each term is asked for times its rarity among all. Documents with a score above 0 only."""
        rows, scores = self.found(weights)
        return self.documents.keys[rows], scores

    def found(self, weights: Mapping[str, float]) -> tuple[Keys, Scores]:
        """The same by row."""
        total = np.zeros(len(self.documents), np.float32)
        for term, weight in weights.items():
            number = self.documents.numbers.get(term)
            if number is not None:
                column = slice(self.starts[number], self.starts[number + 1])
                total[self.rows[column]] += self.shares[column] * np.float32(weight)
        if self.living < len(self.documents):
            total[~self.alive] = 0
        found = np.flatnonzero(total != 0)  # of truth values: many times faster than of floats
        return found, total[found]

    def counted(self, term: str, weighing: Weighing) -> tuple[Keys, Scores]:
        """(m,) the wholes of the living documents with the term, neighbours as one, and (m,) how often they have it.

        Of a term that many hold it is remembered: words that are asked for again are mostly these.
        """
        number = self.documents.numbers.get(term)
        column = slice(0, 0) if number is None else slice(self.starts[number], self.starts[number + 1])
        if column.stop - column.start < COMMON:
            return self._counted(column, weighing)
        found = self._known.get((term, weighing))
        if found is None:
            found = self._counted(column, weighing)
            if sum(len(wholes) for wholes, _ in list(self._known.values())) > MOST_KNOWN:
                self._known.clear()
            self._known[term, weighing] = found
        return found

    def _counted(self, column: slice, weighing: Weighing) -> tuple[Keys, Scores]:
        rows, shares = self.rows[column], self.shares[column]
        if self.living < len(self.documents):
            there = self.alive[rows]
            rows, shares = rows[there], shares[there]
        each = np.float32(weighing.k1 * weighing.b / self.mean_length)
        spread = np.float32(weighing.k1 * (1 - weighing.b)) + each * self._lengths[rows]
        return summed(self.documents.wholes[rows], np.rint(shares * spread / (1 - shares)))

    @cached_property
    def _known(self) -> dict[tuple[str, Weighing], tuple[Keys, Scores]]:
        """What `counted` remembers; several threads may."""
        return {}

    @cached_property
    def has_loose(self) -> bool:
        """Whether some document is part of nothing."""
        return not self.documents.wholes.all()

    @cached_property
    def whole_tokens(self) -> tuple[Keys, Keys]:
        """The wholes of which a document lives here, rising, and how many tokens of each do."""
        wholes, at = np.unique(self.documents.wholes[self.alive], return_inverse=True)
        return wholes, np.bincount(at, self.documents.lengths[self.alive], len(wholes)).astype(np.int64)

    @cached_property
    def _lengths(self) -> Scores:
        return self.documents.lengths.astype(np.float32)

    @property
    def _columns(self) -> Numbers:
        """(n_entries,) the term of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    def _tokens(self, row: int) -> Numbers:
        return self.documents.tokens[self.documents.offsets[row] : self.documents.offsets[row + 1]]


def summed(numbers: Keys, counts: NDArray[Count]) -> tuple[Keys, NDArray[Count]]:
    """Neighbours of one number as one, with the sum of their counts."""
    if not len(numbers):
        return numbers, counts
    first = np.concatenate(([0], np.flatnonzero(numbers[1:] != numbers[:-1]) + 1))
    return numbers[first], np.add.reduceat(counts, first)


def rarity(holding: int, documents: int) -> float:
    """Lucene's idf, as bm25s counts it; above 0 wherever a document holds the term."""
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def build(documents: Documents, mean_length: float, weighing: Weighing) -> Segment:
    """mean_length: of all documents there are, in tokens."""
    if not len(documents.tokens):
        none = np.zeros(0, np.int32)
        return _segment(documents, mean_length, np.zeros(0, np.float32), none, none)
    if len(documents) <= FEW:
        return _counted(documents, mean_length, weighing)
    from bm25s import BM25

    ratio = documents.mean_length / mean_length
    spread = 1 - weighing.b + weighing.b * ratio
    engine = BM25(k1=weighing.k1 * spread, b=weighing.b * ratio / spread, method="lucene")
    built = engine.build_index_from_ids(range(len(documents.numbers)), documents.rows(), show_progress=False)
    holding = np.diff(built["indptr"]).astype(np.int32)
    own = np.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))  # `rarity`, of all terms at once
    shares = (built["data"] / np.repeat(own, holding)).astype(np.float32)
    return _segment(documents, mean_length, shares, built["indices"].astype(np.int32), holding)


def _counted(documents: Documents, mean_length: float, weighing: Weighing) -> Segment:
    """The same for a few, without the time that bm25s takes however few there are."""
    of = np.repeat(np.arange(len(documents)), documents.lengths)
    places, times = np.unique(documents.tokens.astype(np.int64) * len(documents) + of, return_counts=True)
    columns, rows = np.divmod(places, len(documents))
    spread = (weighing.k1 * (1 - weighing.b + weighing.b * documents.lengths / mean_length))[rows]
    holding = np.bincount(columns, minlength=len(documents.numbers)).astype(np.int32)
    return _segment(documents, mean_length, (times / (times + spread)).astype(np.float32), rows.astype(np.int32), holding)


def merge(first: Segment, second: Segment) -> Segment:
    """Both as one, without their removed documents; they must have one mean length, and no key in common."""
    parts = [segment for segment in (first.rest(), second.rest()) if len(segment.documents)]
    if len(parts) < 2:
        return parts[0] if parts else first.rest()
    documents = join([part.documents for part in parts])
    second_terms = np.array([documents.numbers[term] for term in parts[1].documents.numbers], np.int32)
    into = (np.arange(len(parts[0].documents.numbers), dtype=np.int32), second_terms)  # `join` keeps the numbers of the first
    columns = np.concatenate([np.repeat(own, part.holding) for own, part in zip(into, parts, strict=True)])
    rows = np.concatenate([parts[0].rows, parts[1].rows + np.int32(len(parts[0].documents))])
    order = np.argsort(columns, kind="stable")  # stable: rows stay in rising order inside a column
    holding = np.bincount(columns, minlength=len(documents.numbers)).astype(np.int32)
    shares = np.concatenate([part.shares for part in parts])
    return _segment(documents, first.mean_length, shares[order], rows[order], holding)


def _segment(documents: Documents, mean_length: float, shares: Scores, rows: Numbers, holding: Numbers) -> Segment:
    starts = np.concatenate(([0], np.cumsum(holding, dtype=np.int64)))
    return Segment(documents, mean_length, np.ones(len(documents), bool), holding, shares, rows, starts)
