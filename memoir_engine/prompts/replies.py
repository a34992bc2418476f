"""How a reply that nobody has checked yet is looked into: whatever it holds, nothing here raises.

Source: MEMOIR 2A.9 (one wrong item never costs the others).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard


def value(item: object, name: str) -> Any:
    """Of a mapping or of an object; None where there is none."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def items(item: object, name: str) -> Iterable[Any]:
    """What is listed under the name; nothing where it is no list."""
    found = value(item, name)
    return found if isinstance(found, Iterable) and not isinstance(found, str | bytes | Mapping) else ()


def words(item: object, name: str) -> str:
    """The text on one line; "" where it is none."""
    found = value(item, name)
    return " ".join(found.split()) if isinstance(found, str) else ""


def is_number(found: object) -> TypeGuard[int]:
    """A whole number: True and False are none."""
    return isinstance(found, int) and not isinstance(found, bool)
