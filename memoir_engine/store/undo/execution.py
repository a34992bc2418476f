"""Undo: the inverses of an action, appended, if everything it touched still stands as it left it.

Invariant: nothing is taken away; undo is an action and can be undone. When something later stands on the action, or the
place it came from is taken, nothing happens and the preview says what to do first.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import select

from memoir_engine.core.errors import UndoBlocked
from memoir_engine.core.results import Action, UndoPreview
from memoir_engine.core.run import Clock
from memoir_engine.store import tables
from memoir_engine.store.chain import actions
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.dependents import verb as verb_of
from memoir_engine.store.db import ids
from memoir_engine.store.db.types import FAR, Tx, portions
from memoir_engine.store.erase.execution import VERB as ERASES
from memoir_engine.store.review import sign_offs
from memoir_engine.store.sources import helpers
from memoir_engine.store.tree import filings, versions
from memoir_engine.store.undo import fact_inverses, inverses
from memoir_engine.store.undo.inverses import inverse_of
from memoir_engine.store.undo.planner import Inverse, Step

FINAL = "a source was erased by it or since, and an erasure is final"

Limits = Callable[[int], int]


@dataclass
class _Plan:
    steps: list[Step] = field(default_factory=list)
    blocked_by: list[str] = field(default_factory=list)
    clash: str | None = None


def preview(tx: Tx, action_id: str, *, limits: Limits) -> UndoPreview:
    """What undoing would change, and what stands in its way. Raises ActionNotFound."""
    plan = _plan(tx, actions.get(tx, action_id), limits)
    possible = not plan.blocked_by and plan.clash is None
    return UndoPreview(action_id, possible, _told(plan.steps), tuple(plan.blocked_by), plan.clash)


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
    ids.reserve(tx, "fact", 0)  # who remembers meanwhile waits, and compares with what is left
    if undo_id is not None and actions.exists(tx, undo_id):
        return actions.get(tx, undo_id)
    done = actions.get(tx, action_id)
    plan = _plan(tx, done, limits)
    _refuse(action_id, plan)
    action = OpenAction(tx, verb="undo", actor=actor, clock=clock, action_id=undo_id)
    action.describe(reason=reason, undoes=action_id)
    emptied: set[int] = set()
    for kind, steps in groupby(plan.steps, key=attrgetter("kind")):
        if kind == "refile":
            emptied |= _refile_back(tx, action, tuple(steps))
        else:
            for step in steps:
                emptied |= _take(tx, action, step)
    filings.close_categories_after_undo(tx, action, done, emptied)
    action.seal()
    return actions.get(tx, action.id)


def _plan(tx: Tx, done: Action, limits: Limits) -> _Plan:
    plan = _Plan()
    if done.undone_by:
        plan.blocked_by.append(done.undone_by)
        plan.clash = "it has been undone already"
        return plan
    inverse = Inverse(tx, done, limits)
    for kind, events in groupby(reversed(done.events), key=attrgetter("kind")):
        found = inverse_of(inverse, kind, tuple(events))
        plan.steps += found.steps
        plan.blocked_by += [one for one in found.blocked_by if one not in plan.blocked_by]
        plan.clash = plan.clash or found.clash
    if done.verb == ERASES or any(verb_of(tx, one) == ERASES for one in plan.blocked_by):
        plan.clash = FINAL
    if not plan.steps and not plan.blocked_by and plan.clash is None:
        plan.clash = "it changed nothing that could be undone"
    return plan


def _refuse(action_id: str, plan: _Plan) -> None:
    if plan.clash == FINAL:
        raise UndoBlocked(action_id=action_id, problem=FINAL, advice="What was erased cannot come back.")
    if plan.clash:
        advice = "Undo what took its place first, or leave it as it is."
        raise UndoBlocked(action_id=action_id, problem=plan.clash, advice=advice)
    if plan.blocked_by:
        problem = f"{len(plan.blocked_by)} later actions stand on it"
        raise UndoBlocked(action_id=action_id, problem=problem, advice=f"Undo first: {', '.join(plan.blocked_by)}.")


def _told(steps: Sequence[Step]) -> tuple[str, ...]:
    """In words; what many chunks do is said once."""
    back = Counter(step.other for step in steps if step.kind == "refile")
    told: dict[str, None] = {}
    for step in steps:
        together = step.kind == "refile" and back[step.other] > 1
        where = step.says.partition(" goes back to ")[2]
        told[f"{back[step.other]} chunks go back to {where}" if together else step.says] = None
    return tuple(told)


def _take(tx: Tx, action: OpenAction, step: Step) -> set[int]:
    """Do one step; the categories it may have emptied."""
    if step.kind == "withdraw":
        return set(filings.withdraw_source(tx, action, step.number, by=step.other))
    if step.kind == "restore":
        filings.restore_source(tx, action, step.number, step.seq, by=step.other)
        return set()
    if step.kind == "helper":
        helpers.put_in_force(tx, action, step.number, step.other)
        return set()
    if step.kind in ("review", "reject", "return"):
        return inverses.take(tx, action, step)
    if step.kind in ("unsign", "resign"):
        (sign_offs.withdraw if step.kind == "unsign" else sign_offs.restore)(tx, action, step.seq)
        return set()
    if step.kind == "fact":
        fact_inverses.take(tx, action, step)
        return set()
    if step.kind == "reopen":
        versions.reopen(tx, action, step.number, step.seq)
        return set()
    if step.kind == "close":
        return {versions.close(tx, action, step.number)}
    if step.kind == "version":
        return {step.number, versions.restore(tx, action, step.number, step.seq)}
    return {step.number}


def _refile_back(tx: Tx, action: OpenAction, steps: Sequence[Step]) -> set[int]:
    """The filings that were closed at these steps' seqs, again, each with its decision and its review."""
    c = tables.filing.c
    now: dict[int, Any] = {}
    before: dict[tuple[int, int], Any] = {}
    for some in portions(steps):
        chunks = [step.number for step in some]
        now |= {row.chunk_id: row for row in tx.execute(select(tables.filing).where(c.chunk_id.in_(chunks), c.to_seq == FAR))}
        ended = tx.execute(select(tables.filing).where(c.to_seq.in_([step.seq for step in some]))).all()
        before |= {(row.chunk_id, row.to_seq): row for row in ended}
    moves = []
    for step in steps:
        old = before[step.number, step.seq]
        reviewed = (old.reviewed_by, old.reviewed_seq)
        moves.append(filings.FilingMove(now[step.number], old.category_id, old.decision_id, reviewed, verdict=old.verdict))
    filings.move(tx, action, moves)
    return {row.category_id for row in now.values()}
