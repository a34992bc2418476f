"""What an action did to the tree, in a few words.

Invariant: a category is called what it was called just before the action; an undo is told by what it took back.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import func, select

from memoir_engine.store import payloads
from memoir_engine.store import tables as t
from memoir_engine.store.canon import parse
from memoir_engine.store.types import Tx, portions

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
EVENTS = {
    "source.added": "{source} filed in {chunks}",
    "source.withdrawn": "{source} withdrawn",
    "source.replaced": "{source} replaced by a newer version",
    "source.restored": "{source} filed again",
    "source.erased": "{source} erased",
    "chunk.refiled": "a chunk moved from {was} to {category}",
    "chunk.rejected": "a chunk taken out of {category}",
    "chunk.returned": "a chunk filed again in {category}",
    "chunk.filed": "a chunk filed in {category}",
}


def of_actions(tx: Tx, actions: Sequence[Any], spans: Spans) -> dict[str, str]:
    """actions: rows of `action`; spans: the first and last seq of each."""
    undone = [row.undoes for row in actions if row.undoes is not None]
    others = [row for some in portions(undone) for row in tx.execute(select(t.action).where(t.action.c.id.in_(some)))]
    every = {row.id: row for row in (*others, *actions)}
    known = {**spans_of(tx, [one for one in every if one not in spans]), **spans}
    said = _said(tx, [row for row in every.values() if row.id in known], known)
    return {row.id: said[row.id] if row.undoes is None else f"taken back: {said.get(row.undoes, '…')}" for row in actions}


def spans_of(tx: Tx, action_ids: Iterable[str]) -> dict[str, tuple[int, int]]:
    """First and last seq of each."""
    e = t.audit_event.c
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
        form = EDITS.get(row.verb) or EVENTS.get(events[first][0]) or events[first][0].replace(".", " ")
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
    e = t.audit_event.c
    found: dict[int, tuple[str, Row]] = {}
    for some in portions(sorted(set(seqs))):
        rows = tx.execute(select(e.seq, e.kind, e.body).where(e.seq.in_(some)))
        found |= {row.seq: (row.kind, parse(row.body)) for row in rows}
    return found


def _categories(tx: Tx, category_ids: Iterable[int]) -> dict[int, list[tuple[int, str]]]:
    v = t.category_version.c
    found: dict[int, list[tuple[int, str]]] = {}
    for some in portions(sorted(category_ids)):
        for row in tx.execute(select(v.category_id, v.from_seq, v.name).where(v.category_id.in_(some)).order_by(v.from_seq)):
            found.setdefault(row.category_id, []).append((row.from_seq, row.name))
    return found


def _sources(tx: Tx, source_ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Name and size."""
    s = t.source.c
    found: dict[int, tuple[str, str]] = {}
    for some in portions(sorted(source_ids)):
        for row in tx.execute(select(s.id, s.name, s.chunks).where(s.id.in_(some))):
            found[row.id] = (row.name, f"{row.chunks} chunk{'' if row.chunks == 1 else 's'}")
    return found
