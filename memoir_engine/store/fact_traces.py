"""What holds the words of a fact: found before they are taken out, and shown to who is asked.

Invariant: pure reading. What goes with a fact is what says the same, its parts, and the fuller facts that were made of it; what
stays is named. Runs that have ended say nothing more, so what a plan has looked through once is not looked through again.
Source: DESIGN §6; spec README 12 ("forget this"), small print on TIMEM rule 3.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import or_, select

from memoir_engine.store import chain, payloads
from memoir_engine.store import tables as t
from memoir_engine.store.canon import parse
from memoir_engine.store.chain import NOTHING_SAID
from memoir_engine.store.fact_actions import APPROVED
from memoir_engine.store.fact_rows import REMEMBERED
from memoir_engine.store.said import as_message, record
from memoir_engine.store.types import FAR, Tx, portions
from memoir_engine.text import alike

FORGETS = "forget_fact"  # the verb
NESTED = 3  # times that a text may be quoted: in a row of a prompt, in a body on the wire, in a payload
MOST_SHOWN = 20  # messages that are named

Spans = Mapping[tuple[int, int], Sequence[tuple[int, int]]]  # (session, n) → places


class Family(NamedTuple):
    """same: the fact, its parts, and what says the same as one of these. fuller: what was made of them and of others."""

    same: frozenset[int]
    fuller: frozenset[int]

    @property
    def all(self) -> list[int]:
        return sorted(self.same | self.fuller)


@dataclass(frozen=True)
class Traced:
    """What holds the words. papers: payloads that say something only of these facts; quoting: others with its words. told: what
    papers say with words of it, which replies say too."""

    family: Family
    words: tuple[str, ...]
    spans: Spans
    papers: tuple[str, ...]
    told: tuple[str, ...]
    quoting: tuple[str, ...] = ()


class Planned(NamedTuple):
    """What a search through all that the user's runs asked and answered found, up to a seq, and for which words."""

    seq: int
    words: frozenset[str]
    quoting: tuple[str, ...]


def family(tx: Tx, number: int) -> Family:
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
    return Family(frozenset(same), frozenset(fuller))


def left_parts(tx: Tx, found: Family) -> list[int]:
    """Facts that gave way to a fuller one that is in force, and are in force again once that goes."""
    c = t.fact_status.c
    active = select(c.fact_id).where(c.fact_id.in_(found.fuller), c.to_seq == FAR, c.status == "active")
    tops = set(tx.execute(active).scalars())
    wanted = select(c.fact_id).where(c.superseded_by.in_(tops), c.cause == "merged", c.to_seq == FAR).order_by(c.fact_id)
    return [one for one in tx.execute(wanted).scalars() if one not in found.same and one not in found.fuller]


def trace(tx: Tx, number: int, planned: Planned | None = None) -> Traced:
    """planned: what was found before, so that only runs that went on since are looked through."""
    found = family(tx, number)
    rows = tx.execute(select(t.fact).where(t.fact.c.id.in_(found.all)).order_by(t.fact.c.id)).all()
    spans, quotes = _spans(tx, found.same)
    words = tuple(dict.fromkeys(one for one in (*(row.content for row in rows), *quotes) if one.strip()))
    papers = _papers(tx, found)
    traced = Traced(found, words, spans, papers, _told(tx, papers, words))
    wanted = (*words, *traced.told)
    whose = rows[0].user_id
    if planned is None or not planned.words.issuperset(wanted):
        quoting = set(_quoting(tx, whose, wanted))
    else:
        quoting = {*_there(tx, planned.quoting), *_quoting(tx, whose, wanted, planned.seq)}
    return Traced(found, words, spans, papers, traced.told, tuple(sorted(quoting - set(papers))))


def plan(tx: Tx, number: int) -> Planned:
    seq = chain.seq(tx)
    traced = trace(tx, number)
    return Planned(seq, frozenset((*traced.words, *traced.told)), traced.quoting)


def stays(tx: Tx, owner: str, traced: Traced) -> tuple[dict[str, int], tuple[tuple[str, int], ...]]:
    """Where else the words stand, and stay: how many rows of which place; and the first such messages, (session, number)."""
    m, s, f = t.message.c, t.session.c, t.fact.c
    forms = forms_of(traced.words)
    said = select(s.number, s.session_id, m.n, m.content).join(t.session, s.number == m.session_number).where(s.owner == owner)
    stream = tx.execute(said.order_by(s.number, m.n).execution_options(yield_per=500))
    messages = [
        (row.session_id, row.n)
        for row in stream
        if (row.number, row.n) not in traced.spans and any(form in row.content for form in forms)
    ]
    learned = tx.execute(select(f.id, f.content).where(f.owner == owner, REMEMBERED).execution_options(yield_per=500))
    facts = sum(row.id not in traced.family.all and any(form in row.content for form in traced.words) for row in learned)
    counts = {"message": len(messages), "fact": facts}
    return {place: count for place, count in counts.items() if count}, tuple(messages[:MOST_SHOWN])


def forms_of(words: Sequence[str]) -> list[str]:
    """Every way in which a text may be written inside JSON, the longest first."""
    found: set[str] = set()
    for word in words:
        layer = {word}
        for _ in range(NESTED + 1):
            found |= layer
            layer = {json.dumps(one, ensure_ascii=plain)[1:-1] for one in layer for plain in (True, False)}
    return sorted(found, key=lambda form: (-len(form), form))


def _merged(tx: Tx, numbers: Collection[int]) -> Sequence[Any]:
    c = t.fact_status.c
    wanted = select(c.fact_id, c.superseded_by, c.to_seq).where(c.cause == "merged")
    return [row for end in (c.fact_id, c.superseded_by) for row in tx.execute(wanted.where(end.in_(numbers)))]


def _is_fuller(row: Any) -> bool:
    """A fuller fact is made after its parts; what was said again gave way to one that was there."""
    return bool(row.superseded_by > row.fact_id)


def _spans(tx: Tx, numbers: Collection[int]) -> tuple[dict[tuple[int, int], list[tuple[int, int]]], list[str]]:
    """Of messages that stand, and what they say there."""
    o, m = t.fact_origin.c, t.message.c
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    quotes = []
    wanted = select(t.fact_origin).where(o.fact_id.in_(numbers), o.start.is_not(None)).order_by(o.fact_id, o.n)
    for row in tx.execute(wanted).all():
        this = (m.session_number == row.session_number) & (m.n == row.message)
        said = tx.execute(select(t.message).where(this)).one_or_none()
        if said is not None and said.digest == row.said:
            found.setdefault((row.session_number, row.message), []).append((row.start, row.end))
            quotes.append(as_message(record(said, "")).text[row.start : row.end])
    return found, quotes


def _papers(tx: Tx, found: Family) -> tuple[str, ...]:
    """Reasons and statements that are about these facts."""
    s, p = t.fact_status.c, t.fact_proposal.c
    numbers = set(found.all)
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
    """What people gave as their reason for what they did with these facts."""
    e, a = t.audit_event.c, t.action.c
    given = select(e.body, a.payload).join(t.action, a.id == e.action_id).where(e.kind.like("fact.%"), a.payload != NOTHING_SAID)
    bodies = ((parse(row.body), row.payload) for row in tx.execute(given.where(a.verb != FORGETS)))  # why another one went stays
    return {paper for body, paper in bodies if body.get("fact") in numbers or body.get("proposal") in proposals}


def _told(tx: Tx, papers: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """What they say with a word of the fact; "it changed" is said of many."""
    mine = frozenset().union(*(alike.words(one) for one in words))
    said = (one for paper in payloads.get(tx, papers).values() for one in paper.values() if isinstance(one, str))
    return tuple(dict.fromkeys(one for one in said if alike.words(one) & mine))


def _there(tx: Tx, digests: Iterable[str]) -> Iterable[str]:
    c = t.payload.c
    for some in portions(sorted(digests)):
        yield from tx.execute(select(c.digest).where(c.digest.in_(some))).scalars()


def _quoting(tx: Tx, user_id: str | None, words: Sequence[str], since: int | None = None) -> tuple[str, ...]:
    """Payloads of calls of the user's runs with these words; of runs that had not ended at that seq."""
    p, call, run = t.payload.c, t.model_call.c, t.run.c
    mine = run.user_id == user_id if user_id is not None else run.user_id.is_(None)
    wanted = select(p.digest, p.body).join(t.model_call, call.payload == p.digest).join(t.run, run.id == call.run_id).where(mine)
    if since is not None:
        wanted = wanted.where(or_(run.closed_seq.is_(None), run.closed_seq > since))
    forms = forms_of(words)
    stream = tx.execute(wanted.execution_options(yield_per=50))
    return tuple({one.digest for one in stream if any(form in one.body for form in forms)})
