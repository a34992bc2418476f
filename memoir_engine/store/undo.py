"""Undo: the inverses of an action, appended, if everything it touched still stands as it left it.

Invariant: nothing is taken away; undo is an action and can be undone. When something later stands on the action, or the
place it came from is taken, nothing happens and the preview says what to do first.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import insert, select

from memoir_engine.errors import UndoBlocked
from memoir_engine.results import Action, UndoPreview
from memoir_engine.run import Clock
from memoir_engine.store import chain, filings, helpers, ids, orphans
from memoir_engine.store import tables as t
from memoir_engine.store.canon import seal
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.inverses import Inverse, Step, inverse_of
from memoir_engine.store.types import FAR, Tx

Limits = Callable[[int], int]


@dataclass
class _Plan:
    steps: list[Step] = field(default_factory=list)
    blocked_by: list[str] = field(default_factory=list)
    clash: str | None = None


def preview(tx: Tx, action_id: str, *, limits: Limits) -> UndoPreview:
    """What undoing would change, and what stands in its way. Raises ActionNotFound."""
    plan = _plan(tx, chain.get(tx, action_id), limits)
    possible = not plan.blocked_by and plan.clash is None
    changes = tuple(step.says for step in plan.steps)
    return UndoPreview(action_id, possible, changes, tuple(plan.blocked_by), plan.clash)


def undo(
    tx: Tx,
    action_id: str,
    *,
    actor: str,
    reason: str | None,
    limits: Limits,
    clock: Clock,
    undo_id: str | None = None,
) -> Action:
    """Append the inverses of an action. With an `undo_id` of the caller it happens once.

    Raises ActionNotFound, UndoBlocked.
    """
    ids.lock_tree(tx)
    if undo_id is not None and chain.exists(tx, undo_id):
        return chain.get(tx, undo_id)
    done = chain.get(tx, action_id)
    plan = _plan(tx, done, limits)
    _refuse(action_id, plan)
    action = OpenAction(tx, verb="undo", actor=actor, clock=clock, action_id=undo_id)
    action.describe(reason=reason, undoes=action_id)
    emptied: set[int] = set()
    for step in plan.steps:
        emptied |= _take(tx, action, step)
    orphans.close(tx, action, emptied)
    action.seal()
    return chain.get(tx, action.id)


def _plan(tx: Tx, done: Action, limits: Limits) -> _Plan:
    plan = _Plan()
    if done.undone_by:
        plan.blocked_by.append(done.undone_by)
        plan.clash = "it has been undone already"
        return plan
    inverse = Inverse(tx, done, limits)
    for event in reversed(done.events):
        found = inverse_of(inverse, event)
        plan.steps += found.steps
        plan.blocked_by += [one for one in found.blocked_by if one not in plan.blocked_by]
        plan.clash = plan.clash or found.clash
    if not plan.steps and not plan.blocked_by and plan.clash is None:
        plan.clash = "it changed nothing that could be undone"
    return plan


def _refuse(action_id: str, plan: _Plan) -> None:
    if plan.clash:
        advice = "Undo what took its place first, or leave it as it is."
        raise UndoBlocked(action_id=action_id, problem=plan.clash, advice=advice)
    if plan.blocked_by:
        problem = f"{len(plan.blocked_by)} later actions stand on it"
        raise UndoBlocked(action_id=action_id, problem=problem, advice=f"Undo first: {', '.join(plan.blocked_by)}.")


def _take(tx: Tx, action: OpenAction, step: Step) -> set[int]:
    """Do one step; the categories it may have emptied."""
    if step.kind == "withdraw":
        return set(filings.withdraw_source(tx, action, step.number, by=step.other))
    if step.kind == "restore":
        filings.restore_source(tx, action, step.number, step.seq, by=step.other)
        return set()
    if step.kind == "helper":
        helpers.put_back(tx, action, step.number, step.other)
        return set()
    if step.kind == "reopen":
        _reopen(tx, action, step)
        return set()
    if step.kind == "empty":
        return {step.number}
    return _refile_back(tx, action, step)


def _reopen(tx: Tx, action: OpenAction, step: Step) -> None:
    """The version that was closed at `seq`, again."""
    c = t.category_version.c
    old = tx.execute(select(t.category_version).where(c.category_id == step.number, c.to_seq == step.seq)).one()
    row = seal(t.category_version, [{**old._mapping, "from_seq": action.next_seq, "to_seq": FAR}])[0]
    action.add("category.reopened", category=step.number, closed=step.seq, parent=row["parent_key"], digest=row["digest"])
    tx.execute(insert(t.category_version), [row])


def _refile_back(tx: Tx, action: OpenAction, step: Step) -> set[int]:
    """The filing that was closed at `seq`, again, with its decision and its review."""
    c = t.filing.c
    now = tx.execute(select(t.filing).where(c.chunk_id == step.number, c.to_seq == FAR)).one()
    before = tx.execute(select(t.filing).where(c.chunk_id == step.number, c.to_seq == step.seq)).one()
    reviewed = (before.reviewed_by, before.reviewed_seq)
    filings.move(tx, action, now, before.category_id, decision=before.decision_id, reviewed=reviewed)
    return {now.category_id}
