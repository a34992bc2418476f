"""One ranking out of two: what the words say and what the vectors say, weighed against each other.

Invariant: every score is in [0, 1]; each side is stretched over the same members, so that both count as much as `alpha` says;
with alpha 0 the order is BM25's own, with alpha 1 the vectors' own; ties fall to the lower key. Pure.
Source: MEMOLLA F-03-01; spec README 16 (both true scores for every member: filling a missing one with 0 was measured at or
below BM25 alone), and its small print (equal scores normalise to 1 when positive).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoir_engine.errors import InvalidSetting, TopKInvalid

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


def check(top_k: int, alpha: float, fanout: int) -> None:
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
