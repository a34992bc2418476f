"""Decisions of people about facts: restore an outdated one, approve or reject a proposal.

Invariant: each is one action, once per action id, and can be undone. A proposal is settled only while all its facts are active.
Source: TIMEM "Supports Reversion"; DESIGN §6.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import select

from memoir_engine.core.errors import ActionNotFound, FactNotFound, FactNotOutdated, ProposalNotFound
from memoir_engine.core.results import Action
from memoir_engine.core.run import Clock
from memoir_engine.store import tables
from memoir_engine.store.chain import actions, payloads
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import parse
from memoir_engine.store.db import ids
from memoir_engine.store.db.types import FAR, Tx, portions
from memoir_engine.store.facts import facts, rows
from memoir_engine.store.facts.facts import OwnerFilter
from memoir_engine.store.facts.rows import ACTIVE, OUTDATED, FactState, NewFact, NewOrigin, ProposalState

REVIEWED = "fact.reviewed"  # event of a verdict that changes no row
APPROVED = "approved"
REJECTED = "rejected"


def restore(
    tx: Tx, owner_filter: OwnerFilter, uid: str, *, actor: str, reason: str | None, clock: Clock, action_id: str
) -> Action:
    """Make an outdated fact active again, beside its successor. Raises FactNotFound, FactNotOutdated."""
    ids.reserve(tx, "fact", 0)
    if actions.exists(tx, action_id):
        return actions.get(tx, action_id)
    number = facts.number_of(tx, owner_filter, uid)
    row = open_state(tx, number)
    if row is None:
        raise FactNotFound(fact_id=uid)
    if row.status == ACTIVE:
        raise FactNotOutdated(fact_id=uid)
    action = OpenAction(tx, verb="restore_fact", actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    rows.set_state(tx, action, "fact.restored", number, FactState())
    action.seal()
    return actions.get(tx, action.id)


def approve(
    tx: Tx, owner_filter: OwnerFilter, number: int, *, actor: str, reason: str | None, clock: Clock, action_id: str
) -> Action:
    """Carry out a proposal. Raises ProposalNotFound, also if one of its facts is no longer active."""
    first = ids.reserve(tx, "fact", 1)
    if actions.exists(tx, action_id):
        return actions.get(tx, action_id)
    row = _open(tx, owner_filter, number)
    proposal = ProposalState.of(row)
    states = {one: open_state(tx, one) for one in (proposal.new_id, *proposal.old_ids)}
    if any(one is None or one.status != ACTIVE for one in states.values()):
        raise ProposalNotFound(proposal_id=number)
    action = OpenAction(tx, verb="approve_fact", actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    rows.set_proposal(tx, action, "fact.settled", number, row.owner, replace(proposal, outcome=APPROVED), row.run_id)
    _done(tx, action, row, proposal, first)
    action.seal()
    return actions.get(tx, action.id)


def reject(
    tx: Tx, owner_filter: OwnerFilter, number: int, *, actor: str, reason: str | None, clock: Clock, action_id: str
) -> Action:
    """Settle the proposal and keep all facts. Raises ProposalNotFound."""
    ids.reserve(tx, "fact", 0)
    if actions.exists(tx, action_id):
        return actions.get(tx, action_id)
    row = _open(tx, owner_filter, number)
    action = OpenAction(tx, verb="reject_fact", actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    proposal = replace(ProposalState.of(row), outcome=REJECTED)
    rows.set_proposal(tx, action, "fact.settled", number, row.owner, proposal, row.run_id)
    action.seal()
    return actions.get(tx, action.id)


def check_owner(tx: Tx, owner_filter: OwnerFilter, action_id: str) -> None:
    """Raise ActionNotFound for an action on another owner's facts."""
    c, f, p = tables.audit_event.c, tables.fact.c, tables.fact_proposal.c
    if owner_filter is facts.ANY_OWNER:
        return
    rows = tx.execute(select(c.body).where(c.action_id == action_id, c.kind.like("fact.%"))).scalars()
    bodies = [parse(body) for body in rows]
    numbers = {one for body in bodies for one in (body.get("fact"), body.get("source")) if one is not None}
    proposals = {body["proposal"] for body in bodies if "proposal" in body}
    for some in portions(sorted(numbers)):
        if tx.execute(select(f.id).where(f.id.in_(some), f.owner != owner_filter).limit(1)).first():
            raise ActionNotFound(action_id=action_id)
    if tx.execute(select(p.id).where(p.id.in_(proposals), p.owner != owner_filter).limit(1)).first():
        raise ActionNotFound(action_id=action_id)


def open_state(tx: Tx, number: int) -> Any | None:
    """Return a fact's current state row, or None if the fact was withdrawn."""
    c = tables.fact_status.c
    return tx.execute(select(tables.fact_status).where(c.fact_id == number, c.to_seq == FAR)).one_or_none()


def _open(tx: Tx, owner_filter: OwnerFilter, number: int) -> Any:
    p = tables.fact_proposal.c
    wanted = select(tables.fact_proposal).where(
        p.id == number, p.to_seq == FAR, p.outcome.is_(None), *facts.owned_by(p.owner, owner_filter)
    )
    row = tx.execute(wanted).one_or_none()
    if row is None:
        raise ProposalNotFound(proposal_id=number)
    return row


def _done(tx: Tx, action: OpenAction, row: Any, proposal: ProposalState, free: int) -> None:
    """Apply an approved proposal. free: a number for the merged fact."""
    reasons = payloads.get(tx, [proposal.paper]).get(proposal.paper, {})
    reason = rows.put_words(tx, reason=reasons.get("reason"))
    new = _fact(tx, proposal.new_id)
    if proposal.cause == "duplicate":
        known = proposal.old_ids[0]
        rows.see(tx, action, known, _origins(tx, proposal.new_id))
        rows.set_state(tx, action, "fact.outdated", proposal.new_id, FactState(OUTDATED, "merged", known, None, reason))
        return
    if proposal.cause == "merged":
        together = (proposal.new_id, *proposal.old_ids)
        rows.record(tx, action, row.owner, new.user_id, [_fuller(tx, new, together, reasons["merged"], free)], row.run_id)
        for number in together:
            rows.set_state(tx, action, "fact.outdated", number, FactState(OUTDATED, "merged", free, None, reason))
        return
    for number in proposal.old_ids:
        standing = FactState(OUTDATED, proposal.cause, proposal.new_id, _ended(new, _fact(tx, number), action.at), reason)
        rows.set_state(tx, action, "fact.outdated", number, standing)


def _ended(new: Any, old: Any, at: datetime) -> datetime:
    """Return when the old fact stopped being true: the new one began or was said, else now; never before the old was said."""
    began = old.valid_from or old.said_at
    known = [one for one in (new.valid_from, new.said_at) if one is not None]
    if began is None or not known:
        return known[0] if known else at
    return next((one for one in known if one >= began), at if old.said_at is None or known[-1] < old.said_at else known[-1])


def _fuller(tx: Tx, new: Any, together: tuple[int, ...], content: str, number: int) -> NewFact:
    origins = (origin for one in together for origin in _origins(tx, one))
    return NewFact(
        number=number,
        uid=str(uuid4()),
        type=new.type,
        content=content,
        subject=new.subject,
        entities=tuple(dict.fromkeys(name for one in together for name in parse(_fact(tx, one).entities))),
        confidence=max((stated for one in together if (stated := _fact(tx, one).confidence) is not None), default=None),
        valid_from=new.valid_from,
        from_precision=new.from_precision,
        valid_to=new.valid_to,
        to_precision=new.to_precision,
        said_at=new.said_at,
        origins=tuple(dict.fromkeys(origins)),
    )


def _fact(tx: Tx, number: int) -> Any:
    return tx.execute(select(tables.fact).where(tables.fact.c.id == number)).one()


def _origins(tx: Tx, number: int) -> list[NewOrigin]:
    o = tables.fact_origin.c
    rows = tx.execute(select(tables.fact_origin).where(o.fact_id == number, o.to_seq == FAR).order_by(o.n)).all()
    return [NewOrigin(**{name: getattr(row, name) for name in NewOrigin.__dataclass_fields__}) for row in rows]
