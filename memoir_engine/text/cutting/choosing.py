"""Where to cut, once it is known how good each place is: the best whole division, not the best next place.

A cut costs a fixed price less the worth of its place; a place of no worth and a cut below the minimum cost so much that they
are taken only where nothing else keeps to the maximum.
Invariant: ranges are contiguous and hold every message; none is above the maximum. Linear: the best start of a cut within
reach is the head of a queue from which everything beaten has gone.
Source: CHUNK 4.3, 4.4, 5.5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoir_engine.text.counting import Ints

PRICE = 1.0  # of a cut: places worth more are always cut where the minimum allows
UNFIT = 50.0  # of a cut at a place of no worth
SHORT = 2_000.0  # of a cut below the minimum


def best_cuts(tokens: Ints, worth: NDArray[np.float64], *, minimum: int, maximum: int) -> list[int]:
    """The messages, ascending, that begin a cut, the first one among them.

    tokens: (n,) each ≤ maximum. worth: (n,) of cutting before each message; 0 or less is no place to cut.
    """
    sums = np.concatenate(([0], np.cumsum(tokens))).tolist()
    price = np.where(worth > 0, PRICE - worth, PRICE + UNFIT).tolist()
    count = len(tokens)
    cost = [0.0] * (count + 1)
    came = [0] * (count + 1)
    near: deque[int] = deque()  # starts within the maximum, best first
    far: deque[int] = deque()  # those of them that also make the minimum
    ripe = 0  # the next start that may come to make the minimum
    for stop in range(1, count + 1):
        start = stop - 1
        _push(near, start, cost)
        while ripe < stop and sums[stop] - sums[ripe] >= minimum:
            _push(far, ripe, cost)
            ripe += 1
        for queue in (near, far):
            while queue and sums[stop] - sums[queue[0]] > maximum:
                queue.popleft()
        came[stop] = near[0]
        cost[stop] = cost[near[0]] + SHORT
        if far and cost[far[0]] <= cost[stop]:
            came[stop], cost[stop] = far[0], cost[far[0]]
        if stop < count:
            cost[stop] += price[stop]
    return _walked(came, count)


def _push(queue: deque[int], start: int, cost: Sequence[float]) -> None:
    while queue and cost[queue[-1]] >= cost[start]:
        queue.pop()
    queue.append(start)


def _walked(came: Sequence[int], count: int) -> list[int]:
    starts = []
    while count > 0:
        count = came[count]
        starts.append(count)
    return starts[::-1]
