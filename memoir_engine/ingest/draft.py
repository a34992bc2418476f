"""The category tree as one ingestion sees it: what is stored, and what it means to add. Pure.

Invariant: names are unique per parent by their folded key; no parent ever has more children than the limit of their level;
the order of a parent's children is the order in which they came.
Source: MEMOIR 2.8–2.9, 3.2–3.5; DESIGN §8 (DraftTree).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from memoir_engine.core.results.documents import Path
from memoir_engine.prompts.examples import Example, nearest, quote
from memoir_engine.text.names import fold
from memoir_engine.text.similarity import Floats, OptionIndex, TermVector

# === lessons: What reviewers corrected or approved, as examples for texts like it: corrections teach. Pure.
#
# Invariant: fixed when an ingestion begins to plan, so that the tree does not hang on how many calls may be in flight; a
# lesson is
# offered only where its own category is an option. What was undone, rejected or filed anew by others is no lesson any
# more.
# Source: DESIGN §9.


@dataclass(frozen=True)
class Lesson:
    """A chunk in the place that a person gave it or confirmed. `above`: its leaf and all that is above it, with their parents."""

    chunk: int
    above: tuple[tuple[int, int], ...]  # (parent, category), from level 1
    text: str
    vector: TermVector


class Lessons:
    """`per_text` 0 offers none."""

    def __init__(self, known: Sequence[Lesson] = (), *, per_text: int = 0) -> None:
        self._per_text = per_text
        self._below: dict[int, list[tuple[int, Lesson]]] = {}  # parent → (option, lesson)
        self._shelves: dict[int, OptionIndex] = {}
        for lesson in known if per_text else ():
            for parent, category in lesson.above:
                self._below.setdefault(parent, []).append((category, lesson))

    def shown(self, parent: int, names: dict[int, str], texts: Sequence[TermVector]) -> dict[int, Example]:
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

    def _nearness(self, parent: int, texts: Sequence[TermVector]) -> Floats:
        """(n_texts, n_lessons): each lesson stands for itself."""
        if parent not in self._shelves:
            self._shelves[parent] = OptionIndex([[lesson.vector] for _, lesson in self._below[parent]])
        return np.array(self._shelves[parent].nearness(texts))


# === draft


ROOT = 0


@dataclass(frozen=True)
class Node:
    """`id` > 0 is stored, < 0 is a draft of this ingestion. `parent` 0 is the root."""

    id: int
    parent: int
    level: int
    name: str


class DraftTree:
    """Grows while chunks are filed; drafts are numbered −1, −2, … as they come."""

    def __init__(self, stored: Iterable[Node], *, depth: int, limit: Callable[[int], int]) -> None:
        self.depth = depth
        self._limit = limit
        self._nodes: dict[int, Node] = {}
        self._children: dict[int, list[Node]] = {}
        self._by_key: dict[tuple[int, str], Node] = {}
        self._drafts: list[Node] = []
        for node in stored:
            self._keep(node)

    def children(self, parent: int) -> tuple[Node, ...]:
        return tuple(self._children.get(parent, ()))

    def room(self, parent: int) -> int:
        """How many categories may still be made below `parent`."""
        return max(0, self._limit(self.level_below(parent)) - len(self._children.get(parent, ())))

    def level_below(self, parent: int) -> int:
        return 1 if parent == ROOT else self._nodes[parent].level + 1

    def find(self, parent: int, name: str) -> Node | None:
        return self._by_key.get((parent, fold(name)))

    def add(self, parent: int, name: str) -> Node:
        """A draft below `parent`; the node that has the name already, if there is one."""
        found = self.find(parent, name)
        if found is not None:
            return found
        node = Node(-1 - len(self._drafts), parent, self.level_below(parent), name)
        self._drafts.append(node)
        self._keep(node)
        return node

    def path(self, category: int) -> Path:
        names: list[str] = []
        while category != ROOT:
            node = self._nodes[category]
            names.append(node.name)
            category = node.parent
        return tuple(reversed(names))

    def ancestors(self, category: int) -> tuple[int, ...]:
        """Ids from level 1 down to the category itself."""
        ids: list[int] = []
        while category != ROOT:
            ids.append(category)
            category = self._nodes[category].parent
        return tuple(reversed(ids))

    @property
    def drafts(self) -> tuple[Node, ...]:
        return tuple(self._drafts)

    def _keep(self, node: Node) -> None:
        self._nodes[node.id] = node
        self._children.setdefault(node.parent, []).append(node)
        self._by_key[node.parent, fold(node.name)] = node
