"""Erasing a source: the one list of places that hold its text, and what becomes of each.

Invariant: a place that is not in `PLACES` holds no text. What covered a text keeps its digest, and loses its salt: no guess can
be confirmed. What other runs asked and answered loses the words, not the rest.
What is kept outside the database (the lexical index, caches in memory) follows the event like any other change.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select, update

from memoir_engine.store import tables
from memoir_engine.store.chain.canonical_json import canonical, parse
from memoir_engine.store.chain.tombstones import NO_SALT
from memoir_engine.store.checkpoints import deletion
from memoir_engine.store.db.text_rules import name_key
from memoir_engine.store.db.types import Tx, portions
from memoir_engine.store.erase import usages
from memoir_engine.store.erase.usages import HELPER_TEXTS, SAID, SourceUsages, told
from memoir_engine.store.search import conversation_passages, embeddings
from memoir_engine.store.sources.sources import ERASED
from memoir_engine.store.tree import cache
from memoir_engine.text.redaction import ERASED as redaction_ERASED

Keys = tuple[str, ...]


@dataclass(frozen=True)
class TextPlace:
    """Rows of a table. `says` is what they are, for people. `stone`: what stands for them afterwards, None where none need."""

    table: str
    says: str
    keys: Callable[[Tx, SourceUsages], Iterable[object]]
    clear: Callable[[Tx, SourceUsages, Keys], None]
    stone: str | None = None  # "gone" or "changed"


def found(tx: Tx, traced: SourceUsages) -> list[tuple[TextPlace, Keys]]:
    """The rows of each place, by key."""
    return [(place, tuple(dict.fromkeys(str(key) for key in place.keys(tx, traced)))) for place in PLACES]


def _source(tx: Tx, traced: SourceUsages, _keys: Keys) -> None:
    number = traced.source.id
    nothing = {"title": None, "author": None, "dated": None, "doc_id": None, "headings": "[]", "metadata": "{}"}
    digests = {"sha256": "", "text_sha256": "", "salt": NO_SALT}
    row = update(tables.source).where(tables.source.c.id == number)
    tx.execute(row.values(name=blank_title(number), **nothing, **digests))


def blank_title(source_id: int) -> str:
    return f"{ERASED} source {source_id}"


def _parts(table: Any) -> Callable[[Tx, SourceUsages, Keys], None]:
    def clear(tx: Tx, traced: SourceUsages, _keys: Keys) -> None:
        tx.execute(delete(table).where(table.c.source_id == traced.source.id))

    return clear


def _helpers(tx: Tx, traced: SourceUsages, _keys: Keys) -> None:
    rows = update(tables.contextual_helper).where(tables.contextual_helper.c.source_id == traced.source.id)
    tx.execute(rows.values(text="", author=None, dated=None, topic=None, salt=NO_SALT))


def _taken_over(tx: Tx, traced: SourceUsages, keys: Keys) -> None:
    c = tables.contextual_helper.c
    for key in keys:
        row = tx.execute(select(c.id, *HELPER_TEXTS).where(c.id == int(key))).one()
        changed = told(row, [column.name for column in HELPER_TEXTS], traced.own)
        tx.execute(update(tables.contextual_helper).where(c.id == int(key)).values(**changed, salt=NO_SALT))


def _chunks(tx: Tx, traced: SourceUsages, _keys: Keys) -> None:
    tx.execute(update(tables.chunk).where(tables.chunk.c.source_id == traced.source.id).values(text="", salt=NO_SALT))


def _papers(tx: Tx, _traced: SourceUsages, keys: Keys) -> None:
    for some in portions(keys):
        tx.execute(delete(tables.payload).where(tables.payload.c.digest.in_(some)))


def _mentions(tx: Tx, traced: SourceUsages, keys: Keys) -> None:
    c = tables.payload.c
    for key in keys:
        row = tx.execute(select(c.body).where(c.digest == key)).one()
        tx.execute(update(tables.payload).where(c.digest == key).values(**told(row, ["body"], traced.own), salt=NO_SALT))


def _signatures(tx: Tx, traced: SourceUsages, keys: Keys) -> None:
    """Blank the whole name, though its words may occur elsewhere too."""
    c = tables.payload.c
    for key in keys:
        row = tx.execute(select(c.body).where(c.digest == key)).one()
        said = parse(told(row, ["body"], traced.own).get("body", row.body))
        body = canonical({**said, "title": blank_title(traced.source.id)})
        tx.execute(update(tables.payload).where(c.digest == key).values(body=body, salt=NO_SALT))


def _runs(tx: Tx, traced: SourceUsages, keys: Keys) -> None:
    """Keep the numbers of its own runs' results; take the words out of those of others."""
    c, mine = tables.run.c, set(traced.runs)
    for key in keys:
        row = tx.execute(select(c.result, c.error, c.remedy).where(c.id == key)).one()
        if key in mine:
            said = {"error": row.error and redaction_ERASED, "remedy": row.remedy and redaction_ERASED}
            changed = {"result": canonical(_numbers(parse(row.result))), "subject": None, **said}
        else:
            changed = told(row, ["result", "error", "remedy"], traced.own)
        tx.execute(update(tables.run).where(c.id == key).values(**changed, salt=NO_SALT))


def _numbers(record: dict[str, Any]) -> dict[str, Any]:
    """Keep numbers and the action's id of a run's result; other texts are names and warnings."""
    kept = {}
    for name, value in record.items():
        if isinstance(value, dict):
            kept[name] = _numbers(value)
        elif name == "action_id" or value is None or isinstance(value, int | float):
            kept[name] = value
    return kept


def _calls(tx: Tx, traced: SourceUsages, keys: Keys) -> None:
    c, mine = tables.model_call.c, {str(number) for number in traced.calls}
    for key in keys:
        row = tx.execute(select(c.error).where(c.id == int(key))).one()
        own = {"subject": None, "fingerprint": "", "error": row.error and redaction_ERASED}
        changed = own if key in mine else told(row, ["error"], traced.own)
        tx.execute(update(tables.model_call).where(c.id == int(key)).values(**changed, salt=NO_SALT))


def _notes(tx: Tx, traced: SourceUsages, keys: Keys) -> None:
    c = tables.decision.c
    for key in keys:
        row = tx.execute(select(c.note).where(c.id == int(key))).one()
        tx.execute(update(tables.decision).where(c.id == int(key)).values(**told(row, ["note"], traced.own), salt=NO_SALT))


def _names(tx: Tx, _traced: SourceUsages, keys: Keys) -> None:
    c = tables.category_version.c
    for key in keys:
        number, seq = (int(part) for part in key.split("/"))
        name = blank_name(number)
        row = update(tables.category_version).where(c.category_id == number, c.from_seq == seq)
        tx.execute(row.values(name=name, name_key=name_key(name), salt=NO_SALT))


def blank_name(category_id: int) -> str:
    return f"{ERASED} category {category_id}"


def _progress(tx: Tx, traced: SourceUsages, keys: Keys) -> None:
    """Delete the progress of its own runs; take the words out of that of others."""
    c, mine = tables.run_event.c, set(traced.runs)
    for some in portions(traced.runs):
        tx.execute(delete(tables.run_event).where(c.run_id.in_(some)))
    for run_id, n in (key.split("/") for key in keys):
        if run_id not in mine:
            this = (c.run_id == run_id) & (c.n == int(n))
            row = tx.execute(select(c.body).where(this)).one()
            tx.execute(update(tables.run_event).where(this).values(**told(row, ["body"], traced.own)))


def _inputs(tx: Tx, traced: SourceUsages, _keys: Keys) -> None:
    for some in portions(traced.runs):
        tx.execute(delete(tables.run_input).where(tables.run_input.c.run_id.in_(some)))


def _said(tx: Tx, traced: SourceUsages, keys: Keys) -> None:
    """Messages lose the words, and what was cut of them is cut anew."""
    c, s = tables.message.c, tables.session.c
    for key in keys:
        number, n = (int(part) for part in key.split("/"))
        this = (c.session_number == number) & (c.n == n)
        row = tx.execute(select(*(c[name] for name in SAID)).where(this)).one()
        changed = told(row, SAID, traced.own)
        tx.execute(update(tables.message).where(this).values(**changed, salt=NO_SALT))
        longer = len(changed.get("content", row.content)) - len(row.content)
        tx.execute(update(tables.session).where(s.number == number).values(chars=s.chars + longer))
        conversation_passages.drop_through(tx, number, [n])


def _profiles(tx: Tx, traced: SourceUsages, _keys: Keys) -> None:
    cache.remove(tx, traced.leaves)


def _vectors(tx: Tx, _traced: SourceUsages, keys: Keys) -> None:
    embeddings.drop(tx, "passage", (int(key) for key in keys))


def _own_vectors(tx: Tx, traced: SourceUsages) -> list[int]:
    e, p = tables.embedding.c, tables.passage.c
    wanted = select(e.item_id).join(tables.passage, (p.id == e.item_id) & (e.kind == "passage"))
    return list(tx.execute(wanted.where(p.source_id == traced.source.id).distinct()).scalars())


def _own_progress(tx: Tx, traced: SourceUsages) -> list[str]:
    c = tables.run_event.c
    rows = [row for some in portions(traced.runs) for row in tx.execute(select(c.run_id, c.n).where(c.run_id.in_(some)))]
    return [*(f"{row.run_id}/{row.n}" for row in rows), *traced.quoting["run_event"]]


def _kept_inputs(tx: Tx, traced: SourceUsages) -> list[str]:
    c = tables.run_input.c
    return [one for some in portions(traced.runs) for one in tx.execute(select(c.run_id).where(c.run_id.in_(some))).scalars()]


def _versions(tx: Tx, traced: SourceUsages) -> list[int]:
    c = tables.contextual_helper.c
    return list(tx.execute(select(c.id).where(c.source_id == traced.source.id).order_by(c.id)).scalars())


def _blobs(tx: Tx, traced: SourceUsages) -> list[int]:
    c = tables.profile.c
    return [
        one
        for some in portions(traced.leaves)
        for one in tx.execute(select(c.category_id).where(c.category_id.in_(some))).scalars()
    ]


def _itself(_tx: Tx, traced: SourceUsages) -> list[int]:
    return [traced.source.id]


# The one list. Prompts, replies, requests, options, reasons, statements, before and after: all of them are payloads.
PLACES: tuple[TextPlace, ...] = (
    TextPlace("source", "name, title, author, headings, metadata and hashes", _itself, _source, "changed"),
    TextPlace("source_text", "text", _itself, _parts(tables.source_text), "gone"),
    TextPlace("source_file", "original bytes", _itself, _parts(tables.source_file), "gone"),
    TextPlace("contextual_helper", "contextual helpers", _versions, _helpers, "changed"),
    TextPlace(
        "contextual_helper",
        "its helpers that newer versions took over",
        lambda _, traced: traced.quoting["contextual_helper"],
        _taken_over,
        "changed",
    ),
    TextPlace("chunk", "chunks", lambda _, traced: traced.chunks, _chunks, "changed"),
    TextPlace("payload", "prompts, replies and requests that hold it", lambda _, traced: sorted(traced.papers), _papers, "gone"),
    TextPlace(
        "payload",
        "other prompts, options and reasons that quote it",
        lambda _, traced: traced.quoting["payload"],
        _mentions,
        "changed",
    ),
    TextPlace("payload", "signatures that name it", lambda _, traced: traced.signed, _signatures, "changed"),
    TextPlace("run", "records of runs", lambda _, traced: (*traced.runs, *traced.quoting["run"]), _runs, "changed"),
    TextPlace("model_call", "calls", lambda _, traced: (*traced.calls, *traced.quoting["model_call"]), _calls, "changed"),
    TextPlace("decision", "notes of decisions", lambda _, traced: traced.quoting["decision"], _notes, "changed"),
    TextPlace(
        "category_version",
        "category names that quote it",
        lambda _, traced: traced.quoting["category_version"],
        _names,
        "changed",
    ),
    TextPlace(  # before the messages, as they stand now
        "fact_origin",
        "where facts that quote it were said, and by whom",
        lambda tx, traced: usages.origins(tx, traced.quoting["fact_origin"], traced.quoting["message"]),
        lambda tx, traced, keys: usages.follow(tx, traced.own, keys),
        "changed",
    ),
    TextPlace("message", "messages that quote it", lambda _, traced: traced.quoting["message"], _said, "changed"),
    TextPlace(
        "fact",
        "facts that quote it, and their vectors",
        lambda _, traced: traced.quoting["fact"],
        lambda tx, traced, keys: usages.take_out(tx, traced.own, keys),
        "changed",
    ),
    TextPlace(
        "checkpoint_value",
        "states of graphs that quote it",
        lambda tx, traced: deletion.quoting(tx, traced.own),
        lambda tx, traced, keys: deletion.take_out(tx, traced.own, keys),
    ),
    TextPlace("run_event", "progress of runs", _own_progress, _progress),
    TextPlace("run_input", "uploads kept to go on with", _kept_inputs, _inputs),
    TextPlace("profile", "profiles of categories", _blobs, _profiles),
    TextPlace("embedding", "vectors of its passages", _own_vectors, _vectors),
)
