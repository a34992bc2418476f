"""What takes back what happened to facts, and what may stand in its way.

Invariant: a change of a fact can be taken back while the fact stands as the change left it, also when others moved it and took
that back; whoever moved it since is named, to be undone first. What gave way to a new fact stands again before the new one is
taken back.
Source: DESIGN §6 (Undo); TIMEM "Supports Reversion".
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from memoir_engine.core.results import AuditEvent
from memoir_engine.store import tables
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import parse
from memoir_engine.store.db.types import FAR, Tx
from memoir_engine.store.facts import reviews
from memoir_engine.store.facts import rows as facts_rows
from memoir_engine.store.facts.rows import FactState, ProposalState
from memoir_engine.store.undo.planner import Found, Inverse, Step

KINDS = (
    *("fact.recorded", "fact.outdated", "fact.restored", "fact.withdrawn", "fact.returned"),
    *("fact.seen", "fact.unseen", "fact.seen_again", "fact.related", "fact.unrelated", "fact.related_again"),
    *("fact.reviewed", "fact.proposed", "fact.settled", "fact.unproposed"),
    *("cuts.recorded", "cuts.withdrawn", "cuts.returned"),
)


def inverse(inverse: Inverse, event: AuditEvent) -> Found:
    tx, body, kind = inverse.tx, event.body, event.kind
    if kind in ("fact.recorded", "fact.outdated", "fact.restored", "fact.withdrawn", "fact.returned"):
        return _moved(inverse, event)
    if kind in ("fact.proposed", "fact.settled", "fact.unproposed"):
        return _proposed(inverse, event)
    if kind == "fact.reviewed":
        return _reviewed(inverse, event)
    if kind in ("fact.seen", "fact.unseen", "fact.seen_again"):
        return _seen(inverse, event)
    if kind in ("fact.related", "fact.unrelated", "fact.related_again"):
        c = tables.fact_relation.c
        since = body.get("since", event.seq)
        this = (c.source_id == body["source"]) & (c.target_id == body["target"]) & (c.from_seq == since)
        until = tx.execute(select(c.to_seq).where(this)).scalar_one()
        wanted = event.seq if kind == "fact.unrelated" else FAR
        step = Step("fact", body["source"], event.seq, "how facts are related is as it was before")
        return Found((step,)) if until == wanted else inverse.changed([until])
    return _cut(inverse, event)


def take(tx: Tx, action: OpenAction, step: Step) -> None:
    """Do one of these steps."""
    row = tx.execute(select(tables.audit_event).where(tables.audit_event.c.seq == step.seq)).one()
    body, kind = parse(row.body), row.kind
    if kind.startswith("cuts."):
        numbers = _cuts_of(body)
        (facts_rows.return_cuts if kind == "cuts.withdrawn" else facts_rows.withdraw_cuts)(tx, action, numbers)
    elif kind in ("fact.seen", "fact.seen_again"):
        facts_rows.unsee(tx, action, body["fact"], _ns(body))
    elif kind == "fact.reviewed":
        reviews.restore_verdict(tx, action, body)
    elif kind == "fact.unseen":
        facts_rows.see_again(tx, action, body["fact"], body["ns"])
    elif kind in ("fact.related", "fact.related_again"):
        facts_rows.unrelate(tx, action, body["source"], body["target"], body.get("since", step.seq))
    elif kind == "fact.unrelated":
        facts_rows.relate_again(tx, action, body["source"], body["target"], body["since"])
    elif kind in ("fact.proposed", "fact.settled", "fact.unproposed"):
        _propose_back(tx, action, body)
    else:
        _move_back(tx, action, kind, body)


def _moved(inverse: Inverse, event: AuditEvent) -> Found:
    """Back to how it stood before."""
    tx, number = inverse.tx, event.body["fact"]
    if tx.execute(select(tables.fact.c.id).where(tables.fact.c.id == number, facts_rows.REMEMBERED)).first() is None:
        return Found(clash="it was forgotten, and that is final")
    c = tables.fact_status.c
    row = tx.execute(select(tables.fact_status).where(c.fact_id == number, c.to_seq == FAR)).one_or_none()
    expected = 0 if event.kind == "fact.withdrawn" else event.seq
    if inverse.stood.get(("fact", number), row.from_seq if row else 0) != expected:
        now, since = None if row is None else FactState.of(row).told(), _since(tx, number, event.seq)
        if now != event.body["status"] or inverse.later.standing(since):
            return inverse.changed(since)
    before = _standing_before(tx, number, event.body.get("was", 0))
    if before is None and event.kind != "fact.withdrawn":
        since = _said_since(tx, number, event.seq) or _given_way(inverse, number)
        if since:
            return inverse.changed(since)
    inverse.stood["fact", number] = event.body.get("was", 0)
    says = "is taken back" if before is None else f"is {before.status} again"
    return Found((Step("fact", number, event.seq, f"fact {number} {says}"),))


def _since(tx: Tx, number: int, seq: int) -> list[int]:
    c = tables.fact_status.c
    rows = tx.execute(select(c.from_seq, c.to_seq).where(c.fact_id == number)).all()
    return sorted({one for row in rows for one in row if seq < one < FAR})


def _said_since(tx: Tx, number: int, seq: int) -> list[int]:
    """Where it was said again behind that seq: what others said does not go with what one said."""
    c = tables.fact_origin.c
    wanted = select(c.from_seq).where(c.fact_id == number, c.from_seq > seq, c.to_seq == FAR).distinct()
    return sorted(tx.execute(wanted).scalars())


def _given_way(inverse: Inverse, number: int) -> list[int]:
    """Where others gave way to it, but for those that stand again with this undo: what was said first may have come later."""
    c = tables.fact_status.c
    rows = inverse.tx.execute(select(c.fact_id, c.from_seq).where(c.superseded_by == number, c.to_seq == FAR)).all()
    return sorted(row.from_seq for row in rows if inverse.stood.get(("fact", row.fact_id), row.from_seq) == row.from_seq)


def _standing_before(tx: Tx, number: int, was: int) -> FactState | None:
    c = tables.fact_status.c
    row = tx.execute(select(tables.fact_status).where(c.fact_id == number, c.from_seq == was)).one_or_none() if was else None
    return None if row is None else FactState.of(row)


def _move_back(tx: Tx, action: OpenAction, kind: str, body: dict[str, Any]) -> None:
    number = body["fact"]
    before = _standing_before(tx, number, body.get("was", 0))
    if before is None:
        facts_rows.set_state(tx, action, "fact.withdrawn", number, None)
    else:
        back = "fact.restored" if before.status == "active" else "fact.outdated"
        back = "fact.returned" if kind == "fact.withdrawn" else back
        facts_rows.set_state(tx, action, back, number, before, again=_first(tx, body["was"]))


def _first(tx: Tx, seq: int) -> int:
    """The seq since which it stood so for the first time: where an undo brought it back, what was said of it holds again."""
    body = tx.execute(select(tables.audit_event.c.body).where(tables.audit_event.c.seq == seq)).scalar_one()
    return int(parse(body).get("again", seq))


def _proposed(inverse: Inverse, event: AuditEvent) -> Found:
    tx, number = inverse.tx, event.body["proposal"]
    c = tables.fact_proposal.c
    row = tx.execute(select(tables.fact_proposal).where(c.id == number, c.to_seq == FAR)).one_or_none()
    expected = 0 if event.kind == "fact.unproposed" else event.seq
    if inverse.stood.get(("proposal", number), row.from_seq if row else 0) != expected:
        rows = tx.execute(select(c.from_seq, c.to_seq).where(c.id == number)).all()
        since = {one for each in rows for one in each if event.seq < one < FAR}
        now = None if row is None else ProposalState.of(row).told()
        if now != event.body["row"] or inverse.later.standing(since):
            return inverse.changed(since)
    inverse.stood["proposal", number] = event.body["was"]
    return Found((Step("fact", number, event.seq, f"the proposal {number} is as it was before"),))


def _propose_back(tx: Tx, action: OpenAction, body: dict[str, Any]) -> None:
    c = tables.fact_proposal.c
    rows = tx.execute(select(tables.fact_proposal).where(c.id == body["proposal"]).order_by(c.from_seq)).all()
    before = next((row for row in rows if row.from_seq == body["was"]), None) if body["was"] else None
    kind = "fact.unproposed" if before is None else "fact.proposed" if before.outcome is None else "fact.settled"
    proposal = None if before is None else ProposalState.of(before)
    again = None if before is None else _first(tx, before.from_seq)
    facts_rows.set_proposal(tx, action, kind, body["proposal"], rows[0].owner, proposal, rows[0].run_id, again=again)


def _reviewed(inverse: Inverse, event: AuditEvent) -> Found:
    body = event.body
    said = reviews.verdicts_about(inverse.tx, body)
    since = [one.seq for one in said if one.seq > event.seq]
    if since and (said[-1].verdict != body["verdict"] or inverse.later.standing(since)):
        return inverse.changed(since)
    number = body["fact"] if "fact" in body else body["proposal"]
    return Found((Step("fact", number, event.seq, "the review of a fact is as it was before"),))


def _seen(inverse: Inverse, event: AuditEvent) -> Found:
    tx, body = inverse.tx, event.body
    o = tables.fact_origin.c
    untils = set(tx.execute(select(o.to_seq).where(o.fact_id == body["fact"], o.n.in_(_ns(body)))).scalars())
    wanted = event.seq if event.kind == "fact.unseen" else FAR
    if untils != {wanted}:
        return inverse.changed(untils - {FAR, wanted})
    says = f"that fact {body['fact']} was said again {'holds' if event.kind == 'fact.unseen' else 'is taken back'}"
    return Found((Step("fact", body["fact"], event.seq, says),))


def _cut(inverse: Inverse, event: AuditEvent) -> Found:
    c = tables.cut.c
    numbers = _cuts_of(event.body)
    untils = set(inverse.tx.execute(select(c.to_seq).where(c.id.in_(numbers))).scalars())
    wanted = event.seq if event.kind == "cuts.withdrawn" else FAR
    if untils != {wanted}:
        return inverse.changed(untils - {FAR, wanted})
    again = "remembered again" if event.kind == "cuts.withdrawn" else "not remembered"
    return Found((Step("fact", numbers[0], event.seq, f"the conversation counts as {again}"),))


def _cuts_of(body: dict[str, Any]) -> list[int]:
    return list(body["cuts"]) if "cuts" in body else list(range(body["first"], body["first"] + body["count"]))


def _ns(body: dict[str, Any]) -> list[int]:
    if "ns" in body:
        return list(body["ns"])
    first, count, _ = body["origins"]
    return list(range(first, first + count))
