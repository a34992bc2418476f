"""What turns texts into vectors, whoever does it.

Invariant: vectors of two embedders are never compared: `id` names the method, its version and what it was asked for, and
every stored vector carries it. The same id and text give the same vector, up to rounding.
Source: MEMOLLA §1, F-02-02; DESIGN §3 (EMBEDDERS); spec README 14.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memoir_engine.registry import Registry
from memoir_engine.run import Run
from memoir_engine.settings import MemoirConfig

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


def pull_of(embedder: Embedder) -> float:
    """How far a question's vector is moved towards what its words find, in lengths of its own (docs/decisions/0016).

    An embedder may name it as `search_pull`, where it was measured; else lexical ones are moved, those of meaning are not.
    """
    named = getattr(embedder, "search_pull", None)
    return named if isinstance(named, float) else LEXICAL_PULL * embedder.lexical


EmbedderFactory = Callable[[MemoirConfig], Embedder]

EMBEDDERS: Registry[EmbedderFactory] = Registry("embedder")
"""Plug-ins by the name that the setting `embedder` gives them; a factory makes one from the settings in force."""
