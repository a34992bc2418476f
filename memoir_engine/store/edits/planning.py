"""What an edit comes to: the steps to be written, or what stands in its way. Pure.

Invariant: preview and edit come from the same plan. A plan with an obstacle is never written.
Merging never leaves a name twice: categories of the same name below the two become one, level by level.
Source: DESIGN §6; MEMOIR 2.8, 3.3–3.7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memoir_engine.errors import (
    CategoryInUse,
    ChunkNotFound,
    MemoirError,
    NotALeaf,
    NothingChanges,
    NotInside,
    WrongLevel,
)
from memoir_engine.store.edits.asked import Edit
from memoir_engine.store.edits.drawing import Drawing, Step
from memoir_engine.store.edits.standing import Standing
from memoir_engine.store.rules import check_name
from memoir_engine.store.tree import OpenCategory
from memoir_engine.store.types import ROOT

Limits = Callable[[int], int]


@dataclass(frozen=True)
class EditPlan:
    edit: Edit
    steps: tuple[Step, ...]
    obstacles: tuple[MemoirError, ...]
    drawing: Drawing


def plan(edit: Edit, standing: Standing, limits: Limits) -> EditPlan:
    drawing = Drawing(standing, limits)
    verbs: dict[str, Callable[[Drawing, Edit], None]] = {
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


def _create(drawing: Drawing, edit: Edit) -> None:
    name, level = check_name(edit.name), 1
    if edit.other != ROOT:
        parent = drawing.node(edit.other)
        level = parent.level + 1
        if parent.level >= drawing.standing.depth:
            problem, advice = "nothing can stand below the deepest level", "Choose a category above it, or file chunks in it."
            raise WrongLevel(name=parent.name, level=parent.level, problem=problem, advice=advice)
    drawing.make(edit.other, level, name)


def _rename(drawing: Drawing, edit: Edit) -> None:
    node, name = drawing.node(edit.category), check_name(edit.name)
    if name == node.name:
        raise NothingChanges(problem=f"it is called {name!r} already")
    drawing.rename(node, name)


def _move(drawing: Drawing, edit: Edit) -> None:
    node = drawing.node(edit.category)
    parent_level = 0 if edit.other == ROOT else drawing.node(edit.other).level
    if edit.other == node.parent_id:
        raise NothingChanges(problem=f"{node.name!r} is below {drawing.title(node.parent_id)!r} already")
    if parent_level != node.level - 1:
        raise _no_parent(node, drawing.title(edit.other), parent_level)
    drawing.move(node, edit.other)


def _merge(drawing: Drawing, edit: Edit) -> None:
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


def _merge_into(drawing: Drawing, node: OpenCategory, into: OpenCategory, filed: dict[int, list[int]]) -> None:
    for child in drawing.children(node.id):
        twin = drawing.named(into.id, child.name_key)
        if twin is None:
            drawing.move(child, into.id)
        else:
            _merge_into(drawing, child, twin, filed)
    drawing.refile(((chunk, node.id) for chunk in filed.get(node.id, ())), into.id, reviewed=False)
    drawing.merged(node, into.id)


def _split(drawing: Drawing, edit: Edit) -> None:
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


def _retire(drawing: Drawing, edit: Edit) -> None:
    node = drawing.node(edit.category)
    children, chunks = drawing.children(node.id), drawing.count(node.id)
    if children:
        names = ", ".join(repr(one.name) for one in children[:5]) + (", …" if len(children) > 5 else "")
        what = f"{len(children)} {'category' if len(children) == 1 else 'categories'} ({names})"
        raise CategoryInUse(name=node.name, what=what)
    if chunks:
        raise CategoryInUse(name=node.name, what=f"{chunks} {'chunk' if chunks == 1 else 'chunks'}")
    drawing.close(node)


def _refile_many(drawing: Drawing, edit: Edit) -> None:
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
