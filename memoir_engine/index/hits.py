"""The best of many scores.

Invariant: scores that differ by rounding alone are one score, and ties fall to the lower key. Pure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memoir_engine.index.documents import Keys
from memoir_engine.index.segment import Scores

_SAME_SCORE_DIGITS = 4  # what differs less differs by rounding


class Hit(NamedTuple):
    key: int
    score: float


def best(keys: Keys, scores: Scores, k: int) -> list[Hit]:
    """At most k hits, best first, ties by key."""
    if k <= 0 or not len(keys):
        return []
    rounded = np.round(scores, _SAME_SCORE_DIGITS)
    if len(keys) > k:
        near = np.flatnonzero(rounded >= np.partition(rounded, -k)[-k])
        keys, scores, rounded = keys[near], scores[near], rounded[near]
    first = np.lexsort((keys, -rounded))[:k]
    return [Hit(int(keys[at]), float(scores[at])) for at in first]
