"""Plug-ins: a function registered under a name, or an entry point of the same name.

Invariant: a name gives one function; an unknown name raises NotRegistered, which lists the known names.
Source: DESIGN §3, API "Facts" (CHUNKERS, STRATEGIES, EMBEDDERS).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from memoir_engine.core.errors import NotRegistered

T = TypeVar("T")


class Registry(Generic[T]):
    """Plug-ins of one `kind`; entry points are looked up in the group `memoir_engine.<kind>`.

    shipped: plug-ins of this distribution, as `module:attribute`; they are found where only the source tree is, too.
    """

    def __init__(self, kind: str, shipped: Mapping[str, str] | None = None) -> None:
        self.kind = kind
        self._shipped = tuple(EntryPoint(name, value, kind) for name, value in (shipped or {}).items())
        self._known: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        def keep(plugin: T) -> T:
            self._known[name] = plugin
            return plugin

        return keep

    def get(self, name: str) -> T:
        if name not in self._known:
            point = next((point for point in self._points() if point.name == name), None)
            if point is None:
                raise NotRegistered(kind=self.kind, name=name, names=", ".join(self) or "none")
            self._known[name] = point.load()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._known, *(point.name for point in self._points())}))

    def _points(self) -> Iterable[EntryPoint]:
        return *self._shipped, *entry_points(group=f"memoir_engine.{self.kind}")
