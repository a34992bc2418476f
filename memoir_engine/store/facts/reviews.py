"""Decisions of people about facts: items to judge, verdicts, settled proposals and restored facts.

Invariant: each decision is one action, once per action id, and can be undone. A proposal is settled only while all its facts
are active. an item is one state of a fact, or one open proposal; what a person decided by another verb needs no review. Approving
or skipping a state is an event that changes no row; the last one holds. A state brought back by an undo is the same item as
before, so its verdict holds again.
Source: DESIGN §6; TIMEM "Supports Reversion".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import select

from memoir_engine.core.errors import (
    ActionNotFound,
    FactNotFound,
    FactNotOutdated,
    InvalidSetting,
    NothingChanges,
    ProposalNotFound,
    ReviewItemNotFound,
    ReviewOvertaken,
)
from memoir_engine.core.results import Action
from memoir_engine.core.results.review import FactKey, FactReviewItem, FactReviewKind, HeldFact, ReviewState, RiskReason, Verdict
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


class LastVerdict(NamedTuple):
    """A verdict in force, by whom and at which event."""

    state: ReviewState
    by: str
    seq: int


class VerdictEvent(NamedTuple):
    seq: int
    verdict: ReviewState | None  # None: withdrawn


def last_verdicts(tx: Tx) -> dict[FactKey, LastVerdict]:
    """Return the last verdict about each item that has one."""
    found = {_key_of(body): LastVerdict(body["verdict"] or "unreviewed", actor, seq) for seq, body, actor in _said(tx)}
    return {key: one for key, one in found.items() if one.state != "unreviewed"}


def verdicts_about(tx: Tx, body: dict[str, Any]) -> list[VerdictEvent]:
    """Return all verdicts, and withdrawals of verdicts, about an event's item."""
    key = _key_of(body)
    return [VerdictEvent(seq, one["verdict"]) for seq, one, _ in _said(tx) if _key_of(one) == key]


def restore_verdict(tx: Tx, action: OpenAction, body: dict[str, Any]) -> None:
    """Restore the verdict before an event's."""
    about = {name: body[name] for name in ("fact", "proposal") if name in body}
    action.add(REVIEWED, **about, since=body["since"], verdict=body["was"], was=body["verdict"])


def status_events(tx: Tx, rows: Sequence[Any]) -> dict[int, tuple[int, str, str]]:
    """Map the seq of each state to where it first began, with verb and actor."""
    first = {row.from_seq: parse(row.body).get("again", row.from_seq) for row in rows if row.undoes}
    e, a = tables.audit_event.c, tables.action.c
    wanted = select(e.seq, a.verb, a.actor).join(tables.action, a.id == e.action_id)
    parts = portions(sorted(set(first.values())))
    known = {seq: (verb, actor) for some in parts for seq, verb, actor in tx.execute(wanted.where(e.seq.in_(some)))}
    plain = {row.from_seq: (row.from_seq, row.verb, row.actor) for row in rows if not row.undoes}
    return plain | {seq: (root, *known[root]) for seq, root in first.items()}


def _said(tx: Tx) -> Iterator[tuple[int, dict[str, Any], str]]:
    e, a = tables.audit_event.c, tables.action.c
    wanted = select(e.seq, e.body, a.actor).join(tables.action, a.id == e.action_id).where(e.kind == REVIEWED).order_by(e.seq)
    return ((row.seq, parse(row.body), row.actor) for row in tx.execute(wanted))


def _key_of(body: dict[str, Any]) -> FactKey:
    return (
        FactKey("fact", body["fact"], body["since"]) if "fact" in body else FactKey("proposal", body["proposal"], body["since"])
    )


DECIDED: dict[str, ReviewState] = {  # by verbs of people
    "approve_fact": "approved",
    "restore_fact": "approved",
    "withdraw_fact": "rejected",
}
SETTLED: dict[str | None, ReviewState] = {None: "unreviewed", "approved": "approved", "rejected": "rejected"}
SAID: dict[Verdict, ReviewState] = {"approve": "approved", "skip": "skipped", "reject": "rejected"}
REASONS = {
    "model": ("doubted", "The model was not sure that the older one gives way."),
    "second_opinion": ("doubted", "Subjects, numbers or times speak against what the model decided."),
    "update": ("update", "It changed, so the older one is outdated."),
    "conflict": ("conflict", "Both cannot be so, and the newer one was believed."),
    "merged": ("merged", "Several were put together into one fuller fact."),
    "unsupported": ("unsupported", "The words it was said to stand on are not in the message."),
    "learned": ("learned", "Nobody has looked at it yet."),
}


@dataclass(frozen=True)
class FactDecision:
    """A reviewer's decision. `seen`: the state they saw; anything decided since then wins."""

    key: FactKey
    verdict: Verdict
    reason: str | None = None
    seen: ReviewState | None = None


def review_items(tx: Tx, owner_filter: OwnerFilter, kind: FactReviewKind | None = None) -> list[HeldFact]:
    """Return all items, or those of one kind, in no order."""
    last_by_key = last_verdicts(tx)
    items = [] if kind in ("supersession", "fact") else list(_proposed(tx, owner_filter, last_by_key))
    if kind == "proposal":
        return items
    asked_about = {one.number for one in _asked_about(tx, owner_filter)}
    standing = (one for one in _standing(tx, owner_filter, last_by_key) if one.key.number not in asked_about)
    return items + [one for one in standing if kind in (None, one.kind)]


def get_item(tx: Tx, owner_filter: OwnerFilter, key: FactKey) -> HeldFact | None:
    """Return the item of a fact or proposal as it is now, perhaps since another seq."""
    last_by_key = last_verdicts(tx)
    find = _proposed if key.thing == "proposal" else _standing
    items = find(tx, owner_filter, last_by_key, key.number)
    return next(iter(items), None)


def item_views(tx: Tx, owner_filter: OwnerFilter, items: list[HeldFact]) -> tuple[FactReviewItem, ...]:
    """Return items with their facts, in order."""
    numbers = [one.key.number for one in items if one.key.thing == "proposal"]
    proposals = {one.id: one for one in facts.proposals(tx, owner_filter, state=None, numbers=numbers, limit=len(numbers) or 1)}
    facts_by_number = facts.by_number(tx, owner_filter, [one.key.number for one in items if one.key.thing == "fact"])
    successors = _successors(tx, owner_filter, [one for one in facts_by_number.values() if one.superseded_by])
    times = {seq: at for seq, (at, _) in facts.events(tx, [one.at_seq for one in items if one.at_seq]).items()}
    views = []
    for item in items:
        proposal = proposals.get(item.key.number) if item.key.thing == "proposal" else None
        fact = proposal.new if proposal else facts_by_number.get(item.key.number)
        if fact is None:
            continue
        others = proposal.old if proposal else tuple(successors[one] for one in (fact.superseded_by,) if one in successors)
        views.append(
            FactReviewItem(
                key=str(item.key),
                kind=item.kind,
                user_id=fact.user_id,
                state=item.state,
                reasons=tuple(_reasons(item, proposal.doubt if proposal else fact.cause)),
                fact=fact,
                others=others,
                proposal=proposal,
                reviewer=item.reviewer,
                reviewed_at=times.get(item.at_seq or 0),
            )
        )
    return tuple(views)


def perform(tx: Tx, owner_filter: OwnerFilter, decision: FactDecision, *, actor: str, clock: Clock, action_id: str) -> Action:
    """Carry out a decision, once per action id. Raises ReviewItemNotFound, ReviewOvertaken, NothingChanges."""
    ids.reserve(tx, "fact", 0)
    if actions.exists(tx, action_id):
        return actions.get(tx, action_id)
    item = check(tx, owner_filter, decision, actor=actor)
    options: dict[str, Any] = {"actor": actor, "reason": decision.reason, "clock": clock, "action_id": action_id}
    if decision.key.thing == "proposal" and decision.verdict != "skip":
        settle = approve if decision.verdict == "approve" else reject
        return settle(tx, owner_filter, decision.key.number, **options)
    if decision.verdict == "reject":
        return _refuse(tx, item, **options)
    return _say(tx, decision, item, **options)


def done_before(tx: Tx, decision: FactDecision, *, actor: str, action_id: str) -> bool:
    """Return True if this action is this verdict already. Raises InvalidSetting if the id did something else."""
    if not actions.exists(tx, action_id):
        return False
    action = actions.get(tx, action_id)
    about = {event.body.get(decision.key.thing) for event in action.events}
    if action.actor == actor and action.verb in _verbs(decision) and decision.key.number in about:
        return True
    problem = "something else was done with this id already"
    raise InvalidSetting(name="step_id", value=action_id, problem=problem, advice="Give each step an id of its own.")


def check(tx: Tx, owner_filter: OwnerFilter, decision: FactDecision, *, actor: str) -> HeldFact:
    """Return the item if it may be decided so. Raises what `perform` does."""
    item = get_item(tx, owner_filter, decision.key)
    if item is None:
        raise ReviewItemNotFound(key=str(decision.key))
    decided = item.state in ("approved", "rejected")
    if item.key != decision.key or (decided and decision.seen != item.state and item.reviewer != actor):
        raise ReviewOvertaken(key=str(decision.key), by=item.reviewer or "the model", what=item.state)
    if SAID[decision.verdict] == item.state or (item.key.thing == "proposal" and decided):
        raise NothingChanges(problem=f"it is {item.state} already")
    if decision.verdict == "reject" and item.state == "rejected":
        raise NothingChanges(problem="it is rejected already")
    return item


def as_it_stands(tx: Tx, owner_filter: OwnerFilter, decision: FactDecision) -> FactDecision:
    """Return the decision with the present state as seen, for a reviewer who overrides it."""
    item = get_item(tx, owner_filter, decision.key)
    return decision if item is None else replace(decision, seen=item.state)


def _refuse(tx: Tx, item: HeldFact, *, actor: str, reason: str | None, clock: Clock, action_id: str) -> Action:
    """Outdate a rejected fact; for a rejected supersession, restore the older fact."""
    gave_way = item.kind == "supersession"
    action = OpenAction(tx, verb="restore_fact" if gave_way else "withdraw_fact", actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    if gave_way:
        rows.set_state(tx, action, "fact.restored", item.key.number, FactState())
    else:
        paper = rows.put_words(tx, reason=reason) if reason else None
        rows.set_state(tx, action, "fact.outdated", item.key.number, FactState(OUTDATED, "person", None, None, paper))
    action.seal()
    return actions.get(tx, action.id)


def _say(
    tx: Tx, decision: FactDecision, item: HeldFact, *, actor: str, reason: str | None, clock: Clock, action_id: str
) -> Action:
    verb = "confirm_fact" if decision.verdict == "approve" else "skip_fact"
    action = OpenAction(tx, verb=verb, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    was = last_verdicts(tx).get(decision.key)
    about: dict[str, Any] = {decision.key.thing: decision.key.number}
    action.add(REVIEWED, **about, since=decision.key.since, verdict=SAID[decision.verdict], was=was.state if was else None)
    action.seal()
    return actions.get(tx, action.id)


def _verbs(decision: FactDecision) -> tuple[str, ...]:
    if decision.verdict == "skip":
        return ("skip_fact",)
    if decision.key.thing == "proposal":
        return ("approve_fact",) if decision.verdict == "approve" else ("reject_fact",)
    return ("confirm_fact",) if decision.verdict == "approve" else ("withdraw_fact", "restore_fact")


def _proposed(
    tx: Tx, owner_filter: OwnerFilter, last_by_key: dict[FactKey, LastVerdict], number: int | None = None
) -> Iterator[HeldFact]:
    """Yield open proposals that can be settled, and settled ones."""
    p, e, a = tables.fact_proposal.c, tables.audit_event.c, tables.action.c
    wanted = select(p.id, p.from_seq, p.outcome, p.new_id, p.old_ids, a.verb, a.actor, a.undoes, e.body)
    wanted = wanted.join(tables.audit_event, e.seq == p.from_seq).join(tables.action, a.id == e.action_id)
    wanted = wanted.where(p.to_seq == FAR, *facts.owned_by(p.owner, owner_filter)).order_by(p.id)
    rows = tx.execute(wanted if number is None else wanted.where(p.id == number)).all()
    active = _active(tx, {one for row in rows if row.outcome is None for one in (row.new_id, *parse(row.old_ids))})
    origins = status_events(tx, rows)
    for row in rows:
        (since, _, actor), state = origins[row.from_seq], SETTLED[row.outcome]
        key = FactKey("proposal", row.id, since)
        if row.outcome is None and not {row.new_id, *parse(row.old_ids)} <= active:
            continue
        verdict = last_by_key.get(key)
        by, at = (actor, since) if row.outcome else (verdict.by, verdict.seq) if verdict else (None, None)
        yield HeldFact(key, "proposal", verdict.state if verdict and row.outcome is None else state, True, None, by, at)


def _active(tx: Tx, numbers: set[int]) -> set[int]:
    s = tables.fact_status.c
    wanted = select(s.fact_id).where(s.to_seq == FAR, s.status == ACTIVE)
    return {one for some in portions(sorted(numbers)) for one in tx.execute(wanted.where(s.fact_id.in_(some))).scalars()}


def _asked_about(tx: Tx, owner_filter: OwnerFilter) -> Iterator[FactKey]:
    """Yield facts that an open proposal would keep: they are judged with it."""
    p = tables.fact_proposal.c
    wanted = select(p.new_id).where(p.to_seq == FAR, p.outcome.is_(None), *facts.owned_by(p.owner, owner_filter))
    return (FactKey("fact", number, 0) for number in tx.execute(wanted).scalars())


def _standing(
    tx: Tx, owner_filter: OwnerFilter, last_by_key: dict[FactKey, LastVerdict], number: int | None = None
) -> Iterator[HeldFact]:
    s, f, e, a, o = tables.fact_status.c, tables.fact.c, tables.audit_event.c, tables.action.c, tables.fact_origin.c
    wanted = select(s.fact_id, s.from_seq, s.status, s.cause, f.confidence, a.verb, a.actor, a.undoes, e.body)
    wanted = wanted.join(tables.fact, f.id == s.fact_id)
    wanted = wanted.join(tables.audit_event, e.seq == s.from_seq).join(tables.action, a.id == e.action_id)
    wanted = wanted.where(s.to_seq == FAR, *facts.owned_by(s.owner, owner_filter))
    with_quotes = select(o.fact_id).join(tables.fact, f.id == o.fact_id).where(o.to_seq == FAR, o.start.is_not(None)).distinct()
    with_quotes = with_quotes.where(*facts.owned_by(f.owner, owner_filter))
    if number is not None:
        wanted, with_quotes = wanted.where(s.fact_id == number), with_quotes.where(o.fact_id == number)
    supported = set(tx.execute(with_quotes).scalars())
    rows = tx.execute(wanted).all()
    origins = status_events(tx, rows)
    for row in rows:
        since, verb, actor = origins[row.from_seq]
        key = FactKey("fact", row.fact_id, since)
        kind: FactReviewKind = "supersession" if row.status == OUTDATED and row.cause != "person" else "fact"
        verdict = last_by_key.get(key)
        decided = DECIDED.get(verb)
        state = verdict.state if verdict else decided or ("rejected" if row.status != ACTIVE and kind == "fact" else "unreviewed")
        by, at = (verdict.by, verdict.seq) if verdict else (actor, since) if state != "unreviewed" else (None, None)
        yield HeldFact(key, kind, state, row.fact_id in supported, row.confidence, by, at)


def _successors(tx: Tx, owner_filter: OwnerFilter, outdated: list[Any]) -> dict[str | None, Any]:
    found = {one.superseded_by for one in outdated}
    numbers = [facts.number_of(tx, owner_filter, uid) for uid in found]
    return {one.id: one for one in facts.by_number(tx, owner_filter, numbers).values()}


def _reasons(item: HeldFact, cause: str | None) -> Iterator[RiskReason]:
    if not item.supported:
        yield RiskReason(*REASONS["unsupported"], weight=0.5)
    reason = REASONS.get(cause or "learned", REASONS["learned"])
    yield RiskReason(*reason, weight=1.0 if item.kind == "proposal" else 0.5 if item.kind == "supersession" else 0.1)


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
