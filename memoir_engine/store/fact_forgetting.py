"""Forget a fact: shown first, done in one action, final.

Invariant: once per action id. The words of the fact, and those of the messages that say it, are out of messages, payloads and
vectors in the transaction that says so, and so are its parts, and the fuller facts made of it; other parts of those are in force
again. Stones stand for what was left, and the events cover them. Messages keep their length: where words stood, there are blocks,
so other spans still hold. What covered them keeps its digest, and loses its salt.
Source: DESIGN §6; spec README 12 ("forget this").
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, or_, select, update

from memoir_engine.errors import FactNotFound
from memoir_engine.results import Action
from memoir_engine.results.facts import FactView, ForgetPreview
from memoir_engine.run import Clock
from memoir_engine.store import chain, clearing, compaction, embeddings, fact_nearest, fact_rows, fact_traces, facts, ids, stones
from memoir_engine.store import tables as t
from memoir_engine.store.canon import canonical, parse
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.fact_rows import REMEMBERED, Standing
from memoir_engine.store.fact_traces import FORGETS, Planned, Traced, forms_of, left_parts
from memoir_engine.store.facts import Whose
from memoir_engine.store.stones import NO_SALT
from memoir_engine.store.types import FAR, Tx, portions
from memoir_engine.text.traces import BLOCK, GONE


def preview(tx: Tx, whose: Whose, uid: str) -> ForgetPreview:
    """Raises FactNotFound."""
    number, owner = _row(tx, whose, uid)
    traced = fact_traces.trace(tx, number)
    numbers = traced.family.all
    c = t.embedding.c
    vectors = tx.execute(select(func.count()).where(c.kind == "fact", c.item_id.in_(numbers))).scalar_one()
    places = {
        "fact": len(numbers),
        "message": len(traced.spans),
        "payload": len(traced.papers) + len(traced.quoting),
        "embedding": vectors,
    }
    others = [_as_it_stands(tx, whose, one) for one in numbers if one != number]
    again = facts.by_number(tx, whose, left_parts(tx, traced.family))
    stays, elsewhere = fact_traces.stays(tx, owner, traced)
    return ForgetPreview(
        fact=_as_it_stands(tx, whose, number),
        places={place: count for place, count in places.items() if count},
        also=tuple(others),
        again=tuple(again[one] for one in sorted(again)),
        stays=stays,
        elsewhere=elsewhere,
    )


def plan(tx: Tx, whose: Whose, uid: str) -> Planned:
    """What takes long to find, looked for before anything is locked. Raises FactNotFound."""
    return fact_traces.plan(tx, _row(tx, whose, uid)[0])


def forget(
    tx: Tx, whose: Whose, uid: str, *, planned: Planned, actor: str, reason: str | None, clock: Clock, action_id: str
) -> Action:
    """Raises FactNotFound, also for one that was forgotten."""
    ids.reserve(tx, "erasure", 1)
    ids.reserve(tx, "fact", 0)
    if chain.exists(tx, action_id):
        return chain.get(tx, action_id)
    number, _ = _row(tx, whose, uid)
    traced = fact_traces.trace(tx, number, planned)
    again = left_parts(tx, traced.family)
    action = OpenAction(tx, verb=FORGETS, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    _clear(tx, traced)
    messages = [f"{session}/{n}" for session, n in traced.spans]
    _leave(tx, action, number, {"payload": traced.papers}, {"message": messages, "payload": traced.quoting})
    for other in traced.family.all:
        if other != number:
            _leave(tx, action, other, {}, {})
    for part in again:
        fact_rows.shift(tx, action, "fact.restored", part, Standing())
    action.seal()
    embeddings.drop(tx, "fact", traced.family.all)
    fact_nearest.drop(tx, traced.family.all)
    clearing.leave_searches(tx, sorted({session for session, _ in traced.spans}))
    compaction.note(tx)
    return chain.get(tx, action.id)


def _row(tx: Tx, whose: Whose, uid: str) -> tuple[int, str]:
    """Its number and owner."""
    number = facts.number_of(tx, whose, uid)
    row = tx.execute(select(t.fact.c.owner).where(t.fact.c.id == number, REMEMBERED)).one_or_none()
    if row is None:
        raise FactNotFound(fact_id=uid)
    return number, row.owner


def _as_it_stands(tx: Tx, whose: Whose, number: int) -> FactView:
    """Or as it stood last, where it was taken back."""
    s = t.fact_status.c
    until = tx.execute(select(func.max(s.to_seq)).where(s.fact_id == number)).scalar_one()
    return facts.by_number(tx, whose, [number], None if until == FAR else until - 1)[number]


def _leave(tx: Tx, action: OpenAction, number: int, gone: dict[str, Sequence[str]], changed: dict[str, Sequence[str]]) -> None:
    """It stands no more, in no relation and no open proposal. gone, changed: what its event covers beside it."""
    s, r, p = t.fact_status.c, t.fact_relation.c, t.fact_proposal.c
    row = tx.execute(select(t.fact_status).where(s.fact_id == number, s.to_seq == FAR)).one_or_none()
    covered = stones.set_over(tx, action.next_seq, gone, {"fact": [str(number)], **changed})
    seq = action.add("fact.forgotten", fact=number, was=row.from_seq if row else 0, status=None, stones=covered)
    tx.execute(update(t.fact_status).where(s.fact_id == number, s.to_seq == FAR).values(to_seq=seq))
    ends = or_(r.source_id == number, r.target_id == number)
    for one in tx.execute(select(t.fact_relation).where(ends, r.to_seq == FAR)).all():
        fact_rows.unrelate(tx, action, one.source_id, one.target_id, one.from_seq)
    owner = select(t.fact.c.owner).where(t.fact.c.id == number).scalar_subquery()
    for one in tx.execute(select(t.fact_proposal).where(p.owner == owner, p.to_seq == FAR)).all():
        if number in (one.new_id, *parse(one.old_ids)):
            fact_rows.propose(tx, action, "fact.unproposed", one.id, one.owner, None, one.run_id)


def _clear(tx: Tx, traced: Traced) -> None:
    f, p = t.fact.c, t.payload.c
    nothing = {"content": "", "subject": "", "entities": "[]", "salt": NO_SALT}
    tx.execute(update(t.fact).where(f.id.in_(traced.family.all)).values(**nothing))
    for (session, n), places in traced.spans.items():
        _block(tx, session, n, places, traced.words)
    for some in portions(traced.papers):
        tx.execute(delete(t.payload).where(p.digest.in_(some)))
    for digest in traced.quoting:
        body = tx.execute(select(p.body).where(p.digest == digest)).scalar_one()
        tx.execute(
            update(t.payload).where(p.digest == digest).values(body=_without(body, (*traced.words, *traced.told)), salt=NO_SALT)
        )


def _block(tx: Tx, session: int, n: int, places: Sequence[tuple[int, int]], words: Sequence[str]) -> None:
    """Blocks where the words stood; in content of several parts wherever they stand."""
    c = t.message.c
    this = (c.session_number == session) & (c.n == n)
    row = tx.execute(select(c.content, c.parts).where(this)).one()
    content = row.content
    if row.parts:
        for form in forms_of(words):
            content = content.replace(form, BLOCK * len(form))
    for start, end in () if row.parts else places:
        content = content[:start] + BLOCK * (end - start) + content[end:]
    tx.execute(update(t.message).where(this).values(content=content, salt=NO_SALT))


def _without(body: str, words: Sequence[str]) -> str:
    for form in forms_of(words):
        body = body.replace(form, GONE)
    return canonical(_nameless(parse(body)))


def _nameless(value: Any) -> Any:
    """A statement that is gone names nobody and nothing any more; replies stand as JSON inside JSON."""
    if isinstance(value, dict):
        kept = {name: _nameless(each) for name, each in value.items()}
        return {**kept, "entities": []} if kept.get("content") == GONE and "entities" in kept else kept
    if isinstance(value, list):
        return [_nameless(each) for each in value]
    if isinstance(value, str) and GONE in value and value.startswith("{"):
        try:
            return json.dumps(_nameless(json.loads(value)), ensure_ascii=False)
        except ValueError:
            return value
    return value
