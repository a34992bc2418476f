"""Plan, preview and write an edit of the tree as one action in one transaction.

Invariant: preview and edit come from the same plan; what is written is the plan, step by step, each with its event, and nothing
if there is an obstacle. Merging never leaves a name twice: categories of the same name below the two are merged level by level.
A preview tells every change; many chunks that move the same way are told once. Locks in the order of `ids`: the tree, the
counter of categories, rows, the chain's head.
Source: DESIGN §6; MEMOIR 2.8, 3.3–3.7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import select

from memoir_engine.core.errors import (
    CategoryInUse,
    ChunkNotFound,
    LimitReached,
    MemoirError,
    NameTaken,
    NotALeaf,
    NothingChanges,
    NotInside,
    WrongLevel,
)
from memoir_engine.core.results import Action, EditPreview
from memoir_engine.core.results.documents import Path
from memoir_engine.core.run import Clock
from memoir_engine.store import tables
from memoir_engine.store.chain import actions, payloads
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.db import ids
from memoir_engine.store.db.text_rules import check_name
from memoir_engine.store.db.types import FAR, ROOT, Tx, portions
from memoir_engine.store.tree import filings, versions
from memoir_engine.store.tree.categories import OpenCategory
from memoir_engine.store.tree.edit_draft import (
    NEW,
    ChangeCategory,
    CloseCategory,
    CreateCategory,
    Edit,
    EditDraft,
    EditSnapshot,
    RefileChunk,
    Step,
    load,
)

Limits = Callable[[int], int]


@dataclass(frozen=True)
class EditPlan:
    edit: Edit
    steps: tuple[Step, ...]
    obstacles: tuple[MemoirError, ...]
    drawing: EditDraft


def plan(edit: Edit, standing: EditSnapshot, limits: Limits) -> EditPlan:
    drawing = EditDraft(standing, limits)
    verbs: dict[str, Callable[[EditDraft, Edit], None]] = {
        "create": _create,
        "rename": _rename,
        "move": _move,
        "merge": _merge,
        "split": _split,
        "retire": _retire,
        "refile_many": _refile_many,
    }
    try:
        verbs[edit.verb](drawing, edit)
        drawing.tidy()
    except MemoirError as refused:
        return EditPlan(edit, (), (*drawing.obstacles, refused), drawing)
    return EditPlan(edit, tuple(drawing.steps), tuple(drawing.obstacles), drawing)


def _create(drawing: EditDraft, edit: Edit) -> None:
    name, level = check_name(edit.name), 1
    if edit.other != ROOT:
        parent = drawing.node(edit.other)
        level = parent.level + 1
        if parent.level >= drawing.standing.depth:
            problem, advice = "nothing can stand below the deepest level", "Choose a category above it, or file chunks in it."
            raise WrongLevel(name=parent.name, level=parent.level, problem=problem, advice=advice)
    drawing.make(edit.other, level, name)


def _rename(drawing: EditDraft, edit: Edit) -> None:
    node, name = drawing.node(edit.category), check_name(edit.name)
    if name == node.name:
        raise NothingChanges(problem=f"it is called {name!r} already")
    drawing.rename(node, name)


def _move(drawing: EditDraft, edit: Edit) -> None:
    node = drawing.node(edit.category)
    parent_level = 0 if edit.other == ROOT else drawing.node(edit.other).level
    if edit.other == node.parent_id:
        raise NothingChanges(problem=f"{node.name!r} is below {drawing.title(node.parent_id)!r} already")
    if parent_level != node.level - 1:
        raise _no_parent(node, drawing.title(edit.other), parent_level)
    drawing.move(node, edit.other)


def _merge(drawing: EditDraft, edit: Edit) -> None:
    node, into = drawing.node(edit.category), drawing.node(edit.other)
    if node.id == into.id:
        raise NothingChanges(problem=f"{node.name!r} cannot be merged with itself")
    if node.level != into.level:
        problem = f"{into.name!r} is at level {into.level}, and only categories of one level can be merged"
        raise WrongLevel(name=node.name, level=node.level, problem=problem, advice=f"Choose one at level {node.level}.")
    filed: dict[int, list[int]] = {}
    for chunk, leaf in drawing.standing.filed.items():
        filed.setdefault(leaf, []).append(chunk)
    _merge_into(drawing, node, into, filed)


def _merge_into(drawing: EditDraft, node: OpenCategory, into: OpenCategory, filed: dict[int, list[int]]) -> None:
    for child in drawing.children(node.id):
        twin = drawing.named(into.id, child.name_key)
        if twin is None:
            drawing.move(child, into.id)
        else:
            _merge_into(drawing, child, twin, filed)
    drawing.refile(((chunk, node.id) for chunk in filed.get(node.id, ())), into.id, reviewed=False)
    drawing.merged(node, into.id)


def _split(drawing: EditDraft, edit: Edit) -> None:
    node, name = drawing.node(edit.category), check_name(edit.name)
    is_leaf = node.level == drawing.standing.depth
    what = "chunk" if is_leaf else "category"
    held = drawing.standing.filed.keys() if is_leaf else {one.id for one in drawing.children(node.id)}
    strange = [one for one in edit.chosen if one not in held]
    if strange:
        raise NotInside(what=f"{what} {strange[0]}", name=node.name)
    if not edit.chosen or len(edit.chosen) == len(held):
        problem = f"all of {node.name!r} was chosen; rename it instead" if edit.chosen else "nothing was chosen"
        raise NothingChanges(problem=problem)
    made = drawing.make(node.parent_id, node.level, name)
    if is_leaf:
        drawing.refile(((chunk, node.id) for chunk in edit.chosen), made.id, reviewed=True)
    for child in () if is_leaf else edit.chosen:
        drawing.move(drawing.node(child), made.id)


def _retire(drawing: EditDraft, edit: Edit) -> None:
    node = drawing.node(edit.category)
    children, chunks = drawing.children(node.id), drawing.count(node.id)
    if children:
        names = ", ".join(repr(one.name) for one in children[:5]) + (", …" if len(children) > 5 else "")
        what = f"{len(children)} {'category' if len(children) == 1 else 'categories'} ({names})"
        raise CategoryInUse(name=node.name, what=what)
    if chunks:
        raise CategoryInUse(name=node.name, what=f"{chunks} {'chunk' if chunks == 1 else 'chunks'}")
    drawing.close(node)


def _refile_many(drawing: EditDraft, edit: Edit) -> None:
    leaf, filed = drawing.node(edit.other), drawing.standing.filed
    if leaf.level != drawing.standing.depth:
        raise NotALeaf(name=leaf.name, level=leaf.level, depth=drawing.standing.depth)
    unknown = [chunk for chunk in edit.chosen if chunk not in filed]
    if unknown:
        raise ChunkNotFound(chunk_id=unknown[0])
    moving = [(chunk, filed[chunk]) for chunk in edit.chosen if filed[chunk] != leaf.id]
    if not moving:
        problem = f"all of them are filed in {leaf.name!r} already" if edit.chosen else "no chunk was chosen"
        raise NothingChanges(problem=problem)
    drawing.refile(moving, leaf.id, reviewed=True)


def _no_parent(node: OpenCategory, parent: str, parent_level: int) -> WrongLevel:
    if node.level == 1:
        problem, advice = "nothing stands above level 1", "Merge it with another, or move what is below it."
    else:
        above = node.level - 1
        where = "above level 1" if parent_level == 0 else f"at level {parent_level}"
        problem = f"it can only stand below a category of level {above}, and {parent!r} is {where}"
        advice = f"Choose one at level {above}; levels never change."
    return WrongLevel(name=node.name, level=node.level, problem=problem, advice=advice)


def preview_of(plan: EditPlan) -> EditPreview:
    obstacles = plan.obstacles
    kinds = {
        kind: tuple(one.message for one in obstacles if isinstance(one, kind)) for kind in (NameTaken, LimitReached, WrongLevel)
    }
    return EditPreview(
        verb=plan.edit.verb,
        possible=not obstacles,
        chunks_moved=_moved(plan),
        categories_changed=len({step.node.id for step in plan.steps if not isinstance(step, RefileChunk)}),
        clashes=kinds[NameTaken],
        limit=next(iter(kinds[LimitReached]), None),
        depth=next(iter(kinds[WrongLevel]), None),
        problem=obstacles[0].message if obstacles else None,
        changes=changes(plan),
    )


def changes(plan: EditPlan) -> tuple[str, ...]:
    standing = plan.drawing.standing
    made = next((step.node for step in plan.steps if isinstance(step, CreateCategory)), None)
    new = (*standing.path(made.parent_id), made.name) if made else ()
    going = Counter((step.was, step.leaf) for step in plan.steps if isinstance(step, RefileChunk))
    merged = {step.node.id for step in plan.steps if isinstance(step, ChangeCategory) and step.merged_into is not None}
    said = (_say(step, standing, going, merged, new) for step in plan.steps)
    return tuple(dict.fromkeys(one for one in said if one))


def _say(step: Step, standing: EditSnapshot, going: Counter[tuple[int, int]], merged: set[int], new: Path) -> str:
    def told(category_id: int) -> str:
        return _path(new if category_id == NEW else standing.path(category_id))

    match step:
        case CreateCategory():
            return f"{_path(new)} is made"
        case RefileChunk():
            chunks = going[step.was, step.leaf]
            return f"{_count(chunks, 'chunk')} {'goes' if chunks == 1 else 'go'} from {told(step.was)} to {told(step.leaf)}"
        case CloseCategory():
            return "" if step.node.id in merged else f"{told(step.node.id)} closes"
        case ChangeCategory(merged_into=int(into)):
            return f"{told(step.node.id)} becomes one with {told(into)}"
        case ChangeCategory() if step.was.name != step.node.name:
            return f"{told(step.node.id)} is called {step.node.name}"
    chunks = _carried(standing, {step.node.id})
    return f"{told(step.node.id)} moves below {told(step.node.parent_id)}" + (
        f" with {_count(chunks, 'chunk')}" if chunks else ""
    )


def _moved(plan: EditPlan) -> int:
    """Count the chunks that get another leaf, or move along with their category."""
    refiled = sum(isinstance(step, RefileChunk) for step in plan.steps)
    carried = {
        step.node.id for step in plan.steps if isinstance(step, ChangeCategory) and step.was.parent_id != step.node.parent_id
    }
    return refiled + _carried(plan.drawing.standing, carried)


def _carried(standing: EditSnapshot, category_ids: set[int]) -> int:
    every = {one for number in category_ids for one in standing.below(number)}
    return sum(standing.counts.get(one, 0) for one in every)


def _path(path: Sequence[str]) -> str:
    return " › ".join(path)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def preview(tx: Tx, edit: Edit, *, limits: Limits) -> EditPreview:
    """Return what the edit would do now and what prevents it. Changes nothing."""
    return preview_of(plan(edit, load(tx, edit), limits))


def perform(
    tx: Tx,
    edit: Edit,
    *,
    actor: str,
    reason: str | None,
    limits: Limits,
    clock: Clock,
    action_id: str | None = None,
) -> Action:
    """Write the edit; with the caller's `action_id` only once.

    Raises what its preview shows: CategoryNotFound, ChunkNotFound, NotALeaf, NotInside, NameInvalid, NameTaken, LimitReached,
    WrongLevel, CategoryInUse, NothingChanges.
    """
    ids.lock_tree(tx)
    if action_id is not None and actions.exists(tx, action_id):
        return actions.get(tx, action_id)
    planned = plan(edit, load(tx, edit), limits)
    if planned.obstacles:
        raise planned.obstacles[0]
    makes = sum(isinstance(step, CreateCategory) for step in planned.steps)
    new = ids.reserve(tx, "category", makes) if makes else NEW
    told = _payloads(tx, planned)
    action = OpenAction(tx, verb=edit.verb, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason, edit=edit.told())
    writing = _EditWriter(tx, action, new, actor)
    for kind, steps in groupby(zip(planned.steps, told, strict=True), key=lambda pair: type(pair[0])):
        writing.take(kind, list(steps))
    action.seal()
    return actions.get(tx, action.id)


class _EditWriter:
    """Write the steps of one action. `new` is the id of the category it creates."""

    def __init__(self, tx: Tx, action: OpenAction, new: int, actor: str) -> None:
        self._tx = tx
        self._action = action
        self._new = new
        self._actor = actor

    def take(self, kind: type[Step], steps: Sequence[tuple[Any, str]]) -> None:
        if kind is RefileChunk:
            self._refile(steps)
        for step, payload in steps if kind is not RefileChunk else ():
            self._category(step, payload)

    def _category(self, step: CreateCategory | ChangeCategory | CloseCategory, payload: str) -> None:
        node, parent = step.node, self._id(step.node.parent_id)
        if isinstance(step, CreateCategory):
            versions.make(self._tx, self._action, self._new, parent, node.level, node.name, payload=payload)
        elif isinstance(step, CloseCategory):
            versions.close(self._tx, self._action, node.id, payload=payload)
        else:
            into = step.merged_into
            versions.change(self._tx, self._action, _kind(step), node.id, parent, node.name, merged_into=into, payload=payload)

    def _refile(self, steps: Sequence[tuple[RefileChunk, str]]) -> None:
        rows = _open_filings(self._tx, [step.chunk for step, _ in steps])
        moves = []
        for step, payload in steps:
            old = rows[step.chunk]
            reviewed = (self._actor, filings.NOW) if step.reviewed else (None, None)
            decision = None if step.reviewed else old.decision_id
            moves.append(filings.FilingMove(old, self._id(step.leaf), decision, reviewed, payload))
        filings.move(self._tx, self._action, moves)

    def _id(self, number: int) -> int:
        return self._new if number == NEW else number


def _kind(step: ChangeCategory) -> str:
    if step.merged_into is not None:
        return "category.merged"
    return "category.moved" if step.was.parent_id != step.node.parent_id else "category.renamed"


def _open_filings(tx: Tx, chunk_ids: Sequence[int]) -> dict[int, Any]:
    c = tables.filing.c
    found: dict[int, Any] = {}
    for some in portions(chunk_ids):
        found |= {row.chunk_id: row for row in tx.execute(select(tables.filing).where(c.to_seq == FAR, c.chunk_id.in_(some)))}
    return found


def _payloads(tx: Tx, planned: EditPlan) -> list[str]:
    """Store a payload per step; chunks that move the same way share one."""
    standing = planned.drawing.standing
    bodies: dict[object, dict[str, Any]] = {}
    keys: list[object] = []
    for at, step in enumerate(planned.steps):
        keys.append((step.was, step.leaf) if isinstance(step, RefileChunk) else at)
        if keys[-1] not in bodies:
            bodies[keys[-1]] = _before_after(step, standing, planned)
    digests = dict(zip(bodies, payloads.put(tx, list(bodies.values())), strict=True))
    return [digests[key] for key in keys]


def _before_after(step: Step, standing: EditSnapshot, planned: EditPlan) -> dict[str, Any]:
    """Return the paths by name before and after the step."""
    before: Path | None
    after: Path | None
    match step:
        case CreateCategory():
            before, after = None, planned.drawing.path(step.node.id)
        case RefileChunk():
            before, after = standing.path(step.was), planned.drawing.path(step.leaf)
        case ChangeCategory(merged_into=None):
            before, after = standing.path(step.node.id), planned.drawing.path(step.node.id)
        case ChangeCategory(merged_into=into):
            before, after = standing.path(step.node.id), planned.drawing.path(into or step.node.id)
        case CloseCategory():
            before, after = standing.path(step.node.id), None
    return {"before": _names(before), "after": _names(after)}


def _names(path: Path | None) -> list[str] | None:
    return None if path is None else list(path)
