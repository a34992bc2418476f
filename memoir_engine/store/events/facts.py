"""ReplayedEvent kinds of facts: their status, origins, relations, proposals and reviews, and the cuts of a conversation.

Invariant: every row hashes to its own digest and is covered by an event, alone or rolled up; every row of a status, a proposal
or a relation, open or closed, is exactly what replaying the events gives. A change of a fact can be undone while the fact is as
the change left it, also when others changed it and took that back; actions in force since are named, to be undone first. Facts
that gave way to a new one are restored before it is taken back. A forgotten fact is as its tombstone says, and final.
Source: DESIGN §6; TIMEM "Supports Reversion".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import select

from memoir_engine.core.results import AuditEvent
from memoir_engine.store import tables
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import parse
from memoir_engine.store.db.text_rules import owner_key
from memoir_engine.store.db.types import FAR, Tx
from memoir_engine.store.events.kind import Apply, Check, EventKind, Invert, each, family, ignore
from memoir_engine.store.events.projection import (
    Body,
    Problem,
    Projection,
    ReplayedEvent,
    RowEvidence,
    RowRange,
    StatusRow,
    range_problems,
    replay_differences,
)
from memoir_engine.store.events.undo_context import Inverse, UndoContext, step
from memoir_engine.store.facts import reviews, rows
from memoir_engine.store.facts.rows import FactState, ProposalState


def _recorded(state: Projection, event: ReplayedEvent) -> None:
    number = event.body["fact"]
    state.facts[number] = (event.seq, event.body["digest"])
    state.fact_states[number, event.seq] = StatusRow(FAR, tuple(event.body["status"]))
    state.origins.setdefault(number, []).append(RowRange(event.seq, *event.body["origins"]))


def _moved(state: Projection, event: ReplayedEvent) -> None:
    number, was, status = event.body["fact"], event.body["was"], event.body["status"]
    if was:
        state.fact_states[number, was] = state.fact_states[number, was]._replace(to_seq=event.seq)
    if status is not None:
        if status[4]:
            state.payloads[status[4]] = event.seq
        state.fact_states[number, event.seq] = StatusRow(FAR, tuple(status))


def _forgotten(state: Projection, event: ReplayedEvent) -> None:
    _moved(state, event)
    state.erasures[event.seq] = event.body["stones"]


def _seen(state: Projection, event: ReplayedEvent) -> None:
    state.origins[event.body["fact"]].append(RowRange(event.seq, *event.body["origins"]))


def _unseen(state: Projection, event: ReplayedEvent) -> None:
    state.unseen |= {(event.body["fact"], n): event.seq for n in event.body["ns"]}


def _seen_again(state: Projection, event: ReplayedEvent) -> None:
    for n in event.body["ns"]:
        del state.unseen[event.body["fact"], n]


def _related(state: Projection, event: ReplayedEvent) -> None:
    body = event.body
    state.relations[body["source"], body["target"], event.seq] = (FAR, body["relation"], body["confidence"], body["run"])


def _unrelated(state: Projection, event: ReplayedEvent) -> None:
    """Close an open relation; open a closed one again."""
    key = (event.body["source"], event.body["target"], event.body["since"])
    until, relation, confidence, run = state.relations[key]
    state.relations[key] = (event.seq if until == FAR else FAR, relation, confidence, run)


def _proposed(state: Projection, event: ReplayedEvent) -> None:
    number, was, row = event.body["proposal"], event.body["was"], event.body["row"]
    if was:
        state.proposals[number, was] = state.proposals[number, was]._replace(to_seq=event.seq)
    if row is not None:
        state.payloads[row[4]] = event.seq
        state.proposals[number, event.seq] = StatusRow(FAR, (*_tuples(row), event.body["run"]))


def _cuts_recorded(state: Projection, event: ReplayedEvent) -> None:
    state.cuts.append(RowRange(event.seq, event.body["first"], event.body["count"], event.body["digest"]))


def _cuts_withdrawn(state: Projection, event: ReplayedEvent) -> None:
    state.cuts_withdrawn |= dict.fromkeys(event.body["cuts"], event.seq)


def _cuts_returned(state: Projection, event: ReplayedEvent) -> None:
    for number in event.body["cuts"]:
        del state.cuts_withdrawn[number]


def _tuples(row: list[Any]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in row)


def _move_back(undo: UndoContext, event: AuditEvent) -> Inverse:
    """Give the fact the status it had before; take it back where it had none."""
    tx, number, was = undo.tx, event.body["fact"], event.body.get("was", 0)
    if tx.execute(select(tables.fact.c.id).where(tables.fact.c.id == number, rows.REMEMBERED)).first() is None:
        return Inverse(clash="it was forgotten, and that is final")
    c = tables.fact_status.c
    row = tx.execute(select(tables.fact_status).where(c.fact_id == number, c.to_seq == FAR)).one_or_none()
    expected = 0 if event.kind == "fact.withdrawn" else event.seq
    if undo.current.get(("fact", number), row.from_seq if row else 0) != expected:
        now = None if row is None else FactState.of(row).told()
        since = _bounds(tx.execute(select(c.from_seq, c.to_seq).where(c.fact_id == number)).all(), event.seq)
        if now != event.body["status"] or undo.later.in_force(since):
            return undo.changed(since)
    before = _status_at(tx, number, was)
    if before is None and event.kind != "fact.withdrawn":
        since = _seen_since(tx, number, event.seq) or _superseded(undo, number)
        if since:
            return undo.changed(since)
    undo.current["fact", number] = was

    def move_back(tx: Tx, action: OpenAction) -> None:
        if before is None:
            rows.set_state(tx, action, "fact.withdrawn", number, None)
            return
        kind = "fact.restored" if before.status == "active" else "fact.outdated"
        kind = "fact.returned" if event.kind == "fact.withdrawn" else kind
        rows.set_state(tx, action, kind, number, before, again=_first_seq(tx, was))

    return step(f"fact {number} {'is taken back' if before is None else f'is {before.status} again'}", move_back)


def _bounds(spans: Any, seq: int) -> list[int]:
    """Return the seqs later than this one at which rows begin or end."""
    return sorted({bound for span in spans for bound in span if seq < bound < FAR})


def _seen_since(tx: Tx, number: int, seq: int) -> list[int]:
    """Return where the fact was said again later: what others said stays when one statement of it goes."""
    c = tables.fact_origin.c
    query = select(c.from_seq).where(c.fact_id == number, c.from_seq > seq, c.to_seq == FAR).distinct()
    return sorted(tx.execute(query).scalars())


def _superseded(undo: UndoContext, number: int) -> list[int]:
    """Return where other facts gave way to it, but for those that this undo restores: the first statement may have come later."""
    c = tables.fact_status.c
    query = select(c.fact_id, c.from_seq).where(c.superseded_by == number, c.to_seq == FAR)
    outdated = undo.tx.execute(query).all()
    return sorted(row.from_seq for row in outdated if undo.current.get(("fact", row.fact_id), row.from_seq) == row.from_seq)


def _status_at(tx: Tx, number: int, seq: int) -> FactState | None:
    c = tables.fact_status.c
    query = select(tables.fact_status).where(c.fact_id == number, c.from_seq == seq)
    row = tx.execute(query).one_or_none() if seq else None
    return None if row is None else FactState.of(row)


def _first_seq(tx: Tx, seq: int) -> int:
    """Return the seq since which it first held: where an undo brought a status back, verdicts about the first one hold again."""
    body = tx.execute(select(tables.audit_event.c.body).where(tables.audit_event.c.seq == seq)).scalar_one()
    return int(parse(body).get("again", seq))


def _propose_back(undo: UndoContext, event: AuditEvent) -> Inverse:
    tx, number, was = undo.tx, event.body["proposal"], event.body["was"]
    c = tables.fact_proposal.c
    row = tx.execute(select(tables.fact_proposal).where(c.id == number, c.to_seq == FAR)).one_or_none()
    expected = 0 if event.kind == "fact.unproposed" else event.seq
    if undo.current.get(("proposal", number), row.from_seq if row else 0) != expected:
        since = _bounds(tx.execute(select(c.from_seq, c.to_seq).where(c.id == number)).all(), event.seq)
        now = None if row is None else ProposalState.of(row).told()
        if now != event.body["row"] or undo.later.in_force(since):
            return undo.changed(since)
    undo.current["proposal", number] = was

    def propose_back(tx: Tx, action: OpenAction) -> None:
        versions = tx.execute(select(tables.fact_proposal).where(c.id == number).order_by(c.from_seq)).all()
        before = next((row for row in versions if row.from_seq == was), None) if was else None
        kind = "fact.unproposed" if before is None else "fact.proposed" if before.outcome is None else "fact.settled"
        proposal = None if before is None else ProposalState.of(before)
        again = None if before is None else _first_seq(tx, before.from_seq)
        rows.set_proposal(tx, action, kind, number, versions[0].owner, proposal, versions[0].run_id, again=again)

    return step(f"the proposal {number} is as it was before", propose_back)


def _review_back(undo: UndoContext, event: AuditEvent) -> Inverse:
    verdicts = reviews.verdicts_about(undo.tx, event.body)
    since = [verdict.seq for verdict in verdicts if verdict.seq > event.seq]
    if since and (verdicts[-1].verdict != event.body["verdict"] or undo.later.in_force(since)):
        return undo.changed(since)
    says = "the review of a fact is as it was before"
    return step(says, lambda tx, action: reviews.restore_verdict(tx, action, event.body))


def _unsee(undo: UndoContext, event: AuditEvent) -> Inverse:
    """Take the origins back that the event added or returned; return those that it took back."""
    number, ns = event.body["fact"], _origins_of(event.body)
    c = tables.fact_origin.c
    query = select(c.to_seq).where(c.fact_id == number, c.n.in_(ns))
    blocked = _check_ends(undo, set(undo.tx.execute(query).scalars()), event, "fact.unseen")
    if event.kind == "fact.unseen":
        says = f"that fact {number} was said again holds"
        return blocked or step(says, lambda tx, action: rows.see_again(tx, action, number, ns))
    says = f"that fact {number} was said again is taken back"
    return blocked or step(says, lambda tx, action: rows.unsee(tx, action, number, ns))


def _unrelate(undo: UndoContext, event: AuditEvent) -> Inverse:
    """Close the relation that the event opened; open the one that it closed."""
    source, target = event.body["source"], event.body["target"]
    since = event.body.get("since", event.seq)
    c = tables.fact_relation.c
    query = select(c.to_seq).where((c.source_id == source) & (c.target_id == target) & (c.from_seq == since))
    until = undo.tx.execute(query).scalar_one()
    if until != (event.seq if event.kind == "fact.unrelated" else FAR):
        return undo.changed([until])
    back = rows.relate_again if event.kind == "fact.unrelated" else rows.unrelate
    return step("how facts are related is as it was before", lambda tx, action: back(tx, action, source, target, since))


def _withdraw_cuts(undo: UndoContext, event: AuditEvent) -> Inverse:
    """Withdraw the cuts that the event recorded or returned; return those that it withdrew."""
    body = event.body
    numbers = list(body["cuts"]) if "cuts" in body else list(range(body["first"], body["first"] + body["count"]))
    c = tables.cut.c
    ends = set(undo.tx.execute(select(c.to_seq).where(c.id.in_(numbers))).scalars())
    blocked = _check_ends(undo, ends, event, "cuts.withdrawn")
    if event.kind == "cuts.withdrawn":
        says = "the conversation counts as remembered again"
        return blocked or step(says, lambda tx, action: rows.return_cuts(tx, action, numbers))
    says = "the conversation counts as not remembered"
    return blocked or step(says, lambda tx, action: rows.withdraw_cuts(tx, action, numbers))


def _check_ends(undo: UndoContext, ends: set[int], event: AuditEvent, closing_kind: str) -> Inverse | None:
    """Refuse unless all rows end where the event left them: at its seq where it closed them, else nowhere."""
    expected = event.seq if event.kind == closing_kind else FAR
    return None if ends == {expected} else undo.changed(ends - {FAR, expected})


def _origins_of(body: Body) -> list[int]:
    if "ns" in body:
        return list(body["ns"])
    first, count, _ = body["origins"]
    return list(range(first, first + count))


def _fact_digests(tx: Tx, state: Projection, evidence: RowEvidence) -> Iterator[Problem]:
    left = dict(state.facts)
    for true, stored, number, owner, user in evidence.rows(tx, tables.fact, "id", "owner", "user_id"):
        seq, expected = left.pop(number, (None, ""))
        if seq is None:
            yield Problem(None, f"fact {number} stands in no event")
        elif not true == stored == expected or owner != owner_key(user):
            yield Problem(seq, f"fact {number} is not what event {seq} covers")
    yield from (Problem(seq, f"fact {number} of event {seq} is missing") for number, (seq, _) in left.items())


def _origin_digests(tx: Tx, state: Projection, evidence: RowEvidence) -> Iterator[Problem]:
    origins: dict[int, list[tuple[int, str, str, int]]] = {}
    more, order = ("fact_id", "n", "to_seq"), ("fact_id", "n")
    for true, stored, number, n, to_seq in evidence.rows(tx, tables.fact_origin, *more, order=order):
        origins.setdefault(number, []).append((n, true, stored, to_seq))
    for number in sorted(origins.keys() | state.origins.keys()):
        found = origins.get(number, [])
        yield from range_problems(
            f"the origins of fact {number}", [origin[:3] for origin in found], state.origins.get(number, [])
        )
        for n, _, _, to_seq in found:
            if to_seq != state.unseen.get((number, n), FAR):
                yield Problem(state.unseen.get((number, n)), f"origin {n} of fact {number} is not as the events leave it")


def _cut_digests(tx: Tx, state: Projection, evidence: RowEvidence) -> Iterator[Problem]:
    cuts = [(number, true, stored, end) for true, stored, number, end in evidence.rows(tx, tables.cut, "id", "to_seq")]
    yield from range_problems("cuts of a conversation", [cut[:3] for cut in cuts], state.cuts)
    for number, _, _, to_seq in cuts:
        if to_seq != state.cuts_withdrawn.get(number, FAR):
            yield Problem(state.cuts_withdrawn.get(number), f"cut {number} is not as the events leave it")


def _fact_states(tx: Tx, state: Projection, _evidence: RowEvidence) -> Iterator[Problem]:
    owners = _owners(tx)
    stored = {
        (row.fact_id, row.from_seq): (row.to_seq, tuple(FactState.of(row).told()), row.owner == owners.get(row.fact_id))
        for row in tx.execute(select(tables.fact_status))
    }
    replayed = {key: (*status, True) for key, status in state.fact_states.items()}
    yield from replay_differences("standing of fact", stored, replayed)


def _proposals(tx: Tx, state: Projection, _evidence: RowEvidence) -> Iterator[Problem]:
    owners = _owners(tx)
    stored = {
        (row.id, row.from_seq): (
            row.to_seq,
            (*_tuples(ProposalState.of(row).told()), row.run_id),
            row.owner == owners.get(row.new_id),
        )
        for row in tx.execute(select(tables.fact_proposal))
    }
    yield from replay_differences("proposal", stored, {key: (*row, True) for key, row in state.proposals.items()})


def _relations(tx: Tx, state: Projection, _evidence: RowEvidence) -> Iterator[Problem]:
    owners = _owners(tx)
    stored = {
        (row.source_id, row.target_id, row.from_seq): (row.to_seq, row.kind, row.confidence, row.run_id, row.owner)
        for row in tx.execute(select(tables.fact_relation))
    }
    replayed = {key: (*row, owners.get(key[0])) for key, row in state.relations.items()}
    yield from replay_differences("relation of fact", stored, replayed)


def _owners(tx: Tx) -> dict[int, str]:
    return dict(tx.execute(select(tables.fact.c.id, tables.fact.c.owner)).all())


def _kind(
    name: str,
    fields: str,
    one: str,
    many: str,
    apply: Apply,
    invert: Invert | None,
    *,
    digests: tuple[Check, ...] = (),
    replays: tuple[Check, ...] = (),
) -> EventKind:
    return EventKind(name, fields, one, many, apply, invert, digests=digests, replays=replays)


_ORIGINS, _CUTS = (_origin_digests,), (_cut_digests,)
_STATUS, _PROPOSALS, _RELATIONS = (_fact_states,), (_proposals,), (_relations,)

# status, row: the row of `fact_status`, of `fact_proposal`, as a list; was: the seq of the row before;
# ns: numbers of origins; again: the seq since which a row that an undo brought back held at first
KINDS = family(
    _kind(
        "fact.recorded",
        "fact digest status origins",
        "fact {fact} is learned",
        "{count} facts are learned",
        _recorded,
        each(_move_back),
        digests=(_fact_digests, _origin_digests),
        replays=_STATUS,
    ),
    _kind(
        "fact.outdated",
        "fact was status again?",
        "fact {fact} is outdated",
        "{count} facts are outdated",
        _moved,
        each(_move_back),
        replays=_STATUS,
    ),
    _kind(
        "fact.restored",
        "fact was status again?",
        "fact {fact} holds again",
        "{count} facts hold again",
        _moved,
        each(_move_back),
        replays=_STATUS,
    ),
    _kind(
        "fact.withdrawn",
        "fact was status",
        "fact {fact} is taken back",
        "{count} facts are taken back",
        _moved,
        each(_move_back),
        replays=_STATUS,
    ),
    _kind(
        "fact.returned",
        "fact was status again",
        "fact {fact} stands again",
        "{count} facts stand again",
        _moved,
        each(_move_back),
        replays=_STATUS,
    ),
    _kind(
        "fact.forgotten",
        "fact was status stones",
        "fact {fact} is forgotten for good",
        "{count} facts are forgotten for good",
        _forgotten,
        None,  # final
        replays=_STATUS,
    ),
    _kind(
        "fact.seen",
        "fact origins",
        "fact {fact} was said again",
        "{count} known facts were said again",
        _seen,
        each(_unsee),
        digests=_ORIGINS,
    ),
    _kind(
        "fact.unseen",
        "fact ns",
        "that fact {fact} was said again is taken back",
        "{count} facts count as not said again",
        _unseen,
        each(_unsee),
        digests=_ORIGINS,
    ),
    _kind(
        "fact.seen_again",
        "fact ns",
        "that fact {fact} was said again holds again",
        "{count} facts count as said again",
        _seen_again,
        each(_unsee),
        digests=_ORIGINS,
    ),
    _kind(
        "cuts.recorded",
        "first count digest",
        "a conversation is cut into {parts}",
        "{count} conversations are cut",
        _cuts_recorded,
        each(_withdraw_cuts),
        digests=_CUTS,
    ),
    _kind(
        "cuts.withdrawn",
        "cuts",
        "a conversation counts as not remembered",
        "{count} conversations count as not remembered",
        _cuts_withdrawn,
        each(_withdraw_cuts),
        digests=_CUTS,
    ),
    _kind(
        "cuts.returned",
        "cuts",
        "a conversation counts as remembered again",
        "{count} conversations count as remembered again",
        _cuts_returned,
        each(_withdraw_cuts),
        digests=_CUTS,
    ),
    _kind(
        "conversation.seen_again",
        "cut session",
        "a remembered conversation came again",
        "{count} remembered conversations came again",
        ignore,
        None,  # it changed nothing
    ),
    _kind(
        "fact.proposed",
        "proposal was row run again?",
        "a person is asked whether a fact gives way",
        "{count} facts are put to a person",
        _proposed,
        each(_propose_back),
        replays=_PROPOSALS,
    ),
    _kind(
        "fact.settled",
        "proposal was row run again?",
        "it is settled whether a fact gives way",
        "{count} questions about facts are settled",
        _proposed,
        each(_propose_back),
        replays=_PROPOSALS,
    ),
    _kind(
        "fact.unproposed",
        "proposal was row run",
        "a question about a fact is taken back",
        "{count} questions about facts are taken back",
        _proposed,
        each(_propose_back),
        replays=_PROPOSALS,
    ),
    _kind(
        "fact.reviewed",
        "fact? proposal? since verdict was",
        "a fact is reviewed",
        "{count} facts are reviewed",
        ignore,  # verdicts about facts are read from the events
        each(_review_back),
    ),
    _kind(
        "fact.related",
        "source target relation confidence run",
        "two facts have to do with one another",
        "{count} pairs of facts are related",
        _related,
        each(_unrelate),
        replays=_RELATIONS,
    ),
    _kind(
        "fact.unrelated",
        "source target since",
        "two facts are no longer related",
        "{count} pairs of facts are no longer related",
        _unrelated,
        each(_unrelate),
        replays=_RELATIONS,
    ),
    _kind(
        "fact.related_again",
        "source target since",
        "two facts are related again",
        "{count} pairs of facts are related again",
        _unrelated,
        each(_unrelate),
        replays=_RELATIONS,
    ),
)
