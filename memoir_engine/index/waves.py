"""What came after something slower was filled: searched beside it, exactly, until it has taken that in.

Invariant: a key counts as the newest wave has it that came with it or took it away; what lies below counts where no wave does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memoir_engine.embedding import Vectors
from memoir_engine.index.vectors import ExactVectors, nearest
from memoir_engine.nearest import Cosines, Near


@dataclass(eq=False)
class Wave:
    """gone: keys of which nothing below is true any more, those in `rows` included. high_water: of all up to here."""

    rows: ExactVectors
    gone: set[int] = field(default_factory=set)
    high_water: int = 0

    def take_in(self, keys: Sequence[int], rows: Vectors, removed: Collection[int], seq: int) -> None:
        self.gone.update(removed, keys)
        self.rows.take_in(keys, rows, removed, 0)  # the seq that counts is the wave's
        self.high_water = seq


class Waves:
    """The newest last; never none. Its owner holds a lock, but for `hides`."""

    def __init__(self, dim: int, high_water: int) -> None:
        self._dim = dim
        self._waves = [Wave(ExactVectors(dim), high_water=high_water)]

    @property
    def oldest(self) -> Wave:
        return self._waves[0]

    @property
    def newest(self) -> Wave:
        return self._waves[-1]

    def begin(self) -> Wave:
        """The oldest, which from here on stays as it is."""
        if len(self._waves) == 1:
            self._waves.append(Wave(ExactVectors(self._dim), high_water=self.newest.high_water))
        return self.oldest

    def drop(self, wave: Wave) -> None:
        self._waves.remove(wave)

    def hides(self, key: int) -> bool:
        return any(key in wave.gone for wave in self._waves)

    def hidden(self) -> list[int]:
        return sorted({key for wave in self._waves for key in wave.gone})

    def standing(self) -> set[int]:
        """The keys they hold."""
        found: set[int] = set()
        for wave in self._waves:
            found = (found - wave.gone) | set(wave.rows.keys())
        return found

    def merged(self, below: Sequence[tuple[int, float]], asked: Vectors, k: int, within: Collection[int] | None) -> list[Near]:
        """The k nearest of what lies below, (key, cosine), and of the waves."""
        near = [pair for pair in below if not self.hides(pair[0])]
        for at, wave in enumerate(self._waves):
            newer = self._waves[at + 1 :]
            hits = wave.rows.top(asked, k + sum(len(one.gone) for one in newer), within=within)
            near += [hit for hit in hits if not any(hit.key in one.gone for one in newer)]
        keys, cosines = np.array([key for key, _ in near], np.int64), np.array([cosine for _, cosine in near], np.float32)
        return nearest(keys, cosines, k)

    def scored(self, below: Mapping[int, Vectors], asked: Vectors, wanted: NDArray[np.int64]) -> Cosines:
        """(len(wanted),) cosines, NaN where neither the waves nor what lies below holds the key."""
        scores: Cosines = np.full(len(wanted), np.nan, np.float32)
        keys = wanted.tolist()
        for at, key in enumerate(keys):
            if key in below and not self.hides(key):
                scores[at] = below[key] @ asked
        for wave in self._waves:
            gone = np.array([key in wave.gone for key in keys], bool)
            if gone.any():
                scores[gone] = wave.rows.scores(asked, wanted[gone].tolist())
        return scores
