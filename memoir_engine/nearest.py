"""What finds the nearest of many vectors, whoever does it.

Invariant: an index is a cache over the vectors that SQL holds, of one embedder and one length (`memoir_engine.embedding`:
two are never compared). It holds exactly what it was given up to `high_water`, or is not healthy and says why. Losing it
costs time, never a vector.
Source: DESIGN §2.3, §8 ("index"); MEMOLLA F-03-01, F-03-02.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memoir_engine.embedding import Vectors

Cosines = NDArray[np.float32]


class Near(NamedTuple):
    key: int
    cosine: float  # in [-1, 1], greater is nearer


class Health(NamedTuple):
    """`reason` and `remedy` are for a person, empty where `ok`."""

    ok: bool
    reason: str = ""
    remedy: str = ""


WELL = Health(True)


class NearestUnavailable(Exception):
    """The index cannot answer now; `health` says why. Whoever searches goes on by words alone and tells it."""

    def __init__(self, health: Health) -> None:
        super().__init__(health.reason)
        self.health = health


class NearestIndex(Protocol):
    """Keys are ids of passages or of facts. Vectors are float32 rows of unit length. Safe for any number of threads.

    Who asks feeds first, from `high_water` on. Where an answer is refused although `health` is good afterwards, what it held
    was damaged and given up: feed from `high_water`, now 0, and ask again.
    """

    @property
    def high_water(self) -> int:
        """The seq up to which everything is taken in; 0 asks its owner for everything."""
        ...

    @property
    def health(self) -> Health:
        """Look at it before feeding: what cannot be had takes nothing in."""
        ...

    def __len__(self) -> int: ...

    def take_in(
        self, keys: Sequence[int], vectors: Vectors, removed: Iterable[int], seq: int, *, since: int | None = None
    ) -> bool:
        """Bring the index to `seq`: `removed` go, then `keys` come; one there already is replaced.

        vectors: (len(keys), dim). since: the `high_water` from which these are the changes. False, and nothing done, where
        the index stands beyond `seq` already, or no longer at `since` (another was faster, or it lost what it held).
        Raises NearestUnavailable; ValueError for vectors of another length, or not finite, or of no length.
        """
        ...

    def top(self, vector: Vectors, k: int, *, within: Collection[int] | None = None) -> list[Near]:
        """At most k, nearest first, ties by the lower key. within: no others are looked at; None is all.

        vector: (dim,). Raises NearestUnavailable; ValueError as above.
        """
        ...

    def scores(self, vector: Vectors, keys: Sequence[int]) -> Cosines:
        """(len(keys),) true cosines, NaN where a key is not held. Raises as `top`."""
        ...

    def clear(self) -> None:
        """Forget everything, on disk too; its owner feeds it again from seq 0."""
        ...

    def close(self) -> None:
        """Let go of files, locks and connections; afterwards it is not healthy."""
        ...
