"""The audit as a list for people: filtered in SQL, paged by cursor, with the events of each action; and the timeline of the tree.

Invariant: newest first by the chain's own time, which never repeats; a page costs the same however long the history is. Filters
use the tables that keep history; bodies of events (canonical JSON) are searched only for the few kinds whose rows keep no seq.
On the timeline actions are whole; a category is named as it was just before the action, an undo by what it took back.
Source: API "The ledger and the audit"; DESIGN §2.7, §6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, String, Subquery, cast, func, literal, or_, select, union
from sqlalchemy.dialects.postgresql import JSON

from memoir_engine.core.results import Action, AuditEvent, Moment
from memoir_engine.core.results.documents import Path
from memoir_engine.core.results.evidence import Tally
from memoir_engine.store import tables
from memoir_engine.store.chain import actions as chain_actions
from memoir_engine.store.chain import payloads
from memoir_engine.store.chain.canonical_json import moment_of, parse, stamp
from memoir_engine.store.db.text_rules import WORKSPACE
from memoir_engine.store.db.types import ROOT, Tx, portions
from memoir_engine.store.events.registry import KINDS
from memoir_engine.store.tree import categories as tree_categories

_MANY = 900  # ids in one list


def of_source(tx: Tx, number: int) -> ColumnElement[bool]:
    """Actions about the source, its chunks, its helpers or a signature under it."""
    chunks = select(tables.chunk.c.id).where(tables.chunk.c.source_id == number)
    e = tables.audit_event.c
    named = or_(e.kind.startswith("source."), e.kind.startswith("helper."), e.kind.startswith("chunks."))
    own = select(e.action_id).where(named, _says(e.body, "source", number))
    filings = _of_seqs(_filed(tables.filing.c.chunk_id.in_(chunks)))
    return or_(
        tables.action.c.id.in_(own),
        tables.action.c.id.in_(filings),
        tables.action.c.id.in_(_reviewed(tx, tables.filing.c.chunk_id.in_(chunks))),
        tables.action.c.id.in_(_signed("source", [number])),
    )


def of_category(tx: Tx, number: int) -> ColumnElement[bool]:
    """Actions about the category or what has ever been below it, and about what is or was filed there."""
    inside = _inside(tx, number)
    f, v = tables.filing.c, tables.category_version.c
    versions = union(select(v.from_seq).where(_any(v.category_id, inside)), select(v.to_seq).where(_any(v.category_id, inside)))
    return or_(
        tables.action.c.id.in_(_of_seqs(versions.subquery())),
        tables.action.c.id.in_(_of_seqs(_filed(_any(f.category_id, inside)))),
        tables.action.c.id.in_(_reviewed(tx, _any(f.category_id, inside))),
        tables.action.c.id.in_(_signed("category", inside)),
    )


def in_reason(tx: Tx, text: str) -> ColumnElement[bool]:
    """Actions whose reason holds the text, case aside."""
    reason = _json(tx, tables.payload.c.body, "reason")
    # SQLite folds the case of ASCII letters only: the usual ways to write a word are asked for one by one
    ways = dict.fromkeys((text, text.lower(), text.upper(), text.capitalize(), text.title()))
    wanted = or_(
        *(reason.contains(way, autoescape=True) for way in ways), func.lower(reason).contains(text.lower(), autoescape=True)
    )
    return tables.action.c.payload.in_(
        select(tables.payload.c.digest).join(tables.action, tables.action.c.payload == tables.payload.c.digest).where(wanted)
    )


def of_others(tx: Tx, whose: str, among: ColumnElement[bool]) -> Select[Any]:
    """Ids of the actions about facts, proposals or conversations that belong to somebody, but not to this owner.

    among: a condition on events, so that few are looked into.
    """
    e, f, p, s = tables.audit_event.c, tables.fact.c, tables.fact_proposal.c, tables.session.c

    def touching(member: str, kind: str, number: ColumnElement[int], owner: ColumnElement[str]) -> Select[Any]:
        theirs = owner.not_in((WORKSPACE, whose))
        return (
            select(e.action_id).join(number.table, number == _number(tx, e.body, member)).where(among, e.kind.like(kind), theirs)
        )

    found = union(
        touching("fact", "fact.%", f.id, f.owner),
        touching("proposal", "fact.%", p.id, p.owner),
        touching("session", "session.%", s.number, s.owner),
    ).subquery()
    return select(found.c[0])


def _inside(tx: Tx, number: int) -> list[int]:
    v = tables.category_version.c
    below: dict[int, list[int]] = {}
    for child, parent in tx.execute(select(v.category_id, v.parent_key).where(v.parent_key != ROOT).distinct()):
        below.setdefault(parent, []).append(child)
    found, new = {number}, [number]
    while new:
        new = [child for parent in new for child in below.get(parent, ()) if child not in found]
        found |= set(new)
    return sorted(found)


def _any(column: ColumnElement[int], numbers: list[int]) -> ColumnElement[bool]:
    return or_(*(column.in_(some) for some in portions(numbers, _MANY)))


def _filed(condition: ColumnElement[bool]) -> Subquery:
    f = tables.filing.c
    return union(select(f.from_seq).where(condition), select(f.to_seq).where(condition)).subquery()


def _of_seqs(seqs: Subquery) -> Select[Any]:
    return select(tables.audit_event.c.action_id).where(tables.audit_event.c.seq.in_(select(seqs.c[0])))


def _reviewed(tx: Tx, condition: ColumnElement[bool]) -> Select[Any]:
    """Verdicts stand in their filing's row, the last of them only: the others in their events."""
    e, f = tables.audit_event.c, tables.filing.c
    chunk, filing = _number(tx, e.body, "chunk"), _number(tx, e.body, "filing")
    mine = (f.chunk_id == chunk) & (f.from_seq == filing)
    return select(e.action_id).join(tables.filing, mine).where(e.kind.startswith("filing."), condition)


def _signed(subject: str, numbers: list[int]) -> Select[Any]:
    o = tables.sign_off.c
    mine = (o.subject == subject) & _any(o.subject_id, numbers)
    return _of_seqs(union(select(o.from_seq).where(mine), select(o.to_seq).where(mine)).subquery())


def _says(body: ColumnElement[str], key: str, number: int) -> ColumnElement[bool]:
    """In canonical JSON a number ends with a comma or a brace."""
    return or_(body.contains(f'"{key}":{number},'), body.contains(f'"{key}":{number}}}'))


def _number(tx: Tx, body: ColumnElement[str], key: str) -> ColumnElement[int]:
    return cast(_json(tx, body, key), BigInteger)


def _json(tx: Tx, body: ColumnElement[str], key: str) -> ColumnElement[str]:
    """A member of a JSON object, as text."""
    if tx.dialect.name == "postgresql":
        member: ColumnElement[str] = cast(body, JSON)[key].astext
        return member
    found = func.json_extract(body, literal(f"$.{key}"))
    return found if tx.dialect.name == "sqlite" else cast(func.json_unquote(found), String(4000))


SHOWN = 12  # lines of one action; what is more is told as one


@dataclass(frozen=True)
class ActivityFilter:
    """Filter of the audit; None: all. `since` is the first moment, `until` the first one after."""

    actor: str | None = None
    verb: str | None = None
    kind: str | None = None
    source: int | None = None
    category: int | None = None
    run: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = None
    but: tuple[str, ...] = ()


def page(
    tx: Tx, wanted: ActivityFilter, *, before: str | None = None, limit: int = 50, whose: str | None = None
) -> tuple[Action, ...]:
    """Newest first, below the action `before`; without events. whose: who looks, as the key of an owner; None may see all."""
    conditions = _conditions(tx, wanted, whose)
    a = tables.action.c
    if before is not None:
        conditions.append(a.at < select(a.at).where(a.id == before).scalar_subquery())
    rows = tx.execute(select(tables.action).where(*conditions).order_by(a.at.desc(), a.id.desc()).limit(limit)).all()
    bodies = payloads.get(tx, (row.payload for row in rows))
    undone = chain_actions.standing(tx, [row.id for row in rows])
    return veiled(tx, whose, [_action(row, bodies.get(row.payload, {}), undone.get(row.id)) for row in rows])


def veiled(tx: Tx, whose: str | None, actions: Sequence[Action]) -> tuple[Action, ...]:
    """Without the reasons of what was done to facts and conversations of others: they are about these people."""
    told = [one.action_id for one in actions if one.reason is not None]
    if whose is None or not told:
        return tuple(actions)
    theirs: set[str] = set()
    for some in portions(told):
        theirs.update(tx.execute(of_others(tx, whose, tables.audit_event.c.action_id.in_(some))).scalars())
    return tuple(replace(one, reason=None) if one.action_id in theirs else one for one in actions)


def count(tx: Tx, wanted: ActivityFilter, *, whose: str | None = None) -> int:
    """How many actions pass."""
    return int(tx.execute(select(func.count()).select_from(tables.action).where(*_conditions(tx, wanted, whose))).scalar_one())


def by_verb(tx: Tx, wanted: ActivityFilter) -> dict[str, int]:
    """How many pass, by what was done."""
    verb = tables.action.c.verb
    rows = tx.execute(select(verb, func.count()).where(*_conditions(tx, wanted)).group_by(verb).order_by(verb)).all()
    return {name: int(many) for name, many in rows}


def taken_back(tx: Tx, wanted: ActivityFilter) -> int:
    """How many of those that pass were undone, and that stands."""
    undone = select(tables.action.c.undoes).where(tables.action.c.undoes.is_not(None))
    found = tx.execute(select(tables.action.c.id).where(*_conditions(tx, wanted), tables.action.c.id.in_(undone))).scalars().all()
    return len(chain_actions.standing(tx, found))


def tallies(tx: Tx, action_ids: Sequence[str]) -> dict[str, tuple[tuple[Tally, ...], int]]:
    """Return the events of each action: events alike counted together in the order they began; and the number of other events."""
    e = tables.audit_event.c
    groups: dict[str, list[tuple[int, int]]] = {}
    for some in portions(action_ids):
        counted = select(e.action_id, func.min(e.seq).label("first"), func.count().label("events"))
        counted = counted.where(e.action_id.in_(some)).group_by(e.action_id, e.kind, e.payload)
        for row in tx.execute(counted.order_by(func.min(e.seq))):
            groups.setdefault(row.action_id, []).append((row.first, row.events))
    events = {one.seq: one for one in _events(tx, (first for found in groups.values() for first, _ in found[:SHOWN]))}
    return {
        action: (tuple(Tally(events[first], count) for first, count in found[:SHOWN]), sum(count for _, count in found[SHOWN:]))
        for action, found in groups.items()
    }


def _events(tx: Tx, seqs: Iterable[int]) -> tuple[AuditEvent, ...]:
    """In order, with their payloads."""
    found: list[Any] = []
    for some in portions(sorted(set(seqs))):
        found += tx.execute(
            select(tables.audit_event).where(tables.audit_event.c.seq.in_(some)).order_by(tables.audit_event.c.seq)
        ).all()
    bodies = payloads.get(tx, (row.payload for row in found))
    return tuple(
        AuditEvent(row.seq, moment_of(row.at), row.action_id, row.kind, parse(row.body), bodies.get(row.payload or ""), row.hash)
        for row in found
    )


def names(
    tx: Tx, *, sources: Iterable[int], categories: Iterable[int], chunks: Iterable[int]
) -> tuple[dict[int, str], dict[int, Path], dict[int, tuple[int, int]]]:
    """Return names of sources, paths of categories, and source and position of chunks; the chunks' sources included."""
    placed: dict[int, tuple[int, int]] = {}
    for some in portions(sorted(set(chunks))):
        c = tables.chunk.c
        placed |= {row[0]: (row[1], row[2]) for row in tx.execute(select(c.id, c.source_id, c.position).where(c.id.in_(some)))}
    called: dict[int, str] = {}
    for some in portions(sorted({*sources, *(source for source, _ in placed.values())})):
        called |= {
            row[0]: row[1]
            for row in tx.execute(select(tables.source.c.id, tables.source.c.name).where(tables.source.c.id.in_(some)))
        }
    return called, tree_categories.paths(tx, categories), placed


def with_events(tx: Tx, actions: Sequence[Action]) -> tuple[Action, ...]:
    """The same, each with all its events."""
    return tuple(replace(one, events=chain_actions.get(tx, one.action_id).events) for one in actions)


def actors(tx: Tx, *, limit: int = 200) -> tuple[str, ...]:
    """Return all actors by name."""
    return tuple(tx.execute(select(tables.action.c.actor).distinct().order_by(tables.action.c.actor).limit(limit)).scalars())


def verbs(tx: Tx) -> tuple[str, ...]:
    """Return all verbs that occur."""
    return tuple(tx.execute(select(tables.action.c.verb).distinct().order_by(tables.action.c.verb)).scalars())


def _conditions(tx: Tx, wanted: ActivityFilter, whose: str | None = None) -> list[ColumnElement[bool]]:
    a, e = tables.action.c, tables.audit_event.c
    found: list[ColumnElement[bool]] = [
        column == value for column, value in ((a.actor, wanted.actor), (a.verb, wanted.verb), (a.run_id, wanted.run)) if value
    ]
    if wanted.but:
        found.append(a.verb.not_in(wanted.but))
    if wanted.since is not None:
        found.append(a.at >= stamp(wanted.since))
    if wanted.until is not None:
        found.append(a.at < stamp(wanted.until))
    if wanted.kind:
        found.append(a.id.in_(select(e.action_id).where(e.kind == wanted.kind)))
    if wanted.source is not None:
        found.append(of_source(tx, wanted.source))
    if wanted.category is not None:
        found.append(of_category(tx, wanted.category))
    if wanted.text:
        said = in_reason(tx, wanted.text)
        found.append(said)
        if whose is not None:  # what may not be read is not found either
            found.append(a.id.not_in(of_others(tx, whose, e.action_id.in_(select(a.id).where(said)))))
    return found


def _action(row: Any, body: dict[str, Any], undone_by: str | None) -> Action:
    return Action(
        action_id=row.id,
        verb=row.verb,
        actor=row.actor,
        at=moment_of(row.at),
        reason=body.get("reason"),
        run_id=row.run_id,
        undoes=row.undoes,
        undone_by=undone_by,
    )


Row = dict[str, Any]
Spans = Mapping[str, tuple[int, int]]

PLACES = ("category", "other", "was")  # what events and edits call the categories they name
EDITS = {
    "create": "{name} made",
    "rename": "{category} renamed to {name}",
    "move": "{category} moved below {other}",
    "merge": "{category} merged into {other}",
    "split": "{name} split off {category}",
    "retire": "{category} retired",
    "refile_many": "chunks filed in {other}",
}


def of_actions(tx: Tx, actions: Sequence[Any], spans: Spans) -> dict[str, str]:
    """actions: rows of `action`; spans: the first and last seq of each."""
    undone = [row.undoes for row in actions if row.undoes is not None]
    others = [row for some in portions(undone) for row in tx.execute(select(tables.action).where(tables.action.c.id.in_(some)))]
    every = {row.id: row for row in (*others, *actions)}
    known = {**spans_of(tx, [one for one in every if one not in spans]), **spans}
    said = _words(tx, [row for row in every.values() if row.id in known], known)
    return {row.id: said[row.id] if row.undoes is None else f"taken back: {said.get(row.undoes, '…')}" for row in actions}


def spans_of(tx: Tx, action_ids: Iterable[str]) -> dict[str, tuple[int, int]]:
    """First and last seq of each."""
    e = tables.audit_event.c
    found: dict[str, tuple[int, int]] = {}
    for some in portions(action_ids):
        wanted = select(e.action_id, func.min(e.seq), func.max(e.seq)).where(e.action_id.in_(some))
        found |= {row[0]: (row[1], row[2]) for row in tx.execute(wanted.group_by(e.action_id))}
    return found


def _words(tx: Tx, actions: Sequence[Any], spans: Spans) -> dict[str, str]:
    events = _kinds_and_bodies(tx, [spans[row.id][0] for row in actions])
    bodies = payloads.get(tx, (row.payload for row in actions))
    told = {row.id: bodies.get(row.payload, {}).get("edit") or events[spans[row.id][0]][1] for row in actions}
    categories = _categories(tx, {told[row.id].get(name) or 0 for row in actions for name in PLACES})
    sources = _sources(tx, {told[row.id].get("source") or 0 for row in actions})
    said = {}
    for row in actions:
        first = spans[row.id][0]
        kind = events[first][0]
        registered = KINDS.get(kind)
        form = EDITS.get(row.verb) or (registered and registered.moment) or kind.replace(".", " ")
        numbers = told[row.id]
        places = {name: _called(categories.get(numbers.get(name) or 0, ()), first) for name in PLACES}
        source, chunks = sources.get(numbers.get("source") or 0, ("a source", "chunks"))
        said[row.id] = form.format(**places, name=numbers.get("name", "a category"), source=source, chunks=chunks)
    return said


def _called(names: Sequence[tuple[int, str]], seq: int) -> str:
    """names: with the seq from which each holds."""
    before = [name for since, name in names if since < seq] or [name for _, name in names[:1]]
    return before[-1] if before else "the root"


def _kinds_and_bodies(tx: Tx, seqs: Iterable[int]) -> dict[int, tuple[str, Row]]:
    """Kind and body by seq."""
    e = tables.audit_event.c
    found: dict[int, tuple[str, Row]] = {}
    for some in portions(sorted(set(seqs))):
        rows = tx.execute(select(e.seq, e.kind, e.body).where(e.seq.in_(some)))
        found |= {row.seq: (row.kind, parse(row.body)) for row in rows}
    return found


def _categories(tx: Tx, category_ids: Iterable[int]) -> dict[int, list[tuple[int, str]]]:
    v = tables.category_version.c
    found: dict[int, list[tuple[int, str]]] = {}
    for some in portions(sorted(category_ids)):
        for row in tx.execute(select(v.category_id, v.from_seq, v.name).where(v.category_id.in_(some)).order_by(v.from_seq)):
            found.setdefault(row.category_id, []).append((row.from_seq, row.name))
    return found


def _sources(tx: Tx, source_ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Name and size."""
    s = tables.source.c
    found: dict[int, tuple[str, str]] = {}
    for some in portions(sorted(source_ids)):
        for row in tx.execute(select(s.id, s.name, s.chunks).where(s.id.in_(some))):
            found[row.id] = (row.name, f"{row.chunks} chunk{'' if row.chunks == 1 else 's'}")
    return found


TREE_FAMILIES = ("category.", "chunk.", "source.")  # of event kinds: what changes the tree, or what is filed in it


def moments(tx: Tx, *, limit: int, before: int | None = None, after: int | None = None) -> tuple[Moment, ...]:
    """Newest first: the last ones, those next below the seq `before`, or those next above the seq `after`."""
    a, e = tables.action.c, tables.audit_event.c
    touches = or_(*(e.kind.startswith(family, autoescape=True) for family in TREE_FAMILIES))
    touching = select(e.seq).where(e.action_id == a.id, touches).exists()
    wanted = (
        select(tables.action).where(touching).limit(limit + 1)
    )  # one more: an action that a bound falls inside is left out below
    if before is not None and before <= chain_actions.seq(tx):
        wanted = wanted.where(a.at < select(e.at).where(e.seq == before).scalar_subquery())
    if after is not None and after > 0:
        its = tables.action.alias()
        wanted = wanted.where(
            a.at >= select(its.c.at).join(tables.audit_event, e.action_id == its.c.id).where(e.seq == after).scalar_subquery()
        )
    order = (a.at.desc(), a.id.desc()) if after is None else (a.at, a.id)
    rows = tx.execute(wanted.order_by(*order)).all()
    spans = spans_of(tx, [row.id for row in rows])
    known = [row for row in rows if row.id in spans and _between(after, spans[row.id][1], before)][:limit]
    known = known if after is None else known[::-1]
    says = of_actions(tx, known, spans)
    bodies = payloads.get(tx, (row.payload for row in known))
    return tuple(
        Moment(
            seq=spans[row.id][1],
            at=moment_of(row.at),
            action_id=row.id,
            verb=row.verb,
            actor=row.actor,
            reason=bodies.get(row.payload, {}).get("reason"),
            run_id=row.run_id,
            says=says[row.id],
        )
        for row in known
    )


def _between(after: int | None, seq: int, before: int | None) -> bool:
    return (after is None or seq > after) and (before is None or seq < before)
