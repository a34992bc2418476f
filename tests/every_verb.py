"""Names of all public verbs: the memory's, and `view.verb` of its views; new verbs are included automatically."""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import Any

from memoir_engine import Memory
from memoir_engine.core.run import Actor


def public_verbs() -> list[str]:
    """List `verb` of the memory and `view.verb` of its views, without opening anything."""
    memory = object.__new__(Memory)
    memory._bind(None, Actor())  # type: ignore[arg-type]  # nothing is asked of it
    views = [name for kind in Memory.__mro__ for name, value in vars(kind).items() if isinstance(value, cached_property)]
    views = sorted(name for name in views if not name.startswith("_"))
    own = [name for name, value in inspect.getmembers(Memory, callable) if not name.startswith("_")]
    return own + [f"{view}.{name}" for view in views for name in verbs_of(type(getattr(memory, view)))]


def verbs_of(kind: type) -> list[str]:
    return [name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")]


def named(memory: Memory, name: str) -> Any:
    found: Any = memory
    for part in name.split("."):
        found = getattr(found, part)
    return found
