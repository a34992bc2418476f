"""Scores by key, as a search gives them: a mapping that stays two arrays.

Invariant: `keys` rise strictly; a mapping of the same numbers answers alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray


class Scored(Mapping[int, float]):
    """keys: (n,) rising; scores: (n,)."""

    def __init__(self, keys: NDArray[np.int64], scores: NDArray[np.floating]) -> None:
        self.keys_held = keys
        self.scores = scores.astype(float)

    @classmethod
    def of(cls, scores: Mapping[int, float]) -> Scored:
        if isinstance(scores, cls):
            return scores
        ordered = sorted(scores.items())
        return cls(np.array([key for key, _ in ordered], np.int64), np.array([score for _, score in ordered], float))

    def highest(self, most: int, *, but: set[int]) -> list[int]:
        """The keys of the highest scores, ties to the lower key, without those of `but`."""
        wanted = ~np.isin(self.keys_held, np.fromiter(but, np.int64, len(but)))
        keys, scores = self.keys_held[wanted], self.scores[wanted]
        if 0 < most < len(keys):
            near = np.flatnonzero(scores >= np.partition(scores, -most)[-most])
            keys, scores = keys[near], scores[near]
        return [int(keys[at]) for at in np.lexsort((keys, -scores))[:most]]

    def among(self, keys: Sequence[int]) -> dict[int, float]:
        """The scores of those of the keys that have one."""
        wanted = np.array(keys, np.int64)
        places = np.minimum(np.searchsorted(self.keys_held, wanted), max(len(self.keys_held) - 1, 0))
        there = self.keys_held[places] == wanted if len(self.keys_held) else np.zeros(len(wanted), bool)
        return dict(zip(wanted[there].tolist(), self.scores[places[there]].tolist(), strict=True))

    def __getitem__(self, key: int) -> float:
        at = int(np.searchsorted(self.keys_held, key))
        if at == len(self.keys_held) or self.keys_held[at] != key:
            raise KeyError(key)
        return float(self.scores[at])

    def __iter__(self) -> Iterator[int]:
        return iter(self.keys_held.tolist())

    def __len__(self) -> int:
        return len(self.keys_held)
