"""One bm25s matrix over some of the documents, whose scores can be corrected to those of the whole.

bm25s writes the rarity of each term and the length of each document into every score. Lengths are set right when the
segment is built, by the parameters: with r = own mean length / mean length of all, k1' = k1·(1 − b + b·r) and
b' = b·r / (1 − b + b·r) give the same sum. Rarity is set right when it is asked, by the ratio of the two.
Invariant: for equal statistics the scores of all segments together are those of one index over all documents.
Source: verified/store.md §2.3 (exact to 5e-7), §2.2 (an index of nothing raises: there is no matrix then).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memoir_engine.index.documents import Documents, Keys, Mask, Numbers

Scores = NDArray[np.float32]

K1 = 1.5
B = 0.75


@dataclass(frozen=True, eq=False)
class Segment:
    """`alive` masks removed documents; `holding` counts the living documents with each term.

    data, indices, indptr: a column per term, a row per document, as bm25s built it when all of them lived.
    """

    documents: Documents
    mean_length: float  # of all documents, as it was when this was built
    alive: Mask  # (n,)
    holding: Numbers  # (n_terms,)
    data: Scores
    indices: Numbers
    indptr: Keys

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {term: number for number, term in enumerate(self.documents.terms)}

    @cached_property
    def rows(self) -> dict[int, int]:
        return {int(key): row for row, key in enumerate(self.documents.keys)}

    @cached_property
    def living(self) -> int:
        return int(self.alive.sum())

    def held(self, term: str) -> int:
        number = self.numbers.get(term)
        return 0 if number is None else int(self.holding[number])

    def without(self, keys: Iterable[int]) -> Segment:
        """The same with those documents masked; keys it does not hold are passed over."""
        gone = [row for key in set(keys) if (row := self.rows.get(key)) is not None and self.alive[row]]
        if not gone:
            return self
        alive, holding = self.alive.copy(), self.holding.copy()
        alive[gone] = False
        for row in gone:
            holding[np.unique(self._tokens(row))] -= 1
        return replace(self, alive=alive, holding=holding)

    def rest(self) -> Documents:
        return self.documents.only(self.alive)

    def scores(self, weights: Mapping[str, float]) -> tuple[Keys, Scores]:
        """weights: how often each term is asked for times its rarity in the whole. Documents with a score above 0 only."""
        total = np.zeros(len(self.documents), np.float32)
        for term, weight in weights.items():
            number = self.numbers.get(term)
            if number is not None:
                first, last = self.indptr[number], self.indptr[number + 1]
                own = rarity(int(last - first), len(self.documents))
                total[self.indices[first:last]] += self.data[first:last] * np.float32(weight / own)
        found = np.flatnonzero(total * self.alive)
        return self.documents.keys[found], total[found]

    def _tokens(self, row: int) -> Numbers:
        return self.documents.tokens[self.documents.offsets[row] : self.documents.offsets[row + 1]]


def rarity(holding: int, documents: int) -> float:
    """Lucene's idf, as bm25s counts it; above 0 wherever a document holds the term."""
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def build(documents: Documents, mean_length: float) -> Segment:
    """mean_length: of all documents there are, in tokens."""
    if not len(documents.tokens):
        return _empty(documents, mean_length)
    from bm25s import BM25

    ratio = documents.mean_length / mean_length
    spread = 1 - B + B * ratio
    engine = BM25(k1=K1 * spread, b=B * ratio / spread, method="lucene")
    built = engine.build_index_from_ids(range(len(documents.terms)), documents.rows(), show_progress=False)
    indptr = np.asarray(built["indptr"], np.int64)
    return Segment(
        documents,
        mean_length,
        np.ones(len(documents), bool),
        np.diff(indptr).astype(np.int32),
        np.asarray(built["data"], np.float32),
        np.asarray(built["indices"], np.int32),
        indptr,
    )


def _empty(documents: Documents, mean_length: float) -> Segment:
    alive = np.ones(len(documents), bool)
    none = np.zeros(0, np.int32)
    return Segment(documents, mean_length, alive, none, np.zeros(0, np.float32), none, np.zeros(1, np.int64))
