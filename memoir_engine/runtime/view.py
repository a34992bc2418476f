"""The base of the views: an engine, and who looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from memoir_engine.core.run import Actor
from memoir_engine.runtime.engine import Engine
from memoir_engine.store.db.types import Tx

T = TypeVar("T")


class View:
    """A part of the facade: the engine, and who looks."""

    def __init__(self, engine: Engine, actor: Actor) -> None:
        self._engine = engine
        self._actor = actor

    def _read(self, work: Callable[[Tx], T]) -> T:
        return self._engine.db.read(work)


def cut_off(found: tuple[T, ...], most: int, *, key: str) -> tuple[tuple[T, ...], int | None]:
    """The first `most` of one more than that, and behind which of them to read on; None when there is no more."""
    return (found, None) if len(found) <= most else (found[:most], getattr(found[most - 1], key))
