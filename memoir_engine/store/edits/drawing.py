"""The tree being redrawn by an edit: each stroke is a step to be written, and is checked against the strokes before. Pure.

Invariant: names stay unique per parent by their folded key, no parent passes the limit of its level, levels never change,
chunks stand in leaves. A stroke that would break this is drawn all the same and noted as an obstacle: nothing is written
while there is one, and a preview shows all of them.
Source: MEMOIR 2.8, 3.3–3.7; DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memoir_engine.errors import CategoryNotFound, LimitReached, MemoirError, NameTaken
from memoir_engine.results import Path
from memoir_engine.store.edits.standing import Standing
from memoir_engine.store.rules import name_key
from memoir_engine.store.tree import OpenCategory
from memoir_engine.store.types import ROOT

NEW = -1  # the category an edit makes; it gets its id when it is written
TOP = "the top"  # what stands above level 1, in words


@dataclass(frozen=True)
class Make:
    """`node` has the id NEW."""

    node: OpenCategory


@dataclass(frozen=True)
class Change:
    """`node` as it will stand; merged_into: it is about to close, and its chunks and categories are there."""

    was: OpenCategory
    node: OpenCategory
    merged_into: int | None = None


@dataclass(frozen=True)
class Close:
    node: OpenCategory


@dataclass(frozen=True)
class Refile:
    """reviewed: a person chose this chunk for this leaf, and it is not merely carried along."""

    chunk: int
    was: int
    leaf: int
    reviewed: bool


Step = Make | Change | Close | Refile


class Drawing:
    """Begins as the tree stands. `steps` and `obstacles` grow in the order of the strokes."""

    def __init__(self, standing: Standing, limits: Callable[[int], int]) -> None:
        self.standing = standing
        self.steps: list[Step] = []
        self.obstacles: list[MemoirError] = []
        self._limits = limits
        self._nodes: dict[int, OpenCategory] = dict(standing.nodes)
        self._counts: dict[int, int] = dict(standing.counts)
        self._children: dict[int, dict[int, OpenCategory]] = {}
        for node in standing.nodes.values():
            self._children.setdefault(node.parent_id, {})[node.id] = node
        self._touched: set[int] = set()
        self._left: set[int] = set()  # categories that something has left

    # --- what stands --------------------------------------------------------------------------------------------------

    def node(self, category_id: int) -> OpenCategory:
        """Raises CategoryNotFound."""
        if category_id not in self._nodes:
            raise CategoryNotFound(category_id=category_id)
        return self._nodes[category_id]

    def children(self, category_id: int) -> tuple[OpenCategory, ...]:
        """By id; of 0: level 1."""
        found = self._children.get(category_id, {})
        return tuple(found[number] for number in sorted(found))

    def count(self, leaf: int) -> int:
        return self._counts.get(leaf, 0)

    def named(self, parent: int, key: str) -> OpenCategory | None:
        return next((one for one in self._children.get(parent, {}).values() if one.name_key == key), None)

    def path(self, category_id: int) -> Path:
        names: list[str] = []
        while category_id != ROOT:
            names.append(self._nodes[category_id].name)
            category_id = self._nodes[category_id].parent_id
        return tuple(reversed(names))

    def title(self, category_id: int) -> str:
        return TOP if category_id == ROOT else self._nodes[category_id].name

    # --- strokes ------------------------------------------------------------------------------------------------------

    def make(self, parent: int, level: int, name: str) -> OpenCategory:
        node = OpenCategory(NEW, level, parent, name, name_key(name))
        self._come(node)
        self.steps.append(Make(node))
        return node

    def rename(self, node: OpenCategory, name: str) -> None:
        self._change(node, node._replace(name=name, name_key=name_key(name)))

    def move(self, node: OpenCategory, parent: int) -> None:
        self._change(node, node._replace(parent_id=parent))

    def merged(self, node: OpenCategory, into: int) -> None:
        """It closes, and says where what it held has gone."""
        self.steps.append(Change(node, node, into))
        self.close(node)

    def close(self, node: OpenCategory) -> None:
        self.steps.append(Close(node))
        self._go(node)
        del self._nodes[node.id]

    def refile(self, chunks: Iterable[tuple[int, int]], leaf: int, *, reviewed: bool) -> None:
        """chunks: (chunk, the leaf it is in)."""
        for chunk, was in chunks:
            self.steps.append(Refile(chunk, was, leaf, reviewed))
            self._counts[was] = self._counts.get(was, 0) - 1
            self._counts[leaf] = self._counts.get(leaf, 0) + 1
            self._left.add(was)

    def tidy(self) -> None:
        """Close what this emptied and only its last filing held open, and what stands above it, the deepest first."""
        here = {self._nodes[number] for number in self._left if number in self._nodes}
        while here:
            node = max(here, key=lambda one: (one.level, -one.id))
            here.discard(node)
            if self._is_orphan(node):
                self.close(node)
                here |= {self._nodes[node.parent_id]} if node.parent_id != ROOT else set()

    def _is_orphan(self, node: OpenCategory) -> bool:
        empty = not self.count(node.id) and not self._children.get(node.id)
        return empty and node.id in self.standing.loose and node.id not in self._touched

    def _change(self, was: OpenCategory, node: OpenCategory) -> None:
        self._go(was)
        self._come(node)
        self._touched.add(node.id)
        self.steps.append(Change(was, node))

    def _come(self, node: OpenCategory) -> None:
        taken = self.named(node.parent_id, node.name_key)
        if taken is not None:
            self.obstacles.append(NameTaken(name=taken.name, parent=self.title(node.parent_id)))
        limit, there = self._limits(node.level), len(self._children.get(node.parent_id, {}))
        if there >= limit and self._moves(node):
            self.obstacles.append(LimitReached(parent=self.title(node.parent_id), count=there, level=node.level))
        self._nodes[node.id] = node
        self._children.setdefault(node.parent_id, {})[node.id] = node

    def _moves(self, node: OpenCategory) -> bool:
        """Whether it comes from elsewhere: a new name in its old place takes no room."""
        before = self.standing.nodes.get(node.id)
        return before is None or before.parent_id != node.parent_id

    def _go(self, node: OpenCategory) -> None:
        del self._children[node.parent_id][node.id]
        self._left.add(node.parent_id)
