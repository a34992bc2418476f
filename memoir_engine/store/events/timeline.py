"""Timeline of the tree: the actions after each of which it differed, each in a few words.

Invariant: actions are whole. A category is named as it was just before the action; an undo is described by what it took back.
Source: DESIGN §2.7, §6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import func, or_, select

from memoir_engine.core.results import Moment
from memoir_engine.store import tables
from memoir_engine.store.chain import actions, payloads
from memoir_engine.store.chain.canonical_json import moment_of, parse
from memoir_engine.store.db.types import Tx, portions
from memoir_engine.store.events.registry import KINDS

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
    said = _said(tx, [row for row in every.values() if row.id in known], known)
    return {row.id: said[row.id] if row.undoes is None else f"taken back: {said.get(row.undoes, '…')}" for row in actions}


def spans_of(tx: Tx, action_ids: Iterable[str]) -> dict[str, tuple[int, int]]:
    """First and last seq of each."""
    e = tables.audit_event.c
    found: dict[str, tuple[int, int]] = {}
    for some in portions(action_ids):
        wanted = select(e.action_id, func.min(e.seq), func.max(e.seq)).where(e.action_id.in_(some))
        found |= {row[0]: (row[1], row[2]) for row in tx.execute(wanted.group_by(e.action_id))}
    return found


def _said(tx: Tx, actions: Sequence[Any], spans: Spans) -> dict[str, str]:
    events = _events(tx, [spans[row.id][0] for row in actions])
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


def _events(tx: Tx, seqs: Iterable[int]) -> dict[int, tuple[str, Row]]:
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


FAMILIES = ("category.", "chunk.", "source.")  # of event kinds: what changes the tree, or what is filed in it


def recent(tx: Tx, *, limit: int, before: int | None = None, after: int | None = None) -> tuple[Moment, ...]:
    """Newest first: the last ones, those next below the seq `before`, or those next above the seq `after`."""
    a, e = tables.action.c, tables.audit_event.c
    touches = or_(*(e.kind.startswith(family, autoescape=True) for family in FAMILIES))
    touching = select(e.seq).where(e.action_id == a.id, touches).exists()
    wanted = (
        select(tables.action).where(touching).limit(limit + 1)
    )  # one more: an action that a bound falls inside is left out below
    if before is not None and before <= actions.seq(tx):
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
