"""An edit of the tree as one action in one transaction, and its preview.

Invariant: what is written is what the plan says, step by step, each with its event; with an obstacle nothing is. Locks in the
order of `ids`: the tree, the counter of categories, rows, the chain's head.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import select

from memoir_engine.results import Action, EditPreview, Path
from memoir_engine.run import Clock
from memoir_engine.store import chain, filings, ids, payloads, versions
from memoir_engine.store import tables as t
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.edits.asked import Edit
from memoir_engine.store.edits.drawing import NEW, Change, Close, Make, Refile, Step
from memoir_engine.store.edits.planning import EditPlan, Limits, plan
from memoir_engine.store.edits.standing import Standing, load
from memoir_engine.store.edits.words import preview_of
from memoir_engine.store.types import FAR, Tx, portions


def preview(tx: Tx, edit: Edit, *, limits: Limits) -> EditPreview:
    """What the edit would do now, and what stands in its way. Changes nothing."""
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
    """Do it. With an `action_id` of the caller it happens once.

    Raises what its preview shows: CategoryNotFound, ChunkNotFound, NotALeaf, NotInside, NameInvalid, NameTaken, LimitReached,
    WrongLevel, CategoryInUse, NothingChanges.
    """
    ids.lock_tree(tx)
    if action_id is not None and chain.exists(tx, action_id):
        return chain.get(tx, action_id)
    planned = plan(edit, load(tx, edit), limits)
    if planned.obstacles:
        raise planned.obstacles[0]
    makes = sum(isinstance(step, Make) for step in planned.steps)
    new = ids.reserve(tx, "category", makes) if makes else NEW
    told = _payloads(tx, planned)
    action = OpenAction(tx, verb=edit.verb, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason, edit=edit.told())
    writing = _Writing(tx, action, new, actor)
    for kind, steps in groupby(zip(planned.steps, told, strict=True), key=lambda pair: type(pair[0])):
        writing.take(kind, list(steps))
    action.seal()
    return chain.get(tx, action.id)


class _Writing:
    """The steps of one action. `new` is the id of the category it makes."""

    def __init__(self, tx: Tx, action: OpenAction, new: int, actor: str) -> None:
        self._tx = tx
        self._action = action
        self._new = new
        self._actor = actor

    def take(self, kind: type[Step], steps: Sequence[tuple[Any, str]]) -> None:
        if kind is Refile:
            self._refile(steps)
        for step, payload in steps if kind is not Refile else ():
            self._category(step, payload)

    def _category(self, step: Make | Change | Close, payload: str) -> None:
        node, parent = step.node, self._id(step.node.parent_id)
        if isinstance(step, Make):
            versions.make(self._tx, self._action, self._new, parent, node.level, node.name, payload=payload)
        elif isinstance(step, Close):
            versions.close(self._tx, self._action, node.id, payload=payload)
        else:
            into = step.merged_into
            versions.change(self._tx, self._action, _kind(step), node.id, parent, node.name, merged_into=into, payload=payload)

    def _refile(self, steps: Sequence[tuple[Refile, str]]) -> None:
        rows = _open_filings(self._tx, [step.chunk for step, _ in steps])
        moves = []
        for step, payload in steps:
            old = rows[step.chunk]
            reviewed = (self._actor, filings.NOW) if step.reviewed else (None, None)
            decision = None if step.reviewed else old.decision_id
            moves.append(filings.Move(old, self._id(step.leaf), decision, reviewed, payload))
        filings.move(self._tx, self._action, moves)

    def _id(self, number: int) -> int:
        return self._new if number == NEW else number


def _kind(step: Change) -> str:
    if step.merged_into is not None:
        return "category.merged"
    return "category.moved" if step.was.parent_id != step.node.parent_id else "category.renamed"


def _open_filings(tx: Tx, chunk_ids: Sequence[int]) -> dict[int, Any]:
    c = t.filing.c
    found: dict[int, Any] = {}
    for some in portions(chunk_ids):
        found |= {row.chunk_id: row for row in tx.execute(select(t.filing).where(c.to_seq == FAR, c.chunk_id.in_(some)))}
    return found


def _payloads(tx: Tx, planned: EditPlan) -> list[str]:
    """Per step its payload; chunks that go the same way share one."""
    standing = planned.drawing.standing
    bodies: dict[object, dict[str, Any]] = {}
    keys: list[object] = []
    for at, step in enumerate(planned.steps):
        keys.append((step.was, step.leaf) if isinstance(step, Refile) else at)
        if keys[-1] not in bodies:
            bodies[keys[-1]] = _before_after(step, standing, planned)
    digests = dict(zip(bodies, payloads.put(tx, list(bodies.values())), strict=True))
    return [digests[key] for key in keys]


def _before_after(step: Step, standing: Standing, planned: EditPlan) -> dict[str, Any]:
    """The paths by name, as they were and as they will be."""
    before: Path | None
    after: Path | None
    match step:
        case Make():
            before, after = None, planned.drawing.path(step.node.id)
        case Refile():
            before, after = standing.path(step.was), planned.drawing.path(step.leaf)
        case Change(merged_into=None):
            before, after = standing.path(step.node.id), planned.drawing.path(step.node.id)
        case Change(merged_into=into):
            before, after = standing.path(step.node.id), planned.drawing.path(into or step.node.id)
        case Close():
            before, after = standing.path(step.node.id), None
    return {"before": _names(before), "after": _names(after)}


def _names(path: Path | None) -> list[str] | None:
    return None if path is None else list(path)
