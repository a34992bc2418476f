"""Forget a fact: preview it, then do it in one action, finally.

Invariant: once per action id. The fact's words, and those of the messages that say it, leave messages, payloads and vectors in
the transaction that records it, together with its parts, its repetitions and the fuller facts merged from it; other parts of
those become active again. Tombstones replace what was removed, and the events cover them. Messages keep their length: words
become blocks, so other spans still hold; covered rows keep their digest and lose their salt. Tracing is pure reading, and a
plan's search through ended runs is not repeated.
Source: DESIGN §6; spec README 12 ("forget this"), small print on TIMEM rule 3.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import delete, func, or_, select, update

from memoir_engine.core.errors import FactNotFound
from memoir_engine.core.results import Action
from memoir_engine.core.results.facts import FactView, ForgetPreview
from memoir_engine.core.run import Clock
from memoir_engine.store import tables
from memoir_engine.store.chain import actions, payloads, tombstones
from memoir_engine.store.chain.actions import NOTHING_SAID, OpenAction
from memoir_engine.store.chain.canonical_json import canonical, parse
from memoir_engine.store.chain.tombstones import NO_SALT
from memoir_engine.store.conversations import retention
from memoir_engine.store.conversations.messages import as_message
from memoir_engine.store.db import compaction, ids
from memoir_engine.store.db.types import FAR, Tx, portions
from memoir_engine.store.facts import facts, rows, vectors
from memoir_engine.store.facts.facts import OwnerFilter
from memoir_engine.store.facts.reviews import APPROVED
from memoir_engine.store.facts.rows import REMEMBERED, FactState
from memoir_engine.store.search import embeddings
from memoir_engine.store.search.conversation_passages import record
from memoir_engine.text import attributes
from memoir_engine.text.redaction import ERASED, ERASED_CHAR

FORGETS = "forget_fact"  # the verb
NESTED = 3  # levels of JSON quoting: prompt row, wire body, payload
MOST_SHOWN = 20  # messages listed in a preview

Spans = Mapping[tuple[int, int], Sequence[tuple[int, int]]]  # (session, n) → places


class FactFamily(NamedTuple):
    """same: the fact, its parts, and its repetitions. fuller: facts merged from them and from others."""

    same: frozenset[int]
    fuller: frozenset[int]

    @property
    def all(self) -> list[int]:
        return sorted(self.same | self.fuller)


@dataclass(frozen=True)
class FactTrace:
    """Rows that hold the words. papers: payloads only about these facts; quoting: other payloads with the words.

    told: words of it in `papers`, which model replies repeat.
    """

    family: FactFamily
    words: tuple[str, ...]
    spans: Spans
    papers: tuple[str, ...]
    told: tuple[str, ...]
    quoting: tuple[str, ...] = ()


class ForgetPlan(NamedTuple):
    """Payloads found quoting these words, searched up to a seq."""

    seq: int
    words: frozenset[str]
    quoting: tuple[str, ...]


def family(tx: Tx, number: int) -> FactFamily:
    same: set[int] = set()
    new = {number}
    while new:
        same |= new
        rows = _merged(tx, new)
        down = {row.fact_id for row in rows if row.superseded_by in new and (_is_fuller(row) or row.to_seq == FAR)}
        twins = {row.superseded_by for row in rows if row.fact_id in new and not _is_fuller(row) and row.to_seq == FAR}
        new = (down | twins) - same
    fuller: set[int] = set()
    new = same
    while new:
        rows = _merged(tx, new)
        new = {row.superseded_by for row in rows if row.fact_id in new and _is_fuller(row)} - same - fuller
        fuller |= new
    return FactFamily(frozenset(same), frozenset(fuller))


def left_parts(tx: Tx, members: FactFamily) -> list[int]:
    """Return facts merged into a fuller one in force, which become active again once that goes."""
    c = tables.fact_status.c
    active = select(c.fact_id).where(c.fact_id.in_(members.fuller), c.to_seq == FAR, c.status == "active")
    tops = set(tx.execute(active).scalars())
    wanted = select(c.fact_id).where(c.superseded_by.in_(tops), c.cause == "merged", c.to_seq == FAR).order_by(c.fact_id)
    return [one for one in tx.execute(wanted).scalars() if one not in members.same and one not in members.fuller]


def trace_fact(tx: Tx, number: int, plan: ForgetPlan | None = None) -> FactTrace:
    """Find what holds the fact's words. planned: an earlier search, so that only runs since then are searched."""
    members = family(tx, number)
    rows = tx.execute(select(tables.fact).where(tables.fact.c.id.in_(members.all)).order_by(tables.fact.c.id)).all()
    spans, quotes = _spans(tx, members.same)
    words = tuple(dict.fromkeys(one for one in (*(row.content for row in rows), *quotes) if one.strip()))
    papers = _papers(tx, members)
    trace = FactTrace(members, words, spans, papers, _told(tx, papers, words))
    wanted = (*words, *trace.told)
    user_id = rows[0].user_id
    if plan is None or not plan.words.issuperset(wanted):
        quoting = set(_quoting(tx, user_id, wanted))
    else:
        quoting = {*_there(tx, plan.quoting), *_quoting(tx, user_id, wanted, plan.seq)}
    return FactTrace(members, words, spans, papers, trace.told, tuple(sorted(quoting - set(papers))))


def plan_of_fact(tx: Tx, number: int) -> ForgetPlan:
    seq = actions.seq(tx)
    traced = trace_fact(tx, number)
    return ForgetPlan(seq, frozenset((*traced.words, *traced.told)), traced.quoting)


def remaining_words(tx: Tx, owner: str, trace: FactTrace) -> tuple[dict[str, int], tuple[tuple[str, int], ...]]:
    """Count where else the words remain, by place; and name the first such messages as (session, number)."""
    m, s, f = tables.message.c, tables.session.c, tables.fact.c
    forms = json_forms(trace.words)
    messages_of_owner = (
        select(s.number, s.session_id, m.n, m.content).join(tables.session, s.number == m.session_number).where(s.owner == owner)
    )
    stream = tx.execute(messages_of_owner.order_by(s.number, m.n).execution_options(yield_per=500))
    messages = [
        (row.session_id, row.n)
        for row in stream
        if (row.number, row.n) not in trace.spans and any(form in row.content for form in forms)
    ]
    learned = tx.execute(select(f.id, f.content).where(f.owner == owner, REMEMBERED).execution_options(yield_per=500))
    facts = sum(row.id not in trace.family.all and any(form in row.content for form in trace.words) for row in learned)
    counts = {"message": len(messages), "fact": facts}
    return {place: count for place, count in counts.items() if count}, tuple(messages[:MOST_SHOWN])


def json_forms(words: Sequence[str]) -> list[str]:
    """Return every way a text may be escaped inside JSON, the longest first."""
    found: set[str] = set()
    for word in words:
        layer = {word}
        for _ in range(NESTED + 1):
            found |= layer
            layer = {json.dumps(one, ensure_ascii=plain)[1:-1] for one in layer for plain in (True, False)}
    return sorted(found, key=lambda form: (-len(form), form))


def _merged(tx: Tx, numbers: Collection[int]) -> Sequence[Any]:
    c = tables.fact_status.c
    wanted = select(c.fact_id, c.superseded_by, c.to_seq).where(c.cause == "merged")
    return [row for end in (c.fact_id, c.superseded_by) for row in tx.execute(wanted.where(end.in_(numbers)))]


def _is_fuller(row: Any) -> bool:
    """Return True for a merged fact, which is newer than its parts; a repetition yields to an older one."""
    return bool(row.superseded_by > row.fact_id)


def _spans(tx: Tx, numbers: Collection[int]) -> tuple[dict[tuple[int, int], list[tuple[int, int]]], list[str]]:
    """Return the spans in messages that still exist, and their text."""
    o, m = tables.fact_origin.c, tables.message.c
    spans: dict[tuple[int, int], list[tuple[int, int]]] = {}
    quotes = []
    wanted = select(tables.fact_origin).where(o.fact_id.in_(numbers), o.start.is_not(None)).order_by(o.fact_id, o.n)
    for row in tx.execute(wanted).all():
        is_message = (m.session_number == row.session_number) & (m.n == row.message)
        message = tx.execute(select(tables.message).where(is_message)).one_or_none()
        if message is not None and message.digest == row.said:
            spans.setdefault((row.session_number, row.message), []).append((row.start, row.end))
            quotes.append(as_message(record(message, "")).text[row.start : row.end])
    return spans, quotes


def _papers(tx: Tx, members: FactFamily) -> tuple[str, ...]:
    """Return reasons and statements about these facts."""
    s, p = tables.fact_status.c, tables.fact_proposal.c
    numbers = set(members.all)
    wanted = select(s.payload).where(s.payload.is_not(None))
    papers = {one for end in (s.fact_id, s.superseded_by) for one in tx.execute(wanted.where(end.in_(numbers))).scalars()}
    parts = set(tx.execute(select(s.fact_id).where(s.superseded_by.in_(numbers), s.cause == "merged")).scalars())
    proposals = set()
    for row in tx.execute(select(p.id, p.new_id, p.old_ids, p.payload, p.outcome)):
        if numbers.intersection((row.new_id, *parse(row.old_ids))) or (row.outcome == APPROVED and row.new_id in parts):
            papers.add(row.payload)
            proposals.add(row.id)
    return tuple(sorted(_there(tx, papers | _reasons(tx, numbers, proposals))))


def _reasons(tx: Tx, numbers: Collection[int], proposals: Collection[int]) -> set[str]:
    """Return the reasons people gave for their actions on these facts; reasons for forgetting others stay."""
    e, a = tables.audit_event.c, tables.action.c
    given = (
        select(e.body, a.payload).join(tables.action, a.id == e.action_id).where(e.kind.like("fact.%"), a.payload != NOTHING_SAID)
    )
    bodies = ((parse(row.body), row.payload) for row in tx.execute(given.where(a.verb != FORGETS)))
    return {paper for body, paper in bodies if body.get("fact") in numbers or body.get("proposal") in proposals}


def _told(tx: Tx, papers: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """Return texts in payloads that share a word with the fact; "it changed" is said of many."""
    own_words = frozenset().union(*(attributes.words(one) for one in words))
    texts = (one for paper in payloads.get(tx, papers).values() for one in paper.values() if isinstance(one, str))
    return tuple(dict.fromkeys(one for one in texts if attributes.words(one) & own_words))


def _there(tx: Tx, digests: Iterable[str]) -> Iterable[str]:
    c = tables.payload.c
    for some in portions(sorted(digests)):
        yield from tx.execute(select(c.digest).where(c.digest.in_(some))).scalars()


def _quoting(tx: Tx, user_id: str | None, words: Sequence[str], since: int | None = None) -> tuple[str, ...]:
    """Return payloads of the user's calls that contain the words; with `since`, of runs not ended at that seq."""
    p, call, run = tables.payload.c, tables.model_call.c, tables.run.c
    mine = run.user_id == user_id if user_id is not None else run.user_id.is_(None)
    wanted = (
        select(p.digest, p.body)
        .join(tables.model_call, call.payload == p.digest)
        .join(tables.run, run.id == call.run_id)
        .where(mine)
    )
    if since is not None:
        wanted = wanted.where(or_(run.closed_seq.is_(None), run.closed_seq > since))
    forms = json_forms(words)
    stream = tx.execute(wanted.execution_options(yield_per=50))
    return tuple({one.digest for one in stream if any(form in one.body for form in forms)})


def preview(tx: Tx, owner_filter: OwnerFilter, uid: str) -> ForgetPreview:
    """Return what forgetting would remove. Raises FactNotFound."""
    number, owner = _row(tx, owner_filter, uid)
    trace = trace_fact(tx, number)
    numbers = trace.family.all
    c = tables.embedding.c
    vectors = tx.execute(select(func.count()).where(c.kind == "fact", c.item_id.in_(numbers))).scalar_one()
    places = {
        "fact": len(numbers),
        "message": len(trace.spans),
        "payload": len(trace.papers) + len(trace.quoting),
        "embedding": vectors,
    }
    others = [_as_it_stands(tx, owner_filter, one) for one in numbers if one != number]
    restored = facts.by_number(tx, owner_filter, left_parts(tx, trace.family))
    stays, elsewhere = remaining_words(tx, owner, trace)
    return ForgetPreview(
        fact=_as_it_stands(tx, owner_filter, number),
        places={place: count for place, count in places.items() if count},
        also=tuple(others),
        again=tuple(restored[one] for one in sorted(restored)),
        stays=stays,
        elsewhere=elsewhere,
    )


def plan_forget(tx: Tx, owner_filter: OwnerFilter, uid: str) -> ForgetPlan:
    """Search all payloads before anything is locked. Raises FactNotFound."""
    return plan_of_fact(tx, _row(tx, owner_filter, uid)[0])


def forget(
    tx: Tx, owner_filter: OwnerFilter, uid: str, *, plan: ForgetPlan, actor: str, reason: str | None, clock: Clock, action_id: str
) -> Action:
    """Forget the fact. Raises FactNotFound, also for one already forgotten."""
    ids.reserve(tx, "erasure", 1)
    ids.reserve(tx, "fact", 0)
    if actions.exists(tx, action_id):
        return actions.get(tx, action_id)
    number, _ = _row(tx, owner_filter, uid)
    trace = trace_fact(tx, number, plan)
    restored = left_parts(tx, trace.family)
    action = OpenAction(tx, verb=FORGETS, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    _clear(tx, trace)
    messages = [f"{session}/{n}" for session, n in trace.spans]
    _leave(tx, action, number, {"payload": trace.papers}, {"message": messages, "payload": trace.quoting})
    for other in trace.family.all:
        if other != number:
            _leave(tx, action, other, {}, {})
    for part in restored:
        rows.set_state(tx, action, "fact.restored", part, FactState())
    action.seal()
    embeddings.drop(tx, "fact", trace.family.all)
    vectors.drop(tx, trace.family.all)
    retention.drop_passages(tx, sorted({session for session, _ in trace.spans}))
    compaction.note(tx)
    return actions.get(tx, action.id)


def _row(tx: Tx, owner_filter: OwnerFilter, uid: str) -> tuple[int, str]:
    """Return the fact's number and owner."""
    number = facts.number_of(tx, owner_filter, uid)
    row = tx.execute(select(tables.fact.c.owner).where(tables.fact.c.id == number, REMEMBERED)).one_or_none()
    if row is None:
        raise FactNotFound(fact_id=uid)
    return number, row.owner


def _as_it_stands(tx: Tx, owner_filter: OwnerFilter, number: int) -> FactView:
    """Return the current view, or the last one if the fact was withdrawn."""
    s = tables.fact_status.c
    until = tx.execute(select(func.max(s.to_seq)).where(s.fact_id == number)).scalar_one()
    return facts.by_number(tx, owner_filter, [number], None if until == FAR else until - 1)[number]


def _leave(tx: Tx, action: OpenAction, number: int, gone: dict[str, Sequence[str]], changed: dict[str, Sequence[str]]) -> None:
    """End the fact's state, relations and open proposals. gone, changed: further rows its event covers."""
    s, r, p = tables.fact_status.c, tables.fact_relation.c, tables.fact_proposal.c
    row = tx.execute(select(tables.fact_status).where(s.fact_id == number, s.to_seq == FAR)).one_or_none()
    covered = tombstones.set_over(tx, action.next_seq, gone, {"fact": [str(number)], **changed})
    seq = action.add("fact.forgotten", fact=number, was=row.from_seq if row else 0, status=None, stones=covered)
    tx.execute(update(tables.fact_status).where(s.fact_id == number, s.to_seq == FAR).values(to_seq=seq))
    ends = or_(r.source_id == number, r.target_id == number)
    for one in tx.execute(select(tables.fact_relation).where(ends, r.to_seq == FAR)).all():
        rows.set_related(tx, action, one.source_id, one.target_id, one.from_seq, is_related=False)
    owner = select(tables.fact.c.owner).where(tables.fact.c.id == number).scalar_subquery()
    for one in tx.execute(select(tables.fact_proposal).where(p.owner == owner, p.to_seq == FAR)).all():
        if number in (one.new_id, *parse(one.old_ids)):
            rows.set_proposal(tx, action, "fact.unproposed", one.id, one.owner, None, one.run_id)


def _clear(tx: Tx, trace: FactTrace) -> None:
    f, p = tables.fact.c, tables.payload.c
    nothing = {"content": "", "subject": "", "entities": "[]", "salt": NO_SALT}
    tx.execute(update(tables.fact).where(f.id.in_(trace.family.all)).values(**nothing))
    for (session, n), places in trace.spans.items():
        _block(tx, session, n, places, trace.words)
    for some in portions(trace.papers):
        tx.execute(delete(tables.payload).where(p.digest.in_(some)))
    for digest in trace.quoting:
        body = tx.execute(select(p.body).where(p.digest == digest)).scalar_one()
        tx.execute(
            update(tables.payload)
            .where(p.digest == digest)
            .values(body=_without(body, (*trace.words, *trace.told)), salt=NO_SALT)
        )


def _block(tx: Tx, session: int, n: int, places: Sequence[tuple[int, int]], words: Sequence[str]) -> None:
    """Replace the words by blocks; in multi-part content wherever they occur."""
    c = tables.message.c
    this = (c.session_number == session) & (c.n == n)
    row = tx.execute(select(c.content, c.parts).where(this)).one()
    content = row.content
    if row.parts:
        for form in json_forms(words):
            content = content.replace(form, ERASED_CHAR * len(form))
    for start, end in () if row.parts else places:
        content = content[:start] + ERASED_CHAR * (end - start) + content[end:]
    tx.execute(update(tables.message).where(this).values(content=content, salt=NO_SALT))


def _without(body: str, words: Sequence[str]) -> str:
    for form in json_forms(words):
        body = body.replace(form, ERASED)
    return canonical(_nameless(parse(body)))


def _nameless(value: Any) -> Any:
    """Remove the entities of forgotten statements; replies are JSON inside JSON."""
    if isinstance(value, dict):
        kept = {name: _nameless(each) for name, each in value.items()}
        return {**kept, "entities": []} if kept.get("content") == ERASED and "entities" in kept else kept
    if isinstance(value, list):
        return [_nameless(each) for each in value]
    if isinstance(value, str) and ERASED in value and value.startswith("{"):
        try:
            return json.dumps(_nameless(json.loads(value)), ensure_ascii=False)
        except ValueError:
            return value
    return value
