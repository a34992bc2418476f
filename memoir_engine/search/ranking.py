"""Candidates from words and from vectors, both true scores of each, and one ranking of them.

A vector of words alone knows nothing that BM25 does not; so the question's is moved towards the passages that its words find
best, and meets others that speak of the same. Vectors of meaning are asked as they are, unless their embedder names how far.
A passage's BM25 comes from its index with that of its whole text in it.
Invariant: every candidate has both its true scores, whichever side found it; the same state and question give the same ranking.
Source: MEMOLLA F-03-01, F-03-02; spec README 16; docs/decisions/0016 (what helped and what did not).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memoir_engine.embedding import Vectors
from memoir_engine.index.hits import Hit, best
from memoir_engine.index.lexical import LexicalIndex, together
from memoir_engine.nearest import Near, NearestIndex
from memoir_engine.search.fusion import ALPHA, FANOUT, TOP_K, Floats, Fused, fuse, union

LISTENED = 3  # passages that a question's vector is moved towards
LOOKED_UP = 100  # vectors read from SQL, where they are read at all, of the passages that its words find
_SAME_COSINE_DIGITS = 5

VectorsOf = Callable[[list[int]], tuple[NDArray[np.int64], Vectors]]  # of those ids that have one, ids rising


@dataclass(frozen=True)
class Asked:
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
class Vectored:
    """The side of vectors: the question's own, the indexes, and how far it is moved, in lengths of its own."""

    query: Vectors  # (dim,)
    indexes: Sequence[NearestIndex]
    pull: float
    vectors_of: VectorsOf


def limited(asked: Asked, within: frozenset[int]) -> Asked:
    """The same among these alone."""
    return replace(asked, within=within)


def rank(asked: Asked, words: Sequence[LexicalIndex], vectored: Vectored | None) -> list[Fused]:
    """All candidates, best first, but for those that share no word with the question and are not near it either.

    vectored None: by the words alone. Raises NearestUnavailable.
    """
    return [one for one in _ranked(asked, words, vectored) if one.raw_bm25 > 0 or (one.raw_dense or 0) > 0]


def _ranked(asked: Asked, words: Sequence[LexicalIndex], vectored: Vectored | None) -> list[Fused]:
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


def _moved(vectored: Vectored, hits: Sequence[Hit]) -> tuple[Vectors, dict[int, float]]:
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


def _nearest(indexes: Sequence[NearestIndex], vector: Vectors, k: int, within: Collection[int] | None) -> list[Near]:
    found = [near for index in indexes for near in index.top(vector, k, within=within)]
    return sorted(found, key=lambda near: (-near.cosine, near.key))[:k]


def _cosines(indexes: Sequence[NearestIndex], vector: Vectors, keys: Sequence[int], known: Mapping[int, float]) -> Floats:
    """(len(keys),), NaN where no index holds it. known: those that need not be asked for."""
    found: Floats = np.array([known.get(key, np.nan) for key in keys])
    missing = np.flatnonzero(np.isnan(found))
    for index in indexes if len(missing) else ():
        scores = index.scores(vector, [keys[at] for at in missing.tolist()])
        found[missing] = np.where(np.isnan(found[missing]), scores, found[missing])
    return np.round(found, _SAME_COSINE_DIGITS)  # an index on disk and one in memory differ by rounding
