"""The category tree as one ingestion sees it: what is stored, and what it means to add. Pure.

Invariant: names are unique per parent by their folded key; no parent ever has more children than the limit of their level;
the order of a parent's children is the order in which they came.
Source: MEMOIR 2.8–2.9, 3.2–3.5; DESIGN §8 (DraftTree).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memoir_engine.results import Path
from memoir_engine.text.names import fold

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
