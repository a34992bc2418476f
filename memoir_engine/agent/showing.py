"""What a turn's tools took from the memory, numbered in the order in which the model saw it.

Invariant: whatever a tool hands the model went through `show`, so the run can name all of it; the same thing keeps its number.
Source: SESSION 4; TIMEM "LLM-driven retrieval".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memoir_engine.results.replies import Shown

MOST_CHARS = 2_000  # of one finding


class Showing:
    """Of one turn."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int | str], Shown] = {}

    def show(self, shown: Shown, text: str, **more: Any) -> dict[str, Any]:
        """The record that the model gets. `more` without what is not known."""
        key = (shown.kind, shown.id)
        known = self._seen.setdefault(key, replace(shown, number=len(self._seen) + 1))
        told = {name: value for name, value in more.items() if value is not None}
        return {"number": known.number, "text": text[:MOST_CHARS], **told}

    @property
    def all(self) -> tuple[Shown, ...]:
        return tuple(self._seen.values())
