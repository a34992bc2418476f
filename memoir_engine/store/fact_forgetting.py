"""Forget a fact: shown first, done in one action, final.

Invariant: once per action id. The words of the fact, and those of the messages that say it, are out of messages, payloads and
vectors in the transaction that says so; stones stand for what was left, and the event covers them. Messages keep their length:
where words stood, there are blocks, so other spans still hold. What covered them keeps its digest, and loses its salt.
Source: DESIGN §6; spec README 12 ("forget this").
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, or_, select, update

from memoir_engine.errors import FactNotFound
from memoir_engine.results import Action
from memoir_engine.results.facts import FactView, ForgetPreview
from memoir_engine.run import Clock
from memoir_engine.store import chain, clearing, compaction, embeddings, fact_rows, facts, ids, payloads, stones
from memoir_engine.store import tables as t
from memoir_engine.store.canon import parse
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.fact_actions import APPROVED
from memoir_engine.store.facts import Whose
from memoir_engine.store.said import as_message, record
from memoir_engine.store.types import FAR, Tx, portions
from memoir_engine.text import alike
from memoir_engine.text.traces import BLOCK, GONE

VERB = "forget_fact"
NO_SALT = ""
NESTED = 3  # times that a text may be quoted: in a row of a prompt, in a body on the wire, in a payload


@dataclass(frozen=True)
class _Traced:
    """What holds the words. spans: of messages, (session, n) → places. papers: payloads that say something only of it; quoting:
    others with its words. told: what papers say with words of it, which replies say too."""

    number: int
    words: tuple[str, ...]
    spans: dict[tuple[int, int], list[tuple[int, int]]]
    papers: tuple[str, ...]
    quoting: tuple[str, ...]
    vectors: int
    told: tuple[str, ...] = ()


def preview(tx: Tx, whose: Whose, uid: str) -> ForgetPreview:
    """Raises FactNotFound."""
    number, row = _row(tx, whose, uid)
    traced = _trace(tx, row)
    places = {
        "fact": 1,
        "message": len(traced.spans),
        "payload": len(traced.papers) + len(traced.quoting),
        "embedding": traced.vectors,
    }
    return ForgetPreview(_as_it_stands(tx, whose, number), {place: count for place, count in places.items() if count})


def _as_it_stands(tx: Tx, whose: Whose, number: int) -> FactView:
    """Or as it stood last, where it was taken back."""
    s = t.fact_status.c
    until = tx.execute(select(func.max(s.to_seq)).where(s.fact_id == number)).scalar_one()
    return facts.by_number(tx, whose, [number], None if until == FAR else until - 1)[number]


def forget(tx: Tx, whose: Whose, uid: str, *, actor: str, reason: str | None, clock: Clock, action_id: str) -> Action:
    """Raises FactNotFound, also for one that was forgotten."""
    ids.reserve(tx, "erasure", 1)
    ids.reserve(tx, "fact", 0)
    if chain.exists(tx, action_id):
        return chain.get(tx, action_id)
    number, row = _row(tx, whose, uid)
    traced = _trace(tx, row)
    action = OpenAction(tx, verb=VERB, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    seq = action.next_seq
    _clear(tx, traced)
    messages = [f"{session}/{n}" for session, n in traced.spans]
    changed = {"fact": [str(number)], "message": messages, "payload": traced.quoting}
    covered = stones.set_over(tx, seq, {"payload": traced.papers}, changed)
    _leave(tx, action, number, covered)
    action.seal()
    embeddings.drop(tx, "fact", [number])
    clearing.leave_searches(tx, sorted({session for session, _ in traced.spans}))
    compaction.note(tx)
    return chain.get(tx, action.id)


def _row(tx: Tx, whose: Whose, uid: str) -> tuple[int, Any]:
    number = facts.number_of(tx, whose, uid)
    row = tx.execute(select(t.fact).where(t.fact.c.id == number)).one()
    if not row.salt:
        raise FactNotFound(fact_id=uid)
    return number, row


def _leave(tx: Tx, action: OpenAction, number: int, covered: str) -> None:
    """It stands no more, in no relation and no open proposal."""
    s, r, p = t.fact_status.c, t.fact_relation.c, t.fact_proposal.c
    row = tx.execute(select(t.fact_status).where(s.fact_id == number, s.to_seq == FAR)).one_or_none()
    seq = action.add("fact.forgotten", fact=number, was=row.from_seq if row else 0, status=None, stones=covered)
    tx.execute(update(t.fact_status).where(s.fact_id == number, s.to_seq == FAR).values(to_seq=seq))
    ends = or_(r.source_id == number, r.target_id == number)
    for one in tx.execute(select(t.fact_relation).where(ends, r.to_seq == FAR)).all():
        fact_rows.unrelate(tx, action, one.source_id, one.target_id, one.from_seq)
    for one in tx.execute(select(t.fact_proposal).where(p.to_seq == FAR)).all():
        if number in (one.new_id, *parse(one.old_ids)):
            fact_rows.propose(tx, action, "fact.unproposed", one.id, one.owner, None, one.run_id)


def _clear(tx: Tx, traced: _Traced) -> None:
    f, p = t.fact.c, t.payload.c
    nothing = {"content": "", "subject": "", "entities": "[]", "salt": NO_SALT}
    tx.execute(update(t.fact).where(f.id == traced.number).values(**nothing))
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
        for form in _forms(words):
            content = content.replace(form, BLOCK * len(form))
    for start, end in () if row.parts else places:
        content = content[:start] + BLOCK * (end - start) + content[end:]
    tx.execute(update(t.message).where(this).values(content=content, salt=NO_SALT))


def _trace(tx: Tx, row: Any) -> _Traced:
    spans, quotes = _spans(tx, row.id)
    words = tuple(dict.fromkeys(one for one in (row.content, *quotes) if one.strip()))
    papers = _papers(tx, row.id)
    told = _told(tx, papers, words)
    quoting = tuple(one for one in _quoting(tx, row, (*words, *told)) if one not in set(papers))
    c = t.embedding.c
    vectors = len(tx.execute(select(c.embedder).where(c.kind == "fact", c.item_id == row.id)).all())
    return _Traced(row.id, words, spans, papers, quoting, vectors, told)


def _spans(tx: Tx, number: int) -> tuple[dict[tuple[int, int], list[tuple[int, int]]], list[str]]:
    """Of messages that stand, and what they say there."""
    o, m = t.fact_origin.c, t.message.c
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    quotes = []
    for row in tx.execute(select(t.fact_origin).where(o.fact_id == number, o.start.is_not(None)).order_by(o.n)).all():
        this = (m.session_number == row.session_number) & (m.n == row.message)
        said = tx.execute(select(t.message).where(this)).one_or_none()
        if said is not None and said.digest == row.said:
            found.setdefault((row.session_number, row.message), []).append((row.start, row.end))
            quotes.append(as_message(record(said, "")).text[row.start : row.end])
    return found, quotes


def _papers(tx: Tx, number: int) -> tuple[str, ...]:
    """Reasons and statements that are about this fact."""
    s, p = t.fact_status.c, t.fact_proposal.c
    about = or_(s.fact_id == number, s.superseded_by == number)
    found = set(tx.execute(select(s.payload).where(about, s.payload.is_not(None))).scalars())
    parts = set(tx.execute(select(s.fact_id).where(s.superseded_by == number, s.cause == "merged")).scalars())
    for row in tx.execute(select(p.new_id, p.old_ids, p.payload, p.outcome)):
        if number in (row.new_id, *parse(row.old_ids)) or (row.outcome == APPROVED and row.new_id in parts):
            found.add(row.payload)
    return tuple(sorted(_there(tx, found)))


def _told(tx: Tx, papers: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """What they say with a word of the fact; "it changed" is said of many."""
    mine = frozenset().union(*(alike.words(one) for one in words))
    said = (one for paper in payloads.get(tx, papers).values() for one in paper.values() if isinstance(one, str))
    return tuple(dict.fromkeys(one for one in said if alike.words(one) & mine))


def _there(tx: Tx, digests: Iterable[str]) -> Iterable[str]:
    c = t.payload.c
    for some in portions(sorted(digests)):
        yield from tx.execute(select(c.digest).where(c.digest.in_(some))).scalars()


def _quoting(tx: Tx, row: Any, words: Sequence[str]) -> tuple[str, ...]:
    """Payloads of calls, requests and actions of the user's runs with its words."""
    p, call, run = t.payload.c, t.model_call.c, t.run.c
    mine = run.user_id == row.user_id if row.user_id is not None else run.user_id.is_(None)
    wanted = select(p.digest, p.body).join(t.model_call, call.payload == p.digest).join(t.run, run.id == call.run_id).where(mine)
    forms = _forms(words)
    stream = tx.execute(wanted.execution_options(yield_per=50))
    return tuple(sorted({one.digest for one in stream if any(form in one.body for form in forms)}))


def _without(body: str, words: Sequence[str]) -> str:
    for form in _forms(words):
        body = body.replace(form, GONE)
    return body


def _forms(words: Sequence[str]) -> list[str]:
    """Every way in which a text may be written inside JSON, the longest first."""
    found: set[str] = set()
    for word in words:
        layer = {word}
        for _ in range(NESTED + 1):
            found |= layer
            layer = {json.dumps(one, ensure_ascii=plain)[1:-1] for one in layer for plain in (True, False)}
    return sorted(found, key=lambda form: (-len(form), form))
