"""Sharing of answers: a remark that opens a question's answer to others, and the one that closes it again.

Invariant: of one answer one of them stands at a time, and each puts the other aside. Only its owner opens an answer.
Source: docs/decisions/0110.
"""

from __future__ import annotations

from typing import Any

from memoir_engine.core.errors import NothingChanges
from memoir_engine.core.results import Action
from memoir_engine.core.run import Clock
from memoir_engine.store.chain import actions
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.db.statements import Tx
from memoir_engine.store.ledger.sight import CLOSED, SHARED, SHARING
from memoir_engine.store.review import remarks

SAYS = {SHARED: "share_answer", CLOSED: "unshare_answer"}  # verbs


def set_to(tx: Tx, run_id: str, verdict: str, *, actor: str, clock: Clock, action_id: str) -> Action:
    """Share an answer or close it, once per action id. Raises NothingChanges."""
    remarks.hold(tx)
    if actions.exists(tx, action_id):
        return actions.get(tx, action_id)
    before = standing(tx, run_id)
    if (verdict == SHARED) == (before is not None and before.verdict == SHARED):
        raise NothingChanges(problem="the answer is shared already" if verdict == SHARED else "the answer is not shared")
    action = OpenAction(tx, verb=SAYS[verdict], actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=None, run_id=run_id)
    ends = [] if before is None else [before.number]
    remarks.make(tx, action, SHARING, run_id, author=actor, verdict=verdict, payload={}, ends=ends)
    action.seal()
    return actions.get(tx, action.id)


def standing(tx: Tx, run_id: str) -> Any | None:
    """Return the remark that stands: the answer is shared, or was closed; None where nobody ever shared it."""
    rows = remarks.about(tx, [run_id], kind=SHARING)
    return rows[0] if rows else None


def touched_by(tx: Tx, action_id: str) -> bool:
    """Tell whether an action opens or closes somebody's answer."""
    return remarks.is_about(tx, action_id, SHARING)
