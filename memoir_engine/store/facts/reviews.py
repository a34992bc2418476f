"""Review of facts: items to judge, and verdicts written as actions.

Invariant: an item is one state of a fact, or one open proposal; what a person decided by another verb needs no review. Approving
or skipping a state is an event that changes no row; the last one holds. A state brought back by an undo is the same item as
before, so its verdict holds again.
Source: DESIGN §6; TIMEM "Supports Reversion".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import select

from memoir_engine.core.errors import InvalidSetting, NothingChanges, ReviewItemNotFound, ReviewOvertaken
from memoir_engine.core.results import Action
from memoir_engine.core.results.review import FactKey, FactReviewItem, FactReviewKind, HeldFact, ReviewState, RiskReason, Verdict
from memoir_engine.core.run import Clock
from memoir_engine.store import tables
from memoir_engine.store.chain import actions
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import parse
from memoir_engine.store.db import ids
from memoir_engine.store.db.types import FAR, Tx, portions
from memoir_engine.store.facts import actions as facts_actions
from memoir_engine.store.facts import facts, rows
from memoir_engine.store.facts.actions import REVIEWED
from memoir_engine.store.facts.facts import OwnerFilter
from memoir_engine.store.facts.rows import ACTIVE, OUTDATED, FactState


class LastVerdict(NamedTuple):
    """A verdict in force, by whom and at which event."""

    state: ReviewState
    by: str
    seq: int


class VerdictEvent(NamedTuple):
    seq: int
    verdict: ReviewState | None  # None: it was taken back


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


def review_items(tx: Tx, whose: OwnerFilter, kind: FactReviewKind | None = None) -> list[HeldFact]:
    """Return all items, or those of one kind, in no order."""
    given = last_verdicts(tx)
    found = [] if kind in ("supersession", "fact") else list(_proposed(tx, whose, given))
    if kind == "proposal":
        return found
    asked = {one.number for one in _asked_about(tx, whose)}
    standing = (one for one in _standing(tx, whose, given) if one.key.number not in asked)
    return found + [one for one in standing if kind in (None, one.kind)]


def get_item(tx: Tx, whose: OwnerFilter, key: FactKey) -> HeldFact | None:
    """Return the item of a fact or proposal as it is now, perhaps since another seq."""
    said = last_verdicts(tx)
    find = _proposed if key.thing == "proposal" else _standing
    found = find(tx, whose, said, key.number)
    return next(iter(found), None)


def item_views(tx: Tx, whose: OwnerFilter, wanted: list[HeldFact]) -> tuple[FactReviewItem, ...]:
    """Return items with their facts, in order."""
    numbers = [one.key.number for one in wanted if one.key.thing == "proposal"]
    proposals = {one.id: one for one in facts.proposals(tx, whose, state=None, numbers=numbers, limit=len(numbers) or 1)}
    known = facts.by_number(tx, whose, [one.key.number for one in wanted if one.key.thing == "fact"])
    later = _successors(tx, whose, [one for one in known.values() if one.superseded_by])
    times = {seq: at for seq, (at, _) in facts.events(tx, [one.at_seq for one in wanted if one.at_seq]).items()}
    found = []
    for each in wanted:
        proposal = proposals.get(each.key.number) if each.key.thing == "proposal" else None
        fact = proposal.new if proposal else known.get(each.key.number)
        if fact is None:
            continue
        others = proposal.old if proposal else tuple(later[one] for one in (fact.superseded_by,) if one in later)
        found.append(
            FactReviewItem(
                key=str(each.key),
                kind=each.kind,
                user_id=fact.user_id,
                state=each.state,
                reasons=tuple(_reasons(each, proposal.doubt if proposal else fact.cause)),
                fact=fact,
                others=others,
                proposal=proposal,
                reviewer=each.reviewer,
                reviewed_at=times.get(each.at_seq or 0),
            )
        )
    return tuple(found)


def perform(tx: Tx, whose: OwnerFilter, asked: FactDecision, *, actor: str, clock: Clock, action_id: str) -> Action:
    """Carry out a decision, once per action id. Raises ReviewItemNotFound, ReviewOvertaken, NothingChanges."""
    ids.reserve(tx, "fact", 0)
    if actions.exists(tx, action_id):
        return actions.get(tx, action_id)
    now = check(tx, whose, asked, actor=actor)
    more: dict[str, Any] = {"actor": actor, "reason": asked.reason, "clock": clock, "action_id": action_id}
    if asked.key.thing == "proposal" and asked.verdict != "skip":
        settle = facts_actions.approve if asked.verdict == "approve" else facts_actions.reject
        return settle(tx, whose, asked.key.number, **more)
    if asked.verdict == "reject":
        return _refuse(tx, now, **more)
    return _say(tx, asked, now, **more)


def done_before(tx: Tx, asked: FactDecision, *, actor: str, action_id: str) -> bool:
    """Return True if this action is this verdict already. Raises InvalidSetting if the id did something else."""
    if not actions.exists(tx, action_id):
        return False
    found = actions.get(tx, action_id)
    about = {event.body.get(asked.key.thing) for event in found.events}
    if found.actor == actor and found.verb in _verbs(asked) and asked.key.number in about:
        return True
    problem = "something else was done with this id already"
    raise InvalidSetting(name="step_id", value=action_id, problem=problem, advice="Give each step an id of its own.")


def check(tx: Tx, whose: OwnerFilter, asked: FactDecision, *, actor: str) -> HeldFact:
    """Return the item if it may be decided so. Raises what `perform` does."""
    now = get_item(tx, whose, asked.key)
    if now is None:
        raise ReviewItemNotFound(key=str(asked.key))
    decided = now.state in ("approved", "rejected")
    if now.key != asked.key or (decided and asked.seen != now.state and now.reviewer != actor):
        raise ReviewOvertaken(key=str(asked.key), by=now.reviewer or "the model", what=now.state)
    if SAID[asked.verdict] == now.state or (now.key.thing == "proposal" and decided):
        raise NothingChanges(problem=f"it is {now.state} already")
    if asked.verdict == "reject" and now.state == "rejected":
        raise NothingChanges(problem="it is rejected already")
    return now


def as_it_stands(tx: Tx, whose: OwnerFilter, asked: FactDecision) -> FactDecision:
    """Return the decision with the present state as seen, for a reviewer who overrides it."""
    now = get_item(tx, whose, asked.key)
    return asked if now is None else replace(asked, seen=now.state)


def _refuse(tx: Tx, now: HeldFact, *, actor: str, reason: str | None, clock: Clock, action_id: str) -> Action:
    """Outdate a rejected fact; for a rejected supersession, restore the older fact."""
    gave_way = now.kind == "supersession"
    action = OpenAction(tx, verb="restore_fact" if gave_way else "withdraw_fact", actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    if gave_way:
        rows.set_state(tx, action, "fact.restored", now.key.number, FactState())
    else:
        paper = rows.put_words(tx, reason=reason) if reason else None
        rows.set_state(tx, action, "fact.outdated", now.key.number, FactState(OUTDATED, "person", None, None, paper))
    action.seal()
    return actions.get(tx, action.id)


def _say(tx: Tx, asked: FactDecision, now: HeldFact, *, actor: str, reason: str | None, clock: Clock, action_id: str) -> Action:
    verb = "confirm_fact" if asked.verdict == "approve" else "skip_fact"
    action = OpenAction(tx, verb=verb, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    was = last_verdicts(tx).get(asked.key)
    about: dict[str, Any] = {asked.key.thing: asked.key.number}
    action.add(REVIEWED, **about, since=asked.key.since, verdict=SAID[asked.verdict], was=was.state if was else None)
    action.seal()
    return actions.get(tx, action.id)


def _verbs(asked: FactDecision) -> tuple[str, ...]:
    if asked.verdict == "skip":
        return ("skip_fact",)
    if asked.key.thing == "proposal":
        return ("approve_fact",) if asked.verdict == "approve" else ("reject_fact",)
    return ("confirm_fact",) if asked.verdict == "approve" else ("withdraw_fact", "restore_fact")


def _proposed(tx: Tx, whose: OwnerFilter, given: dict[FactKey, LastVerdict], number: int | None = None) -> Iterator[HeldFact]:
    """Yield open proposals that can be settled, and settled ones."""
    p, e, a = tables.fact_proposal.c, tables.audit_event.c, tables.action.c
    wanted = select(p.id, p.from_seq, p.outcome, p.new_id, p.old_ids, a.verb, a.actor, a.undoes, e.body)
    wanted = wanted.join(tables.audit_event, e.seq == p.from_seq).join(tables.action, a.id == e.action_id)
    wanted = wanted.where(p.to_seq == FAR, *facts.owned_by(p.owner, whose)).order_by(p.id)
    rows = tx.execute(wanted if number is None else wanted.where(p.id == number)).all()
    active = _active(tx, {one for row in rows if row.outcome is None for one in (row.new_id, *parse(row.old_ids))})
    made = status_events(tx, rows)
    for row in rows:
        (since, _, actor), state = made[row.from_seq], SETTLED[row.outcome]
        key = FactKey("proposal", row.id, since)
        if row.outcome is None and not {row.new_id, *parse(row.old_ids)} <= active:
            continue
        said = given.get(key)
        by, at = (actor, since) if row.outcome else (said.by, said.seq) if said else (None, None)
        yield HeldFact(key, "proposal", said.state if said and row.outcome is None else state, True, None, by, at)


def _active(tx: Tx, numbers: set[int]) -> set[int]:
    s = tables.fact_status.c
    wanted = select(s.fact_id).where(s.to_seq == FAR, s.status == ACTIVE)
    return {one for some in portions(sorted(numbers)) for one in tx.execute(wanted.where(s.fact_id.in_(some))).scalars()}


def _asked_about(tx: Tx, whose: OwnerFilter) -> Iterator[FactKey]:
    """Yield facts that an open proposal would keep: they are judged with it."""
    p = tables.fact_proposal.c
    wanted = select(p.new_id).where(p.to_seq == FAR, p.outcome.is_(None), *facts.owned_by(p.owner, whose))
    return (FactKey("fact", number, 0) for number in tx.execute(wanted).scalars())


def _standing(tx: Tx, whose: OwnerFilter, given: dict[FactKey, LastVerdict], number: int | None = None) -> Iterator[HeldFact]:
    s, f, e, a, o = tables.fact_status.c, tables.fact.c, tables.audit_event.c, tables.action.c, tables.fact_origin.c
    wanted = select(s.fact_id, s.from_seq, s.status, s.cause, f.confidence, a.verb, a.actor, a.undoes, e.body)
    wanted = wanted.join(tables.fact, f.id == s.fact_id)
    wanted = wanted.join(tables.audit_event, e.seq == s.from_seq).join(tables.action, a.id == e.action_id)
    wanted = wanted.where(s.to_seq == FAR, *facts.owned_by(s.owner, whose))
    quoted = select(o.fact_id).join(tables.fact, f.id == o.fact_id).where(o.to_seq == FAR, o.start.is_not(None)).distinct()
    quoted = quoted.where(*facts.owned_by(f.owner, whose))
    if number is not None:
        wanted, quoted = wanted.where(s.fact_id == number), quoted.where(o.fact_id == number)
    supported = set(tx.execute(quoted).scalars())
    rows = tx.execute(wanted).all()
    made = status_events(tx, rows)
    for row in rows:
        since, verb, actor = made[row.from_seq]
        key = FactKey("fact", row.fact_id, since)
        kind: FactReviewKind = "supersession" if row.status == OUTDATED and row.cause != "person" else "fact"
        said = given.get(key)
        decided = DECIDED.get(verb)
        state = said.state if said else decided or ("rejected" if row.status != ACTIVE and kind == "fact" else "unreviewed")
        by, at = (said.by, said.seq) if said else (actor, since) if state != "unreviewed" else (None, None)
        yield HeldFact(key, kind, state, row.fact_id in supported, row.confidence, by, at)


def _successors(tx: Tx, whose: OwnerFilter, outdated: list[Any]) -> dict[str | None, Any]:
    found = {one.superseded_by for one in outdated}
    numbers = [facts.number_of(tx, whose, uid) for uid in found]
    return {one.id: one for one in facts.by_number(tx, whose, numbers).values()}


def _reasons(each: HeldFact, why: str | None) -> Iterator[RiskReason]:
    if not each.supported:
        yield RiskReason(*REASONS["unsupported"], weight=0.5)
    known = REASONS.get(why or "learned", REASONS["learned"])
    yield RiskReason(*known, weight=1.0 if each.kind == "proposal" else 0.5 if each.kind == "supersession" else 0.1)
