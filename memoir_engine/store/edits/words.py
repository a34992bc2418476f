"""A planned edit as a person reads it before it is done.

Invariant: everything the plan would change is said; many chunks that go the same way are said once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memoir_engine.errors import LimitReached, NameTaken, WrongLevel
from memoir_engine.results import EditPreview, Path
from memoir_engine.store.edits.drawing import NEW, Change, Close, Make, Refile, Step
from memoir_engine.store.edits.planning import EditPlan
from memoir_engine.store.edits.standing import Standing


def preview_of(plan: EditPlan) -> EditPreview:
    obstacles = plan.obstacles
    kinds = {
        kind: tuple(one.message for one in obstacles if isinstance(one, kind)) for kind in (NameTaken, LimitReached, WrongLevel)
    }
    return EditPreview(
        verb=plan.edit.verb,
        possible=not obstacles,
        chunks_moved=_moved(plan),
        categories_changed=len({step.node.id for step in plan.steps if not isinstance(step, Refile)}),
        clashes=kinds[NameTaken],
        limit=next(iter(kinds[LimitReached]), None),
        depth=next(iter(kinds[WrongLevel]), None),
        problem=obstacles[0].message if obstacles else None,
        changes=changes(plan),
    )


def changes(plan: EditPlan) -> tuple[str, ...]:
    standing = plan.drawing.standing
    made = next((step.node for step in plan.steps if isinstance(step, Make)), None)
    new = (*standing.path(made.parent_id), made.name) if made else ()
    going = Counter((step.was, step.leaf) for step in plan.steps if isinstance(step, Refile))
    merged = {step.node.id for step in plan.steps if isinstance(step, Change) and step.merged_into is not None}
    said = (_say(step, standing, going, merged, new) for step in plan.steps)
    return tuple(dict.fromkeys(one for one in said if one))


def _say(step: Step, standing: Standing, going: Counter[tuple[int, int]], merged: set[int], new: Path) -> str:
    def told(category_id: int) -> str:
        return _path(new if category_id == NEW else standing.path(category_id))

    match step:
        case Make():
            return f"{_path(new)} is made"
        case Refile():
            chunks = going[step.was, step.leaf]
            return f"{_count(chunks, 'chunk')} {'goes' if chunks == 1 else 'go'} from {told(step.was)} to {told(step.leaf)}"
        case Close():
            return "" if step.node.id in merged else f"{told(step.node.id)} closes"
        case Change(merged_into=int(into)):
            return f"{told(step.node.id)} becomes one with {told(into)}"
        case Change() if step.was.name != step.node.name:
            return f"{told(step.node.id)} is called {step.node.name}"
    chunks = _carried(standing, {step.node.id})
    return f"{told(step.node.id)} moves below {told(step.node.parent_id)}" + (
        f" with {_count(chunks, 'chunk')}" if chunks else ""
    )


def _moved(plan: EditPlan) -> int:
    """Chunks that get another leaf, or are carried along."""
    refiled = sum(isinstance(step, Refile) for step in plan.steps)
    carried = {step.node.id for step in plan.steps if isinstance(step, Change) and step.was.parent_id != step.node.parent_id}
    return refiled + _carried(plan.drawing.standing, carried)


def _carried(standing: Standing, category_ids: set[int]) -> int:
    every = {one for number in category_ids for one in standing.below(number)}
    return sum(standing.counts.get(one, 0) for one in every)


def _path(path: Sequence[str]) -> str:
    return " › ".join(path)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
