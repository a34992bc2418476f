"""Candidates from words and from vectors, both true scores of each, and one ranking of them.

A vector of words alone knows nothing that BM25 does not; so the question's is moved towards the passages that its words find
best, and meets others that speak of the same. Vectors of meaning are asked as they are, unless their embedder names how far.
A passage's BM25 comes from its index with that of its whole text in it.
Invariant: every candidate has both its true scores, whichever side found it; the same state and question give the same ranking.
Source: MEMOLLA F-03-01, F-03-02; spec README 16; docs/decisions/0016 (what helped and what did not).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memoir_engine.core.errors import InvalidSetting, TopKInvalid
from memoir_engine.core.ports import Near, VectorIndex, Vectors
from memoir_engine.index.bm25 import LexicalIndex, together
from memoir_engine.index.segments import Hit, best

# === fusion: One ranking out of two: what the words say and what the vectors say, weighed against each other.
#
# Invariant: every score is in [0, 1]; each side is stretched over the same members, so that both count as much as `alpha`
# says;
# with alpha 0 the order is BM25's own, with alpha 1 the vectors' own; ties fall to the lower key. Pure.
# Source: MEMOLLA F-03-01; spec README 16 (both true scores for every member: filling a missing one with 0 was measured at
# or
# below BM25 alone), and its small print (equal scores normalise to 1 when positive).


Floats = NDArray[np.float64]

ALPHA, TOP_K, FANOUT = 0.5, 5, 2  # MEMOLLA §1


@dataclass(frozen=True, slots=True)
class Fused:
    """score_bm25, score_dense: normalised; raw_*: as the indexes gave them, raw_dense None where no vectors were asked."""

    key: int
    score: float
    score_bm25: float
    score_dense: float
    raw_bm25: float
    raw_dense: float | None


def check_ranking(top_k: int, alpha: float, fanout: int) -> None:
    """Raises TopKInvalid; InvalidSetting naming `alpha` or `fanout`."""
    if top_k <= 0:
        raise TopKInvalid()
    if not 0 <= alpha <= 1:
        advice = "Give a share of the vectors from 0 (words only) to 1 (vectors only); the default is 0.5."
        raise InvalidSetting(name="alpha", value=alpha, problem="it must be in [0, 1]", advice=advice)
    if fanout < 1:
        advice = "Each side gives top_k * fanout candidates; the default is 2."
        raise InvalidSetting(name="fanout", value=fanout, problem="it must be 1 or more", advice=advice)


def union(*sides: Iterable[int]) -> list[int]:
    """The candidates of all sides, each once, ascending: whose true scores are to be asked of every side."""
    return sorted(set().union(*sides))


def fuse(keys: Sequence[int], bm25: Floats, dense: Floats | None, *, top_k: int, alpha: float = ALPHA) -> list[Fused]:
    """The best `top_k` of the members, best first.

    keys: each once. bm25, dense: (n,), finite, the true score of each member. dense None: by the words alone, whatever alpha.
    """
    words = normalised(bm25)
    vectors = normalised(dense) if dense is not None else np.zeros(len(keys))
    scores = words if dense is None else alpha * vectors + (1 - alpha) * words
    best = np.lexsort((np.asarray(keys, dtype=np.int64), -scores))[:top_k]
    return [
        Fused(
            keys[at],
            float(scores[at]),
            float(words[at]),
            float(vectors[at]),
            float(bm25[at]),
            None if dense is None else float(dense[at]),
        )
        for at in best.tolist()
    ]


def normalised(scores: Floats) -> Floats:
    """(n,) stretched to [0, 1] by its least and its greatest; all alike are 1 when positive, else 0."""
    if not len(scores):
        return np.zeros(0)
    exact = np.asarray(scores, dtype=np.float64)
    low, high = exact.min(), exact.max()
    if low == high:
        return np.full(len(exact), 1.0 if low > 0 else 0.0)
    stretched: Floats = np.clip((exact - low) / (high - low), 0.0, 1.0)
    return stretched


# === ranking


LISTENED = 3  # passages that a question's vector is moved towards
LOOKED_UP = 100  # vectors read from SQL, where they are read at all, of the passages that its words find
_SAME_COSINE_DIGITS = 5

VectorsOf = Callable[[list[int]], tuple[NDArray[np.int64], Vectors]]  # of those ids that have one, ids rising


@dataclass(frozen=True)
class SearchQuery:
    """within: ids that may be found; None is all. everything: all candidates are wanted, not `top_k` of them."""

    query: str
    top_k: int = TOP_K
    alpha: float = ALPHA
    fanout: int = FANOUT
    within: frozenset[int] | None = None
    everything: bool = False

    @property
    def candidates(self) -> int:
        """From each side."""
        return self.top_k * self.fanout


@dataclass(frozen=True)
class VectorSide:
    """The side of vectors: the question's own, the indexes, and how far it is moved, in lengths of its own."""

    query: Vectors  # (dim,)
    indexes: Sequence[VectorIndex]
    pull: float
    vectors_of: VectorsOf


def limited(asked: SearchQuery, within: frozenset[int]) -> SearchQuery:
    """The same among these alone."""
    return replace(asked, within=within)


def rank(asked: SearchQuery, words: Sequence[LexicalIndex], vectored: VectorSide | None) -> list[Fused]:
    """All candidates, best first, but for those that share no word with the question and are not near it either.

    vectored None: by the words alone. Raises NearestUnavailable.
    """
    return [one for one in _ranked(asked, words, vectored) if one.raw_bm25 > 0 or (one.raw_dense or 0) > 0]


def _ranked(asked: SearchQuery, words: Sequence[LexicalIndex], vectored: VectorSide | None) -> list[Fused]:
    keys, scores = together(words, asked.query)
    if asked.within is not None:
        wanted = np.isin(keys, np.fromiter(asked.within, np.int64, len(asked.within)))
        keys, scores = keys[wanted], scores[wanted]
    listened = best(keys, scores, max(asked.candidates, LISTENED))
    hits = listened[: asked.candidates]
    if vectored is None:
        found = [hit.key for hit in hits]
        return fuse(found, _looked_up(keys, scores, found), None, top_k=len(found))
    vector, known = _moved(vectored, listened) if vectored.pull else (vectored.query, {})
    near = _nearest(vectored.indexes, vector, asked.candidates, asked.within)
    members = union((hit.key for hit in hits), (one.key for one in near))
    cosines = _cosines(vectored.indexes, vector, members, known | {one.key: one.cosine for one in near})
    unknown = np.isnan(cosines)
    if unknown.all():
        return fuse(members, _looked_up(keys, scores, members), np.zeros(len(members)), top_k=len(members), alpha=asked.alpha)
    dense = np.where(unknown, np.nanmin(cosines), cosines)  # without a vector yet: as if it were the farthest
    fused = fuse(members, _looked_up(keys, scores, members), dense, top_k=len(members), alpha=asked.alpha)
    without = {key for key, missing in zip(members, unknown, strict=True) if missing}
    return [replace(one, raw_dense=None) if one.key in without else one for one in fused]


def _looked_up(keys: NDArray[np.int64], scores: NDArray[np.float32], wanted: Sequence[int]) -> Floats:
    """(len(wanted),) BM25 of each, 0 where no word is shared. keys: rising."""
    asked = np.asarray(wanted, np.int64)
    if not len(keys) or not len(asked):
        return np.zeros(len(asked))
    at = np.searchsorted(keys, asked).clip(max=len(keys) - 1)
    return np.where(keys[at] == asked, scores[at], 0).astype(np.float64)


def _moved(vectored: VectorSide, hits: Sequence[Hit]) -> tuple[Vectors, dict[int, float]]:
    """(dim,) of unit length, towards the best hits, the question's own where none of them has a vector; and what cosines with
    it are known by now."""
    weights = {hit.key: hit.score for hit in hits[:LISTENED]}
    held, vectors = vectored.vectors_of(sorted(hit.key for hit in hits[:LOOKED_UP]))
    pull = np.array([weights.get(key, 0.0) for key in held.tolist()]) @ vectors
    if not pull.any():
        return vectored.query, {}
    moved = vectored.query / _length(vectored.query) + vectored.pull * pull / _length(pull)
    towards: Vectors = (moved / _length(moved)).astype(np.float32)
    return towards, dict(zip(held.tolist(), (vectors @ towards).tolist(), strict=True))


def _length(vector: NDArray[np.floating]) -> float:
    return float(np.linalg.norm(vector)) or 1.0


def _nearest(indexes: Sequence[VectorIndex], vector: Vectors, k: int, within: Collection[int] | None) -> list[Near]:
    found = [near for index in indexes for near in index.top(vector, k, within=within)]
    return sorted(found, key=lambda near: (-near.cosine, near.key))[:k]


def _cosines(indexes: Sequence[VectorIndex], vector: Vectors, keys: Sequence[int], known: Mapping[int, float]) -> Floats:
    """(len(keys),), NaN where no index holds it. known: those that need not be asked for."""
    found: Floats = np.array([known.get(key, np.nan) for key in keys])
    missing = np.flatnonzero(np.isnan(found))
    for index in indexes if len(missing) else ():
        scores = index.scores(vector, [keys[at] for at in missing.tolist()])
        found[missing] = np.where(np.isnan(found[missing]), scores, found[missing])
    return np.round(found, _SAME_COSINE_DIGITS)  # an index on disk and one in memory differ by rounding
