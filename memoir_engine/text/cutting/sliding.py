"""The sliding window: as many messages as fit, then on, with the end of one cut again at the start of the next.

Invariant: neighbours share at most the overlap that was asked for, in whole messages; every cut holds a message that no cut
before it holds. Linear in the messages.
Source: CHUNK 3.
"""

from __future__ import annotations

import numpy as np

from memoir_engine.results.cuts import CutLimits
from memoir_engine.text.cutting.strategies import CHUNKERS, SLIDING_WINDOW, Range, Talk

LIMIT_REACHED = "the cut before was full"


@CHUNKERS.register(SLIDING_WINDOW)
def sliding_window(talk: Talk, limits: CutLimits) -> list[Range]:
    sums = np.concatenate(([0], np.cumsum(talk.tokens)))  # (n + 1,) tokens before each message
    ranges: list[Range] = []
    first = stop = 0
    while stop < len(talk):
        first = _next_first(sums, first, stop, limits) if ranges else 0
        stop = int(np.searchsorted(sums, sums[first] + limits.max_tokens, side="right")) - 1
        ranges.append(Range(first, stop, LIMIT_REACHED if ranges else ""))
    return ranges


def _next_first(sums: np.ndarray, first: int, stop: int, limits: CutLimits) -> int:
    """The earliest start whose messages before `stop` fit into the overlap, and with which the next one still fits."""
    shared = sums[stop] - limits.overlap_tokens
    room = sums[stop + 1] - limits.max_tokens
    return min(max(int(np.searchsorted(sums, max(shared, room), side="left")), first + 1), stop)
