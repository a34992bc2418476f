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
from memoir_engine.store.tree import categories, filings
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


def plan(edit: Edit, snapshot: EditSnapshot, limits: Limits) -> EditPlan:
    draft = EditDraft(snapshot, limits)
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
        verbs[edit.verb](draft, edit)
        draft.tidy()
    except MemoirError as refused:
        return EditPlan(edit, (), (*draft.obstacles, refused), draft)
    return EditPlan(edit, tuple(draft.steps), tuple(draft.obstacles), draft)


def _create(draft: EditDraft, edit: Edit) -> None:
    name, level = check_name(edit.name), 1
    if edit.other != ROOT:
        parent = draft.node(edit.other)
        level = parent.level + 1
        if parent.level >= draft.standing.depth:
            problem, advice = "nothing can stand below the deepest level", "Choose a category above it, or file chunks in it."
            raise WrongLevel(name=parent.name, level=parent.level, problem=problem, advice=advice)
    draft.make(edit.other, level, name)


def _rename(draft: EditDraft, edit: Edit) -> None:
    node, name = draft.node(edit.category), check_name(edit.name)
    if name == node.name:
        raise NothingChanges(problem=f"it is called {name!r} already")
    draft.rename(node, name)


def _move(draft: EditDraft, edit: Edit) -> None:
    node = draft.node(edit.category)
    parent_level = 0 if edit.other == ROOT else draft.node(edit.other).level
    if edit.other == node.parent_id:
        raise NothingChanges(problem=f"{node.name!r} is below {draft.title(node.parent_id)!r} already")
    if parent_level != node.level - 1:
        raise _no_parent(node, draft.title(edit.other), parent_level)
    draft.move(node, edit.other)


def _merge(draft: EditDraft, edit: Edit) -> None:
    node, into = draft.node(edit.category), draft.node(edit.other)
    if node.id == into.id:
        raise NothingChanges(problem=f"{node.name!r} cannot be merged with itself")
    if node.level != into.level:
        problem = f"{into.name!r} is at level {into.level}, and only categories of one level can be merged"
        raise WrongLevel(name=node.name, level=node.level, problem=problem, advice=f"Choose one at level {node.level}.")
    filed: dict[int, list[int]] = {}
    for chunk, leaf in draft.standing.filed.items():
        filed.setdefault(leaf, []).append(chunk)
    _merge_into(draft, node, into, filed)


def _merge_into(draft: EditDraft, node: OpenCategory, into: OpenCategory, filed: dict[int, list[int]]) -> None:
    for child in draft.children(node.id):
        twin = draft.named(into.id, child.name_key)
        if twin is None:
            draft.move(child, into.id)
        else:
            _merge_into(draft, child, twin, filed)
    draft.refile(((chunk, node.id) for chunk in filed.get(node.id, ())), into.id, reviewed=False)
    draft.merged(node, into.id)


def _split(draft: EditDraft, edit: Edit) -> None:
    node, name = draft.node(edit.category), check_name(edit.name)
    is_leaf = node.level == draft.standing.depth
    what = "chunk" if is_leaf else "category"
    held = draft.standing.filed.keys() if is_leaf else {one.id for one in draft.children(node.id)}
    strange = [one for one in edit.chosen if one not in held]
    if strange:
        raise NotInside(what=f"{what} {strange[0]}", name=node.name)
    if not edit.chosen or len(edit.chosen) == len(held):
        problem = f"all of {node.name!r} was chosen; rename it instead" if edit.chosen else "nothing was chosen"
        raise NothingChanges(problem=problem)
    made = draft.make(node.parent_id, node.level, name)
    if is_leaf:
        draft.refile(((chunk, node.id) for chunk in edit.chosen), made.id, reviewed=True)
    for child in () if is_leaf else edit.chosen:
        draft.move(draft.node(child), made.id)


def _retire(draft: EditDraft, edit: Edit) -> None:
    node = draft.node(edit.category)
    children, chunks = draft.children(node.id), draft.count(node.id)
    if children:
        names = ", ".join(repr(one.name) for one in children[:5]) + (", …" if len(children) > 5 else "")
        what = f"{len(children)} {'category' if len(children) == 1 else 'categories'} ({names})"
        raise CategoryInUse(name=node.name, what=what)
    if chunks:
        raise CategoryInUse(name=node.name, what=f"{chunks} {'chunk' if chunks == 1 else 'chunks'}")
    draft.close(node)


def _refile_many(draft: EditDraft, edit: Edit) -> None:
    leaf, filed = draft.node(edit.other), draft.standing.filed
    if leaf.level != draft.standing.depth:
        raise NotALeaf(name=leaf.name, level=leaf.level, depth=draft.standing.depth)
    unknown = [chunk for chunk in edit.chosen if chunk not in filed]
    if unknown:
        raise ChunkNotFound(chunk_id=unknown[0])
    moving = [(chunk, filed[chunk]) for chunk in edit.chosen if filed[chunk] != leaf.id]
    if not moving:
        problem = f"all of them are filed in {leaf.name!r} already" if edit.chosen else "no chunk was chosen"
        raise NothingChanges(problem=problem)
    draft.refile(moving, leaf.id, reviewed=True)


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
    snapshot = plan.drawing.standing
    made = next((step.node for step in plan.steps if isinstance(step, CreateCategory)), None)
    new = (*snapshot.path(made.parent_id), made.name) if made else ()
    going = Counter((step.was, step.leaf) for step in plan.steps if isinstance(step, RefileChunk))
    merged = {step.node.id for step in plan.steps if isinstance(step, ChangeCategory) and step.merged_into is not None}
    sentences = (_say(step, snapshot, going, merged, new) for step in plan.steps)
    return tuple(dict.fromkeys(one for one in sentences if one))


def _say(step: Step, snapshot: EditSnapshot, going: Counter[tuple[int, int]], merged: set[int], new: Path) -> str:
    def told(category_id: int) -> str:
        return _path(new if category_id == NEW else snapshot.path(category_id))

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
    chunks = _carried(snapshot, {step.node.id})
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


def _carried(snapshot: EditSnapshot, category_ids: set[int]) -> int:
    every = {category_id for number in category_ids for category_id in snapshot.below(number)}
    return sum(snapshot.counts.get(category_id, 0) for category_id in every)


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
    edit_plan = plan(edit, load(tx, edit), limits)
    if edit_plan.obstacles:
        raise edit_plan.obstacles[0]
    count = sum(isinstance(step, CreateCategory) for step in edit_plan.steps)
    new = ids.reserve(tx, "category", count) if count else NEW
    digests = _payloads(tx, edit_plan)
    action = OpenAction(tx, verb=edit.verb, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason, edit=edit.told())
    writer = _EditWriter(tx, action, new, actor)
    for kind, steps in groupby(zip(edit_plan.steps, digests, strict=True), key=lambda pair: type(pair[0])):
        writer.take(kind, list(steps))
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
            categories.make(self._tx, self._action, self._new, parent, node.level, node.name, payload=payload)
        elif isinstance(step, CloseCategory):
            categories.close(self._tx, self._action, node.id, payload=payload)
        else:
            into = step.merged_into
            categories.change(self._tx, self._action, _kind(step), node.id, parent, node.name, merged_into=into, payload=payload)

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


def _payloads(tx: Tx, edit_plan: EditPlan) -> list[str]:
    """Store a payload per step; chunks that move the same way share one."""
    snapshot = edit_plan.drawing.standing
    bodies: dict[object, dict[str, Any]] = {}
    keys: list[object] = []
    for at, step in enumerate(edit_plan.steps):
        keys.append((step.was, step.leaf) if isinstance(step, RefileChunk) else at)
        if keys[-1] not in bodies:
            bodies[keys[-1]] = _before_after(step, snapshot, edit_plan)
    digests = dict(zip(bodies, payloads.put(tx, list(bodies.values())), strict=True))
    return [digests[key] for key in keys]


def _before_after(step: Step, snapshot: EditSnapshot, edit_plan: EditPlan) -> dict[str, Any]:
    """Return the paths by name before and after the step."""
    before: Path | None
    after: Path | None
    match step:
        case CreateCategory():
            before, after = None, edit_plan.drawing.path(step.node.id)
        case RefileChunk():
            before, after = snapshot.path(step.was), edit_plan.drawing.path(step.leaf)
        case ChangeCategory(merged_into=None):
            before, after = snapshot.path(step.node.id), edit_plan.drawing.path(step.node.id)
        case ChangeCategory(merged_into=into):
            before, after = snapshot.path(step.node.id), edit_plan.drawing.path(into or step.node.id)
        case CloseCategory():
            before, after = snapshot.path(step.node.id), None
    return {"before": _names(before), "after": _names(after)}


def _names(path: Path | None) -> list[str] | None:
    return None if path is None else list(path)
