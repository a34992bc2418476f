"""Which index the setting `vector_store` means, for one embedder.

Invariant: one index for each (embedder, length, folder or server) in a process: two memories over one folder share it, so
that neither shuts the other out. It is closed by the last one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from memoir_engine.index.chroma import check_options
from memoir_engine.index.dense import DenseIndex
from memoir_engine.index.dense_homes import Home, InFolder, Of, OnServer
from memoir_engine.index.vectors import ExactVectors
from memoir_engine.nearest import Health, NearestIndex, NearestUnavailable

FOLDER = "dense"

_opening = threading.Lock()
_shared: dict[tuple[Any, ...], tuple[DenseIndex, int]] = {}  # with how many hold it


class Off:
    """No index: searching goes by words alone, because somebody chose so."""

    high_water = 0
    health = Health(False, "vectors are switched off (vector_store is 'off')", "Set vector_store to 'auto' to have them.")

    def __len__(self) -> int:
        return 0

    def take_in(self, *_: object, **__: object) -> bool:
        raise NearestUnavailable(self.health)

    top = scores = clear = take_in

    def close(self) -> None:
        """There is nothing to let go of."""


def open_nearest(vector_store: str, folder: Path | None, of: Of) -> NearestIndex:
    """An index as the setting `vector_store` names it. Opens and imports nothing yet.

    `database` is exact here: its caller takes the database's own comparison where there is one.

    folder: of the memory's caches; None, for a memory that is kept nowhere, makes `auto` exact.
    Raises InvalidSetting for options that Chroma does not know.
    """
    check_options(of.options)
    if vector_store == "off":
        return cast(NearestIndex, Off())
    if vector_store.startswith(("http://", "https://")):
        return _held((os.getpid(), vector_store, of.name, str(of.told)), OnServer(vector_store, of), of.dim)
    if vector_store in ("exact", "database") or folder is None:
        return ExactVectors(of.dim)
    place = folder.resolve() / FOLDER / of.name
    return _held((os.getpid(), place, str(of.told)), InFolder(place, of), of.dim)


def _held(key: tuple[Any, ...], home: Home, dim: int) -> DenseIndex:
    with _opening:
        index, users = _shared.get(key) or (DenseIndex(home, dim, leave=lambda shut: _left(key, shut)), 0)
        _shared[key] = index, users + 1
        return index


def _left(key: tuple[Any, ...], shut: Callable[[], None]) -> None:
    """One holder less; the last one shuts it, before it can be opened anew."""
    with _opening:
        index, users = _shared.pop(key)
        if users > 1:
            _shared[key] = index, users - 1
        else:
            shut()
