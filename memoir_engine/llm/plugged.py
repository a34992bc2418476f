"""An embedder of somebody else's making, held to what `Embedder` promises.

Invariant: what leaves here has one row of unit length for each text, of the length the embedder names; anything else it does
is a ModelError. A row of another length would be stored and asked for again without end.
Source: MEMOLLA F-02-02, F-03-02; DESIGN §3 (EMBEDDERS).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memoir_engine.embedding import Embedder, Vectors
from memoir_engine.errors import InvalidSetting, MemoirError, ModelError
from memoir_engine.run import Run

PARTS = ("id", "dim", "lexical", "embed", "close")


def plugged(name: str, made: Any) -> Embedder:
    """What the factory registered under `name` made. Raises InvalidSetting naming what it lacks."""
    lacking = [part for part in PARTS if not hasattr(made, part)]
    if lacking:
        problem = f"what its factory makes has no {', '.join(lacking)}"
        raise InvalidSetting(name="embedder", value=name, problem=problem, advice="docs/plug-ins.md shows what an embedder has.")
    return Plugged(name, made)


class Plugged:
    def __init__(self, name: str, made: Embedder) -> None:
        self._name = name
        self._made = made
        self._dim: int | None = None

    @property
    def id(self) -> str:
        return self._made.id

    @property
    def dim(self) -> int | None:
        return self._made.dim or self._dim

    @property
    def lexical(self) -> bool:
        return self._made.lexical

    @property
    def search_pull(self) -> float | None:
        return getattr(self._made, "search_pull", None)

    async def embed(self, texts: Sequence[str], run: Run) -> Vectors:
        """Raises ModelError, and MemoirErrors of the embedder's own."""
        try:
            given = await self._made.embed(texts, run)
        except MemoirError:
            raise
        except Exception as error:
            raise ModelError(model=self._name, problem=f"{type(error).__name__}: {error}") from error
        vectors = self._checked(given, len(texts))
        self._dim = vectors.shape[1]
        return vectors

    async def close(self) -> None:
        await self._made.close()

    def _checked(self, given: object, count: int) -> Vectors:
        try:
            rows = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._failed("it gave no rows of numbers") from None
        if rows.ndim == 0:
            raise self._failed("it gave no rows of numbers")
        wanted = (count, self.dim or rows.shape[-1])
        if rows.shape != wanted:
            raise self._failed(f"its vectors have the shape {rows.shape} instead of {wanted}")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise self._failed("a vector has no direction")
        unit: Vectors = (rows / lengths).astype(np.float32)
        return unit

    def _failed(self, problem: str) -> ModelError:
        return ModelError(model=self._name, problem=problem)
