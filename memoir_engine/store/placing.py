"""Where a plan's categories stand in the tree of now.

Invariant: a draft becomes the open category of the same name under the same parent where there is one, else a new one;
the limit of a parent is never passed; every category the plan names is still open, or was merged into one that is.
Runs under `ids.lock_tree`, so what it finds holds until the commit.
Source: DESIGN §8 (names, limits, merges re-checked); MEMOIR 2.8, 2.9, 3.3–3.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from memoir_engine.errors import IngestionError
from memoir_engine.results import Path
from memoir_engine.store import tree
from memoir_engine.store.plan import IngestPlan, NewCategory, PlanStale
from memoir_engine.store.rules import check_name, name_key
from memoir_engine.store.tree import OpenCategory
from memoir_engine.store.types import ROOT, Tx


@dataclass(frozen=True)
class Made:
    """A category to be written. `parent` is an id, or the draft of one that is written before it."""

    draft: int
    parent: int
    level: int
    name: str
    name_key: str


@dataclass(frozen=True)
class Placed:
    """`ids` maps drafts to ids; drafts of `made` are numbered once their ids are reserved.

    `merged`: what was merged meanwhile, and into what. A decision keeps what was chosen, its chunk is filed where that is now.
    """

    made: tuple[Made, ...]
    ids: dict[int, int]
    paths: dict[int, Path] = field(default_factory=dict)
    merged: dict[int, int] = field(default_factory=dict)

    def id_of(self, number: int) -> int:
        return self.ids[number] if number < ROOT else number

    def now(self, number: int) -> int:
        """Where what is filed under it goes."""
        return self.merged.get(number, self.id_of(number))

    def path(self, number: int) -> Path:
        return self.paths.get(number, ())

    def numbered(self, first: int) -> Placed:
        return replace(self, ids=self.ids | {one.draft: first + i for i, one in enumerate(self.made)})


def place(tx: Tx, plan: IngestPlan, limits: Callable[[int], int]) -> Placed:
    """Raises PlanStale, NameInvalid."""
    known, merged = _still_open(tx, plan)
    placing = _Placing(tx, limits, known, merged)
    for level in sorted({new.level for new in plan.categories}):
        placing.settle(level, [new for new in plan.categories if new.level == level])
    return Placed(tuple(placing.made), placing.ids, _paths(tx, plan), merged)


class _Placing:
    """Level by level, so that a draft's parent is settled before it."""

    def __init__(self, tx: Tx, limits: Callable[[int], int], known: dict[int, OpenCategory], merged: dict[int, int]) -> None:
        self._tx = tx
        self._limits = limits
        self._known = known
        self._merged = merged
        self._levels: dict[int, int] = {}
        self.made: list[Made] = []
        self.ids: dict[int, int] = {}

    def settle(self, level: int, drafts: list[NewCategory]) -> None:
        parents = {self._parent(new) for new in drafts}
        there = tree.open_children(self._tx, (one for one in parents if one >= ROOT)).values()
        names = {(one.parent_id, one.name_key): one.id for one in there}
        sizes: dict[int, int] = {}
        for one in there:
            sizes[one.parent_id] = sizes.get(one.parent_id, 0) + 1
        for new in drafts:
            self._settle_one(new, self._parent(new), names, sizes)
            self._levels[new.draft] = level

    def _settle_one(self, new: NewCategory, parent: int, names: dict[tuple[int, str], int], sizes: dict[int, int]) -> None:
        name = check_name(new.name)
        key = name_key(name)
        if (parent, key) in names:
            self.ids[new.draft] = names[parent, key]  # made meanwhile, or twice in this plan
            return
        if sizes.get(parent, 0) >= self._limits(new.level):
            raise PlanStale(f"category {parent} has reached the limit of level {new.level}")
        sizes[parent] = sizes.get(parent, 0) + 1
        names[parent, key] = self.ids[new.draft] = new.draft
        self.made.append(Made(new.draft, parent, new.level, name, key))

    def _parent(self, new: NewCategory) -> int:
        parent = self.ids.get(new.parent, self._merged.get(new.parent, new.parent))
        above = 0 if parent == ROOT else self._levels.get(new.parent, getattr(self._known.get(parent), "level", None))
        if above != new.level - 1:
            raise IngestionError(problem=f"{new.name!r} at level {new.level} stands under level {above}")
        return parent


def _still_open(tx: Tx, plan: IngestPlan) -> tuple[dict[int, OpenCategory], dict[int, int]]:
    """What the plan names as it is now, and which of it was merged into what."""
    named = {new.parent for new in plan.categories} | {one.chosen for one in plan.decisions}
    named |= {one.parent for one in plan.decisions}
    named = {one for one in named if one > ROOT}
    found = tree.open_categories(tx, named)
    merged = tree.merged_into(tx, named - found.keys())
    gone = tuple(sorted(named - found.keys() - merged.keys()))
    if gone:
        raise PlanStale(f"categories {list(gone)} are closed", gone)
    found |= tree.open_categories(tx, merged.values())
    chosen = {(one.chosen, one.parent, one.level) for one in plan.decisions if one.chosen > ROOT and one.parent >= ROOT}
    for number, parent, level in sorted(chosen):
        now = found.get(number)  # what was merged is where its chunks have gone, below whatever that stands
        if now is not None and (now.parent_id, now.level) != (merged.get(parent, parent), level):
            raise PlanStale(f"category {number} has moved", (number,))
    return found, merged


def _paths(tx: Tx, plan: IngestPlan) -> dict[int, Path]:
    """The names above each offer, for categories and drafts alike."""
    drafts = {new.draft: new for new in plan.categories}
    parents = {offer.parent for offer in plan.offers} | {new.parent for new in plan.categories}
    found: dict[int, Path] = dict(tree.paths(tx, (one for one in parents if one > ROOT)))
    found[ROOT] = ()
    for new in sorted(drafts.values(), key=lambda one: one.level):
        found[new.draft] = (*found[new.parent], new.name.strip())
    return found
