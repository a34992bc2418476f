"""What finds the nearest of many vectors, whoever does it.

Invariant: an index is a cache over the vectors that SQL holds, of one embedder and one length (`memoir_engine.core.ports`:
two are never compared). It holds exactly what it was given up to `high_water`, or is not healthy and says why. Losing it
costs time, never a vector.
Source: DESIGN §2.3, §8 ("index"); MEMOLLA F-03-01, F-03-02.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memoir_engine.core.registry import Registry
from memoir_engine.core.run import Run
from memoir_engine.core.settings import MemoirConfig

# === embedding: What turns texts into vectors, whoever does it.
#
# Invariant: vectors of two embedders are never compared: `id` names the method, its version and what it was asked for,
# and
# every stored vector carries it. The same id and text give the same vector, up to rounding.
# Source: MEMOLLA §1, F-02-02; DESIGN §3 (EMBEDDERS); spec README 14.


Vectors = NDArray[np.float32]


class Embedder(Protocol):
    @property
    def id(self) -> str:
        """Stored with every vector."""
        ...

    @property
    def dim(self) -> int | None:
        """Length of a vector; None until the first answer where only the server knows it."""
        ...

    @property
    def lexical(self) -> bool:
        """True where nearness means shared words and pieces of words, not meaning; said wherever the embedder is named."""
        ...

    async def embed(self, texts: Sequence[str], run: Run) -> Vectors:
        """(n, dim), each row of unit length. What is asked of a server is written to `run.ledger` before it is used.

        Raises ModelError subclasses; whatever `run.ledger.record` raises.
        """
        ...

    async def close(self) -> None:
        """End the connections of the running loop."""
        ...


LEXICAL_PULL = 0.7


def search_pull(embedder: Embedder) -> float:
    """How far a question's vector is moved towards what its words find, in lengths of its own (docs/decisions/0016).

    An embedder may name it as `search_pull`, where it was measured; else lexical ones are moved, those of meaning are not.
    """
    named = getattr(embedder, "search_pull", None)
    return named if isinstance(named, float) else LEXICAL_PULL * embedder.lexical


EmbedderFactory = Callable[[MemoirConfig], Embedder]

EMBEDDERS: Registry[EmbedderFactory] = Registry("embedder")
"""Plug-ins by the name that the setting `embedder` gives them; a factory makes one from the settings in force."""


# === nearest


Cosines = NDArray[np.float32]


class Near(NamedTuple):
    key: int
    cosine: float  # in [-1, 1], greater is nearer


class Health(NamedTuple):
    """`reason` and `remedy` are for a person, empty where `ok`."""

    ok: bool
    reason: str = ""
    remedy: str = ""


HEALTHY = Health(True)


class VectorIndexUnavailable(Exception):
    """The index cannot answer now; `health` says why. Whoever searches goes on by words alone and tells it."""

    def __init__(self, health: Health) -> None:
        super().__init__(health.reason)
        self.health = health


class VectorIndex(Protocol):
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
