"""Usages of a source's text: the runs that worked on it, the questions that read it, and the rows that quote it.

Invariant: runs that worked on the source or read it are known by ids; everything else is searched for words and phrases that
occur in no other source. In facts and speakers' names the words alone go; a fact that lost words has lost its salt, and its
vectors are made anew of what is left. Spans follow their messages, which change their lengths.
Source: DESIGN §6 (erasure names facts).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Select, Table, select, update

from memoir_engine.prompts import answer, classify, condense, evidence, helper, settle
from memoir_engine.prompts import select as prompts_select
from memoir_engine.store import tables
from memoir_engine.store.chain.canonical_json import canonical, parse
from memoir_engine.store.chain.tombstones import NO_SALT, key_of
from memoir_engine.store.conversations.messages import as_message
from memoir_engine.store.db.types import Tx, portions
from memoir_engine.store.facts import vectors
from memoir_engine.store.search import embeddings
from memoir_engine.store.search.conversation_passages import record
from memoir_engine.store.sources import sources
from memoir_engine.text.redaction import DistinctWords, iter_strings, map_strings

REGENERATES = "regenerate_helper"
ASKS_BY_NAME = "select"  # purpose of calls whose prompts hold names and key terms, no text
_PLAIN = tuple(prompt.INSTRUCTIONS for prompt in (answer, classify, condense, helper, prompts_select, settle))
_STREAM = {"yield_per": 500}
SAID = ("name", "content", "rest")  # of a message
FACT_TEXTS = ("content", "subject", "entities")
HELPER_TEXTS = tuple(tables.contextual_helper.c[name] for name in ("text", "author", "dated", "topic"))


@dataclass
class SourceUsages:
    """`runs` worked on the source, `questions` have read it. The rest are keys of rows that quote it, by table."""

    source: Any
    own: DistinctWords
    chunks: tuple[int, ...]
    runs: tuple[str, ...]
    questions: tuple[str, ...]
    calls: tuple[int, ...]  # of its runs
    papers: frozenset[str]  # payloads that hold it as a whole: prompts, replies, requests
    leaves: tuple[int, ...]  # where its chunks are or were filed
    signed: tuple[str, ...] = ()  # payloads of its signatures: they hold its name
    quoting: dict[str, tuple[str, ...]] = field(default_factory=dict)


def trace(tx: Tx, source_id: int, *, keep: Collection[int] = ()) -> SourceUsages:
    """keep: categories whose names are nobody's own. Raises SourceNotFound."""
    sources.get(tx, source_id)
    source = tx.execute(select(tables.source).where(tables.source.c.id == source_id)).one()
    runs = _runs(tx, source)
    own = _own(tx, source, keep)
    versions = _names(tx, own, set(runs))
    chunks = tuple(
        tx.execute(select(tables.chunk.c.id).where(tables.chunk.c.source_id == source_id).order_by(tables.chunk.c.id)).scalars()
    )
    questions = _questions(tx, set(chunks), set(runs))
    calls = _calls(tx, runs)
    papers = frozenset((*_papers(tx, runs, questions), *(row.payload for row in calls)))
    found = SourceUsages(source, own, chunks, runs, questions, tuple(row.id for row in calls), papers, _leaves(tx, chunks))
    found.signed = _signed(tx, source_id)
    found.quoting = {**_quoting(tx, found), "category_version": versions}
    return found


def told(row: Any, columns: Iterable[str], own: DistinctWords) -> dict[str, Any]:
    """Return the columns that hold its words, redacted; JSON is searched inside."""
    changed = {}
    for name in columns:
        before = getattr(row, name)
        after = before if before is None else _redacted(before, own)
        if after != before:
            changed[name] = after
    return changed


def _redacted(text: str, own: DistinctWords) -> str:
    if not own.may_stand_in(text):
        return text
    try:
        value = parse(text)
    except ValueError:
        return own.redacted(text)
    changed = map_strings(value, own.redacted)
    return text if changed == value else canonical(changed)


def _own(tx: Tx, source: Any, keep: Collection[int]) -> DistinctWords:
    c, v = tables.contextual_helper.c, tables.category_version.c
    said = [sources.text(tx, source.id), *_said_of(source)]
    for row in tx.execute(select(*HELPER_TEXTS).where(c.source_id == source.id)):
        said += [one for one in row if one]
    kept = tx.execute(select(v.name).where(v.category_id.in_(sorted(keep)))).scalars().all() if keep else []
    own = DistinctWords.of(said, names=_called(source), plain=(*_PLAIN, evidence.EXPLAINED, *kept))
    for text in _of_others(tx, source.id):
        own.forget(text)
    return own


def _called(source: Any) -> list[str]:
    """Return the names people use for it: its file name with and without the ending, its title, its author."""
    return [one for one in (source.name, source.name.rpartition(".")[0], source.title, source.author) if one]


def _names(tx: Tx, own: DistinctWords, runs: set[str]) -> tuple[str, ...]:
    """Versions of categories whose names say its very words, or were made by its own runs of words like them.

    The words of all other names come from elsewhere.
    """
    c, event = tables.category_version.c, tables.audit_event.c
    joined = tables.category_version.join(tables.audit_event, event.seq == c.from_seq).join(
        tables.action, tables.action.c.id == event.action_id
    )
    rows = tx.execute(select(c.category_id, c.from_seq, c.name, tables.action.c.run_id).select_from(joined)).all()
    made = {row.category_id for row in rows if row.run_id in runs}
    quoting = [row for row in rows if (own.stands_in if row.category_id in made else own.says)(row.name)]
    for name in {row.name for row in rows} - {row.name for row in quoting}:
        own.forget(name)
    return tuple(key_of(tables.category_version, row) for row in quoting)


def _of_others(tx: Tx, source_id: int) -> Iterator[str]:
    """All that other sources say, withdrawn and replaced ones too."""
    c, h = tables.chunk.c, tables.contextual_helper.c
    for row in tx.execute(select(tables.source).where(tables.source.c.id != source_id).order_by(tables.source.c.id)).all():
        yield from _said_of(row) if row.status != sources.ERASED else ()
    taken_over = _taken_over(tx, source_id)
    for number, *said in tx.execute(select(h.id, *HELPER_TEXTS).where(h.source_id != source_id)).all():
        yield from (one for one in said if one and number not in taken_over)
    yield from tx.execute(select(c.text).where(c.source_id != source_id).execution_options(**_STREAM)).scalars()
    part, s = tables.source_text.c, tables.source.c
    whole = select(s.id, part.text).join(tables.source, s.id == part.source_id).where(s.chunks == 0, s.id != source_id)
    rows = tx.execute(whole.order_by(s.id, part.part).execution_options(yield_per=64))
    for _, parts in groupby(rows, key=itemgetter(0)):
        yield "".join(text for _, text in parts)  # a name may lie across two of them


def _taken_over(tx: Tx, source_id: int) -> set[int]:
    """Helpers of other sources that are helpers of this one: a newer version has taken them over."""
    c = tables.contextual_helper.c
    mine = list(tx.execute(select(c.text).where(c.source_id == source_id)).scalars())
    rows = tx.execute(select(c.id, c.text).where(c.source_id != source_id)).all() if mine else ()
    return {row.id for row in rows if row.text and row.text in mine}


def _said_of(source: Any) -> list[str]:
    found = [one for one in (source.name, source.title, source.author, source.dated, source.doc_id) if one]
    return [*found, *iter_strings([parse(source.metadata), parse(source.headings)])]


def _runs(tx: Tx, source: Any) -> tuple[str, ...]:
    """Return the runs that ingested these bytes, successful or not, and those that regenerated its helper."""
    c = tables.run.c
    subject = select(c.subject).where(c.id == source.run_id).scalar_subquery()
    same = set(tx.execute(select(c.id).where(c.subject == subject)).scalars()) | ({source.run_id} if source.run_id else set())
    wanted = select(c.id, c.verb, tables.payload.c.body).join(tables.payload, tables.payload.c.digest == c.request)
    for row in tx.execute(wanted.where((c.verb == REGENERATES) | c.verb.like("ingest%"))):
        asked = parse(row.body)
        if asked.get("sha256") == source.sha256 or (row.verb == REGENERATES and asked.get("source_id") == source.id):
            same.add(row.id)
    return tuple(sorted(same))


def _questions(tx: Tx, chunks: set[int], but: set[str]) -> tuple[str, ...]:
    """Runs whose result names a chunk of it among what was read or caught."""
    found = []
    for run_id, result in tx.execute(select(tables.run.c.id, tables.run.c.result).order_by(tables.run.c.id)):
        record = parse(result)
        rows = record.get("chunks")
        read = {row[0] for row in rows} if isinstance(rows, list) else set()
        if run_id not in but and chunks & {*read, *record.get("net", ())}:
            found.append(run_id)
    return tuple(found)


def _calls(tx: Tx, runs: Iterable[str]) -> list[Any]:
    c = tables.model_call.c
    return [row for some in portions(runs) for row in tx.execute(select(c.id, c.payload).where(c.run_id.in_(some)))]


def _papers(tx: Tx, runs: Iterable[str], questions: Iterable[str]) -> Iterator[str]:
    c = tables.model_call.c
    for some in portions(runs):
        yield from tx.execute(select(tables.run.c.request).where(tables.run.c.id.in_(some))).scalars()
    for some in portions(questions):
        yield from tx.execute(select(c.payload).where(c.run_id.in_(some), c.purpose != ASKS_BY_NAME)).scalars()


def _signed(tx: Tx, source_id: int) -> tuple[str, ...]:
    c = tables.sign_off.c
    wanted = select(c.payload).where(c.subject == "source", c.subject_id == source_id, c.payload.is_not(None))
    return tuple(tx.execute(wanted.distinct().order_by(c.payload)).scalars())


def _leaves(tx: Tx, chunks: Iterable[int]) -> tuple[int, ...]:
    c = tables.filing.c
    found: set[int] = set()
    for some in portions(chunks):
        found |= set(tx.execute(select(c.category_id).where(c.chunk_id.in_(some)).distinct()).scalars())
    return tuple(sorted(found))


def _quoting(tx: Tx, found: SourceUsages) -> dict[str, tuple[str, ...]]:
    """Return rows that hold its words though they are neither its own nor known to have read it."""
    p, run, call, own = tables.payload.c, tables.run.c, tables.model_call.c, found.own
    mine, known = set(found.runs), {*found.papers, *found.signed}

    def rows(table: Table, wanted: Select[Any], *columns: str) -> tuple[str, ...]:
        result = tx.execute(wanted.execution_options(**_STREAM))
        return tuple(key_of(table, row) for row in result if told(row, columns, own))

    papers = rows(tables.payload, select(p.digest, p.body), "body")
    runs = rows(tables.run, select(run.id, run.result, run.error, run.remedy), "result", "error", "remedy")
    m = tables.message.c
    said = select(m.session_number, m.n, *(m[name] for name in SAID))
    f, o = tables.fact.c, tables.fact_origin.c
    speakers = select(o.fact_id, o.n, o.speaker).where(o.speaker.is_not(None))
    event, note, drawn = tables.run_event.c, tables.decision.c, tables.contextual_helper.c
    others = select(drawn.id, *HELPER_TEXTS).where(drawn.source_id != found.source.id)
    return {
        "payload": tuple(key for key in papers if key not in known),
        "run": tuple(key for key in runs if key not in mine),
        "message": rows(tables.message, said, *SAID),
        "fact": rows(tables.fact, select(f.id, *(f[name] for name in FACT_TEXTS)), *FACT_TEXTS),
        "fact_origin": rows(tables.fact_origin, speakers, "speaker"),
        "contextual_helper": rows(tables.contextual_helper, others, *(column.name for column in HELPER_TEXTS)),
        "model_call": rows(tables.model_call, select(call.id, call.error).where(call.error.is_not(None)), "error"),
        "decision": rows(tables.decision, select(note.id, note.note).where(note.note.is_not(None)), "note"),
        "run_event": tuple(
            key
            for key in rows(tables.run_event, select(event.run_id, event.n, event.body), "body")
            if key.split("/")[0] not in mine
        ),
    }


def take_out(tx: Tx, own: DistinctWords, keys: Sequence[str]) -> None:
    """keys: of facts."""
    c = tables.fact.c
    owners: set[str] = set()
    for key in keys:
        row = tx.execute(select(c.owner, *(c[name] for name in FACT_TEXTS)).where(c.id == int(key))).one()
        tx.execute(update(tables.fact).where(c.id == int(key)).values(**told(row, FACT_TEXTS, own), salt=NO_SALT))
        owners.add(row.owner)
    embeddings.drop(tx, "fact", map(int, keys))
    vectors.reset_owners(tx, owners)


def origins(tx: Tx, speakers: Iterable[str], messages: Iterable[str]) -> list[str]:
    """Keys of those with such a speaker, and of those in messages that lose words. Both are given by their keys."""
    c = tables.fact_origin.c
    there = set(speakers)
    for session, n in (key.split("/") for key in messages):
        this = (c.session_number == int(session)) & (c.message == int(n)) & c.start.is_not(None)
        there.update(f"{row.fact_id}/{row.n}" for row in tx.execute(select(c.fact_id, c.n).where(this)))
    return sorted(there)


def follow(tx: Tx, own: DistinctWords, keys: Sequence[str]) -> None:
    """Names of speakers lose the words; spans follow what is about to be left of their messages. keys: of origins."""
    c = tables.fact_origin.c
    for key in keys:
        number, n = (int(part) for part in key.split("/"))
        this = (c.fact_id == number) & (c.n == n)
        row = tx.execute(select(c.speaker, c.session_number, c.message, c.start, c.end).where(this)).one()
        changed = told(row, ["speaker"], own) | _span(tx, own, row)
        tx.execute(update(tables.fact_origin).where(this).values(**changed, salt=NO_SALT))


def _span(tx: Tx, own: DistinctWords, origin: Any) -> dict[str, int]:
    """All of the message, where it does not lose the words as a text does."""
    c = tables.message.c
    this = (c.session_number == origin.session_number) & (c.n == origin.message)
    row = None if origin.start is None else tx.execute(select(tables.message).where(this)).one_or_none()
    if row is None:
        return {}
    left = SimpleNamespace(**{**row._mapping, **told(row, SAID, own)})
    before, after = (as_message(record(one, "")).text for one in (row, left))
    is_plain = own.redacted(before) == after
    start, end = own.moved(before, origin.start, origin.end) if is_plain else (0, len(after))
    return {"start": start, "end": end}
