"""Numbers with what they count, as sentences say them."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return `1 chunk`, `2 chunks`. many: of a noun that takes no "s" alone."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
