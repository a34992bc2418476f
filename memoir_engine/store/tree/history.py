"""What the tree has been through: the versions of a category, the filings of a chunk, and what differs between two moments.

Invariant: read from the rows that hold from one seq until another, never put together from events; events only say who and why.
Source: DESIGN §2.7, §5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, or_, select

from memoir_engine.core.errors import CategoryNotFound, ChunkNotFound, InvalidSetting
from memoir_engine.core.results import CategoryChange, CategoryVersion, Cause, Filing, LeafChange, Moment, TreeChanges
from memoir_engine.core.results.documents import Path
from memoir_engine.store import tables
from memoir_engine.store.chain import actions, payloads
from memoir_engine.store.chain.canonical_json import moment_of, parse, stamp
from memoir_engine.store.db.types import FAR, Tx, portions
from memoir_engine.store.tree import categories
from memoir_engine.store.tree.categories import CategoryRow
from memoir_engine.text.names import SEPARATOR

# === causes: Who did it, when and why: the events behind rows that hold from one seq until another.
#
# Invariant: an event that is gone is no cause; nothing is made up for it.
# Source: DESIGN §2.8, §6.


def of_seqs(tx: Tx, seqs: Iterable[int]) -> dict[int, Cause]:
    """By seq; FAR is no event."""
    e, a = tables.audit_event.c, tables.action.c
    rows: list[Any] = []
    for some in portions(sorted(set(seqs) - {FAR})):
        wanted = select(e.seq, e.at, e.kind, a.id, a.verb, a.actor, a.run_id, a.payload)
        rows += tx.execute(wanted.join(tables.action, a.id == e.action_id).where(e.seq.in_(some)).order_by(e.seq)).all()
    bodies = payloads.get(tx, (row.payload for row in rows))
    return {
        row.seq: Cause(
            seq=row.seq,
            at=moment_of(row.at),
            kind=row.kind,
            action_id=row.id,
            verb=row.verb,
            actor=row.actor,
            reason=bodies.get(row.payload, {}).get("reason"),
            run_id=row.run_id,
        )
        for row in rows
    }


# === moment_words: What an action did to the tree, in a few words.
#
# Invariant: a category is called what it was called just before the action; an undo is told by what it took back.
# Source: DESIGN §6.


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


# === moments: The moments of the tree: what a time or a seq comes to, and the actions after each of which it stood
# differently.
#
# Invariant: actions are whole. A time inside one means after it, since nobody saw the half of it; a seq means exactly
# that seq.
# Source: DESIGN §2.7, §5 (seq is the product's logical clock), §6.


FAMILIES = ("category.", "chunk.", "source.")  # of event kinds: what changes the tree, or what is filed in it


def seq_of(tx: Tx, when: int | datetime, name: str = "as_of") -> int:
    """The seq that a moment names: 0 before the first event, the last one for a time ahead. Raises InvalidSetting, by `name`."""
    if isinstance(when, int):
        last = actions.seq(tx)
        if not 0 <= when <= last:
            advice = f"Give a number from 0, which is before the first event, to {last}, the newest; or a time."
            raise InvalidSetting(name=name, value=when, problem="there is no such event", advice=advice)
        return when
    e = tables.audit_event.c
    action = tx.execute(select(e.action_id).where(e.at <= stamp(when)).order_by(e.at.desc()).limit(1)).scalar()
    return 0 if action is None else int(tx.execute(select(func.max(e.seq)).where(e.action_id == action)).scalar_one())


def time_of(tx: Tx, seq: int) -> datetime | None:
    """When the event happened; None for 0."""
    at = tx.execute(select(tables.audit_event.c.at).where(tables.audit_event.c.seq == seq)).scalar()
    return None if at is None else moment_of(at)


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


# === history


Rows = Mapping[int, CategoryRow]


class _Sat(NamedTuple):
    """The leaf of a chunk at both moments; None where it is not filed."""

    before: int | None
    after: int | None


def versions(tx: Tx, category_id: int) -> tuple[CategoryVersion, ...]:
    """Oldest first. Raises CategoryNotFound."""
    v = tables.category_version.c
    rows = tx.execute(select(tables.category_version).where(v.category_id == category_id).order_by(v.from_seq)).all()
    if not rows:
        raise CategoryNotFound(category_id=category_id)
    why = of_seqs(tx, _ends(rows))
    paths = [categories.paths(tx, [category_id], at_seq=row.from_seq)[category_id] for row in rows]
    into = categories.paths(tx, {row.merged_into for row in rows if row.merged_into is not None})
    return tuple(
        CategoryVersion(
            category_id=category_id,
            name=row.name,
            path=paths[at],
            parent_id=row.parent_id,
            from_seq=row.from_seq,
            to_seq=_until(row),
            merged_into=row.merged_into,
            began=why[row.from_seq],
            ended=why.get(row.to_seq),
            says=_renamed_or_moved(rows[at - 1], row, paths[at - 1], paths[at], into) if at else "made",
        )
        for at, row in enumerate(rows)
        if row.from_seq in why
    )


def filings(tx: Tx, chunk_id: int, *, at_seq: int | None = None) -> tuple[Filing, ...]:
    """Oldest first; at a seq only the one that holds then, if any. Raises ChunkNotFound."""
    c = tables.filing.c
    rows = tx.execute(select(tables.filing).where(c.chunk_id == chunk_id).order_by(c.from_seq)).all()
    if not rows or (at_seq is not None and rows[0].from_seq > at_seq):
        raise ChunkNotFound(chunk_id=chunk_id)
    why = of_seqs(tx, _ends(rows))
    paths = [categories.paths(tx, [row.category_id], at_seq=row.from_seq)[row.category_id] for row in rows]
    return tuple(
        Filing(
            chunk_id=chunk_id,
            category_id=row.category_id,
            path=paths[at],
            from_seq=row.from_seq,
            to_seq=_until(row),
            began=why[row.from_seq],
            ended=why.get(row.to_seq),
            says=_filed(rows[at - 1], row, paths[at - 1]) if at else "filed",
            reviewed_by=row.reviewed_by,
            verdict=row.verdict,
        )
        for at, row in enumerate(rows)
        if row.from_seq in why and (at_seq is None or row.from_seq <= at_seq < row.to_seq)
    )


def changes(tx: Tx, since: int, until: int) -> TreeChanges:
    """What is not the same at two seqs, whichever of them is earlier."""
    before, after = (categories.snapshot(tx, seq).categories for seq in (since, until))
    sat = _sat(tx, since, until)
    return TreeChanges(since, until, _changed_categories(tx, before, after, until), _leaves(tx, sat, since, until))


def _ends(rows: Iterable[Any]) -> list[int]:
    return [seq for row in rows for seq in (row.from_seq, row.to_seq)]


def _until(row: Any) -> int | None:
    return None if row.to_seq == FAR else int(row.to_seq)


def _renamed_or_moved(was: Any, row: Any, before: Path, after: Path, into: Mapping[int, Path]) -> str:
    if was.to_seq != row.from_seq:
        return "opened again"
    if row.merged_into is not None:
        return f"became one with {_told(into.get(row.merged_into, ()))}"
    said = [f"renamed from {was.name} to {row.name}"] if was.name != row.name else []
    if was.parent_key != row.parent_key:
        said.append(f"moved from {_told(before[:-1])} to {_told(after[:-1])}")
    return " and ".join(said) or "stands by itself again"


def _filed(was: Any, row: Any, before: Path) -> str:
    return f"moved from {_told(before)}" if was.to_seq == row.from_seq else "filed again"


def _told(path: Path) -> str:
    return f" {SEPARATOR} ".join(path)


def _changed_categories(
    tx: Tx, before: tuple[CategoryRow, ...], after: tuple[CategoryRow, ...], until: int
) -> tuple[CategoryChange, ...]:
    old, new = ({row.id: row for row in rows} for rows in (before, after))
    into = categories.merged_into(tx, old.keys() - new.keys(), at_seq=until)
    changed = []
    for number in sorted(old.keys() | new.keys()):
        was, now = old.get(number), new.get(number)
        stands = now or was
        assert stands is not None
        merged = into.get(number, number)
        change = CategoryChange(
            category_id=number,
            before=_path(number, old) if was else None,
            after=_path(number, new) if now else None,
            parent_id=stands.parent_id or None,
            made=was is None,
            closed=now is None,
            renamed=bool(was and now and was.name != now.name),
            moved=bool(was and now and was.parent_id != now.parent_id),
            merged_into=None if merged == number else merged,
            merged_path=() if merged == number else _path(merged, new),
        )
        if change.made or change.closed or change.renamed or change.moved:
            changed.append(change)
    return tuple(changed)


def _path(category_id: int, rows: Rows) -> Path:
    names: list[str] = []
    while category_id in rows:
        names.append(rows[category_id].name)
        category_id = rows[category_id].parent_id
    return tuple(reversed(names))


def _sat(tx: Tx, since: int, until: int) -> dict[int, _Sat]:
    """By chunk, of those that may have moved. A filing that begins and ends between the two is no place at either."""
    c = tables.filing.c
    first, last = min(since, until), max(since, until)
    began = (c.from_seq > first) & (c.from_seq <= last)
    ended = (c.to_seq > first) & (c.to_seq <= last)
    leaves: dict[int, list[int | None]] = {}
    for row in tx.execute(select(c.chunk_id, c.category_id, c.from_seq, c.to_seq).where(began | ended)):
        sat = leaves.setdefault(row.chunk_id, [None, None])
        for at, seq in enumerate((since, until)):
            if row.from_seq <= seq < row.to_seq:
                sat[at] = row.category_id
    return {chunk: _Sat(*leaves[chunk]) for chunk in sorted(leaves)}


def _leaves(tx: Tx, sat: Mapping[int, _Sat], since: int, until: int) -> tuple[LeafChange, ...]:
    kinds: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for chunk, (before, after) in sat.items():
        if before != after and after is not None:
            kinds[after]["added" if before is None else "came"].append(chunk)
        if before != after and before is not None:
            kinds[before]["removed" if after is None else "went"].append(chunk)
    paths = categories.paths(tx, kinds, at_seq=max(since, until))
    return tuple(
        LeafChange(leaf, paths.get(leaf, ()), **{kind: tuple(chunks) for kind, chunks in kinds[leaf].items()})
        for leaf in sorted(kinds)
    )
