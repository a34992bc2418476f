"""Which index the setting `vector_store` means, for one embedder.

Invariant: one index for each (embedder, length, folder or server) in a process: two memories over one folder share it, so
that neither shuts the other out. It is closed by the last one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memoir_engine.index.chroma import check_options
from memoir_engine.index.dense import DenseIndex
from memoir_engine.index.dense_homes import Home, InFolder, Of, OnServer
from memoir_engine.index.vectors import ExactVectors
from memoir_engine.nearest import NearestIndex

FOLDER = "dense"

_opening = threading.Lock()
_shared: dict[tuple[Any, ...], tuple[DenseIndex, int]] = {}  # with how many hold it


def open_nearest(
    store: str, folder: Path | None, embedder: str, dim: int, *, name: str = "", options: Mapping[str, Any] | None = None
) -> NearestIndex:
    """An index of `auto`, `chroma`, `exact`, or of a Chroma server's address. Opens and imports nothing yet.

    folder: of the memory's caches; None, for a memory that is kept nowhere, makes `auto` exact.
    name: of the store, told apart from others on one server. options: Chroma's own.
    Raises InvalidSetting for options that Chroma does not know.
    """
    of = Of(embedder, dim, check_options(options or {}))
    if store.startswith(("http://", "https://")):
        return _held((os.getpid(), store, name, of.name, str(of.told)), OnServer(store, name, of), dim)
    if store == "exact" or folder is None:
        return ExactVectors(dim)
    place = folder.resolve() / FOLDER / of.name
    return _held((os.getpid(), place, str(of.told)), InFolder(place, of), dim)


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
