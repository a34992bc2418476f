"""What reviewers corrected or approved, as examples for texts like it: corrections teach. Pure.

Invariant: fixed when an ingestion begins to plan, so that the tree does not hang on how many calls may be in flight; a lesson is
offered only where its own category is an option. What was undone, rejected or filed anew by others is no lesson any more.
Source: DESIGN §9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memoir_engine.prompts.examples import Example, nearest, quote
from memoir_engine.text.similarity import Floats, Shelf, Vector


@dataclass(frozen=True)
class Lesson:
    """A chunk in the place that a person gave it or confirmed. `above`: its leaf and all that is above it, with their parents."""

    chunk: int
    above: tuple[tuple[int, int], ...]  # (parent, category), from level 1
    text: str
    vector: Vector


class Lessons:
    """`per_text` 0 offers none."""

    def __init__(self, known: Sequence[Lesson] = (), *, per_text: int = 0) -> None:
        self._per_text = per_text
        self._below: dict[int, list[tuple[int, Lesson]]] = {}  # parent → (option, lesson)
        self._shelves: dict[int, Shelf] = {}
        for lesson in known if per_text else ():
            for parent, category in lesson.above:
                self._below.setdefault(parent, []).append((category, lesson))

    def shown(self, parent: int, names: dict[int, str], texts: Sequence[Vector]) -> dict[int, Example]:
        """By chunk the examples for these texts. names: of the options there are."""
        known = self._below.get(parent, [])
        if not known:
            return {}
        near = self._nearness(parent, texts)
        near[:, [option not in names for option, _ in known]] = 0

        def example(index: int, nearness: tuple[float, ...]) -> Example:
            option, lesson = known[index]
            return Example(names[option], quote(lesson.text), nearness)

        found = nearest(near, example, per_text=self._per_text)
        return {known[index][1].chunk: one for index, one in found.items()}

    def _nearness(self, parent: int, texts: Sequence[Vector]) -> Floats:
        """(n_texts, n_lessons): each lesson stands for itself."""
        if parent not in self._shelves:
            self._shelves[parent] = Shelf([[lesson.vector] for _, lesson in self._below[parent]])
        return np.array(self._shelves[parent].nearness(texts))
