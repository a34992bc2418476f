"""Chunks: of a leaf, of a source, and what has changed for the indexes.

Invariant: within a leaf by created_at, then id; pages by keyset, never OFFSET (at 170,000 rows an OFFSET costs 22 to 554 ms).
A withdrawn source has no open filing, so reading open filings leaves it out.
Source: MEMOIR 4.3; DESIGN §5, §8 (indexes), §9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, func, select

from memoir_engine.errors import ChunkNotFound
from memoir_engine.results import Chunk, ChunkPage
from memoir_engine.store import chain, tree
from memoir_engine.store import tables as t
from memoir_engine.store.canon import moment_of, stamp
from memoir_engine.store.types import FAR, Tx, portions


class Filed(NamedTuple):
    """A chunk that entered a leaf at `seq`."""

    chunk_id: int
    category_id: int
    seq: int
    text: str
    source_id: int


@dataclass(frozen=True)
class Changes:
    """What an index that stands at one seq must take in and let go to stand at `seq`."""

    seq: int
    filed: tuple[Filed, ...]
    closed: tuple[int, ...]


def page(tx: Tx, category_id: int, *, after: str | None = None, limit: int = 50) -> ChunkPage:
    """A page of a leaf's chunks; `after` is the cursor of the page before."""
    wanted = _of_leaf(category_id)
    if after:
        at, number = _cursor(after)
        c = t.filing.c
        # this form keeps the index on every database; a tuple comparison makes MariaDB read the whole leaf
        wanted = wanted.where(c.created_at >= at, (c.created_at > at) | (c.chunk_id > number))
    found = _chunks(tx, wanted.limit(limit + 1))
    more = len(found) > limit
    last = found[limit - 1] if more else None
    return ChunkPage(found[:limit], f"{stamp(last.created_at)}|{last.id}" if last else None)


def of_leaves(tx: Tx, category_ids: Iterable[int], *, per_leaf_limit: int | None = None) -> dict[int, tuple[Chunk, ...]]:
    """The chunks of each leaf, read once per leaf; a leaf without chunks has an empty entry."""
    return {leaf: _chunks(tx, _of_leaf(leaf).limit(per_leaf_limit)) for leaf in dict.fromkeys(category_ids)}


def counts(tx: Tx, category_ids: Iterable[int]) -> dict[int, int]:
    """How many chunks each of these leaves holds."""
    c = t.filing.c
    found: dict[int, int] = {}
    for some in portions(sorted(set(category_ids))):
        rows = tx.execute(
            select(c.category_id, func.count()).where(c.to_seq == FAR, c.category_id.in_(some)).group_by(c.category_id)
        )
        found |= {row[0]: row[1] for row in rows}
    return found


def count(tx: Tx) -> int:
    """All chunks that are filed."""
    return int(tx.execute(select(func.count()).select_from(t.filing).where(t.filing.c.to_seq == FAR)).scalar_one())


def get(tx: Tx, chunk_id: int) -> Chunk:
    """With its leaf, if it is filed. Raises ChunkNotFound."""
    found = of_ids(tx, [chunk_id])
    if not found:
        raise ChunkNotFound(chunk_id=chunk_id)
    return found[0]


def of_ids(tx: Tx, chunk_ids: Sequence[int]) -> tuple[Chunk, ...]:
    """In the order asked for; unknown ids are left out."""
    found: dict[int, Chunk] = {}
    for some in portions(sorted(set(chunk_ids))):
        found |= {one.id: one for one in _chunks(tx, _wanted(outer=True).where(t.chunk.c.id.in_(some)))}
    return tuple(found[one] for one in dict.fromkeys(chunk_ids) if one in found)


def leaves_of_sources(tx: Tx, source_ids: Iterable[int]) -> tuple[int, ...]:
    """The leaves in which chunks of these sources are filed."""
    c = t.filing.c
    found: set[int] = set()
    for some in portions(sorted(set(source_ids))):
        wanted = select(c.category_id).join(t.chunk, t.chunk.c.id == c.chunk_id)
        wanted = wanted.where(c.to_seq == FAR, t.chunk.c.source_id.in_(some))
        found |= set(tx.execute(wanted.distinct()).scalars())
    return tuple(sorted(found))


def of_source(tx: Tx, source_id: int) -> tuple[Chunk, ...]:
    """In position order."""
    return _chunks(tx, _wanted(outer=True).where(t.chunk.c.source_id == source_id).order_by(t.chunk.c.position))


def first_texts(tx: Tx, source_id: int, *, limit: int = 5) -> tuple[str, ...]:
    """The texts of a source's first chunks."""
    c = t.chunk.c
    return tuple(tx.execute(select(c.text).where(c.source_id == source_id).order_by(c.position).limit(limit)).scalars())


def texts(tx: Tx, chunk_ids: Iterable[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for some in portions(sorted(set(chunk_ids))):
        rows = tx.execute(select(t.chunk.c.id, t.chunk.c.text).where(t.chunk.c.id.in_(some)))
        found |= {row.id: row.text for row in rows}
    return found


def changes_since(tx: Tx, seq: int, *, limit: int | None = None) -> Changes:
    """What was filed and closed after `seq`; with a limit, up to the seq that the answer names."""
    c = t.filing.c
    wanted = select(c.chunk_id, c.category_id, c.from_seq, t.chunk.c.text, t.chunk.c.source_id)
    wanted = wanted.join(t.chunk, t.chunk.c.id == c.chunk_id).where(c.from_seq > seq, c.to_seq == FAR)
    filed = tuple(Filed(*row) for row in tx.execute(wanted.order_by(c.from_seq, c.chunk_id).limit(limit)))
    full = limit is not None and len(filed) == limit
    upto = filed[-1].seq if full else chain.seq(tx)
    if full:  # a roll-up event files many chunks at one seq: take in all of them or none
        same = tx.execute(wanted.where(c.from_seq == upto).order_by(c.chunk_id))
        filed = (*(one for one in filed if one.seq < upto), *(Filed(*row) for row in same))
    gone = select(c.chunk_id).where(c.to_seq > seq, c.to_seq <= upto, c.to_seq < FAR)
    closed = set(tx.execute(gone).scalars()) - {one.chunk_id for one in filed}
    still = select(c.chunk_id).where(c.to_seq == FAR)
    alive = {n for some in portions(sorted(closed)) for n in tx.execute(still.where(c.chunk_id.in_(some))).scalars()}
    return Changes(upto, filed, tuple(sorted(closed - alive)))


def _of_leaf(category_id: int) -> Select[Any]:
    c = t.filing.c
    return _wanted().where(c.category_id == category_id, c.to_seq == FAR).order_by(c.created_at, c.chunk_id)


def _wanted(*, outer: bool = False) -> Select[Any]:
    filed = t.chunk.join(t.source, t.source.c.id == t.chunk.c.source_id).join(
        t.filing, (t.filing.c.chunk_id == t.chunk.c.id) & (t.filing.c.to_seq == FAR), isouter=outer
    )
    names = ("id", "source_id", "position", "start", "end", "text", "tokens", "created_at")
    columns = (*(t.chunk.c[name] for name in names), t.filing.c.category_id, t.source.c.name.label("source_name"))
    return select(*columns).select_from(filed)


def _chunks(tx: Tx, wanted: Select[Any]) -> tuple[Chunk, ...]:
    rows = tx.execute(wanted).all()
    paths = tree.paths(tx, {row.category_id for row in rows})
    return tuple(
        Chunk(
            id=row.id,
            source_id=row.source_id,
            position=row.position,
            start=row.start,
            end=row.end,
            text=row.text,
            tokens=row.tokens,
            created_at=row.created_at,
            category_id=row.category_id,
            category_path=paths.get(row.category_id, ()),
            source_name=row.source_name,
        )
        for row in rows
    )


def _cursor(after: str) -> tuple[datetime, int]:
    """Raises ValueError for what is no cursor of ours."""
    at, _, number = after.partition("|")
    return moment_of(at), int(number)
