"""Search hits: the filter of a search, and passages with their place and text.

Invariant: only open passages of the owner or the workspace; a passage whose messages are gone is gone. A date known to the month
or year matches wherever its period overlaps the requested one; an undated passage matches none.
Source: MEMOLLA F-03-01; DESIGN §5 (spans), §6 (who and whose).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, or_, select

from memoir_engine.core.errors import SourceNotFound
from memoir_engine.store import tables
from memoir_engine.store.db.text_rules import WORKSPACE
from memoir_engine.store.db.types import FAR, Tx, portions
from memoir_engine.store.search import conversation_passages, passages
from memoir_engine.store.search.conversation_passages import PassageText
from memoir_engine.store.search.passages import PassageRow
from memoir_engine.store.sources.sources import MOST_ID

CONVERSATION = "conversation"  # the kind of passages without a source


@dataclass(frozen=True)
class SearchFilter:
    """Filter of a search; None passes everything. since, until: days, ISO 8601, both included."""

    sources: tuple[int, ...] | None = None
    kinds: tuple[str, ...] | None = None
    since: str | None = None
    until: str | None = None

    @property
    def is_open(self) -> bool:
        return self == SearchFilter()


def matching_ids(tx: Tx, owner: str, search_filter: SearchFilter) -> frozenset[int]:
    """Return the ids of passages that pass the filter. Raises SourceNotFound for an unknown source."""
    _check(tx, search_filter.sources or ())
    p, s = tables.passage.c, tables.source.c
    wanted = (
        select(p.id).select_from(tables.passage.join(tables.source, s.id == p.source_id, isouter=True)).where(p.to_seq == FAR)
    )
    wanted = wanted.where(p.owner.in_({WORKSPACE, owner}))
    if search_filter.sources is not None:
        wanted = wanted.where(p.source_id.in_(search_filter.sources))
    if search_filter.kinds is not None:
        wanted = wanted.where(_of_kinds(search_filter.kinds))
    if search_filter.since is not None:
        wanted = wanted.where(
            or_(p.dated >= search_filter.since, p.dated.in_((search_filter.since[:7], search_filter.since[:4])))
        )
    if search_filter.until is not None:
        wanted = wanted.where(p.dated <= search_filter.until)
    return frozenset(tx.execute(wanted).scalars())


def kinds(tx: Tx, owner: str) -> tuple[str, ...]:
    """Return the kinds of which there are passages."""
    p, s = tables.passage.c, tables.source.c
    is_open = (p.to_seq == FAR, p.owner.in_({WORKSPACE, owner}))
    wanted = select(s.kind).join(tables.passage, p.source_id == s.id).where(*is_open).distinct()
    found = set(tx.execute(wanted).scalars())
    has_conversation = tx.execute(select(p.id).where(*is_open, p.source_id.is_(None)).limit(1)).first()
    return tuple(sorted(found | ({CONVERSATION} if has_conversation else set())))


def _of_kinds(wanted: Collection[str]) -> ColumnElement[bool]:
    ways: list[ColumnElement[Any]] = [tables.source.c.kind.in_([kind for kind in wanted if kind != CONVERSATION])]
    if CONVERSATION in wanted:
        ways.append(tables.passage.c.source_id.is_(None))
    return or_(*ways)


def _check(tx: Tx, sources: Collection[int]) -> None:
    s, there = tables.source.c, set[int]()
    for some in portions(one for one in sources if abs(one) <= MOST_ID):
        there |= set(tx.execute(select(s.id).where(s.id.in_(some))).scalars())
    for number in sources:
        if number not in there:
            raise SourceNotFound(source_id=number)


@dataclass(frozen=True)
class PassageHit:
    """A passage as a search shows it. In a conversation `start` is in the first of `message_ids`, `end` in the last."""

    text: str
    start: int
    end: int
    kind: str
    dated: str | None
    doc_id: str | None = None
    source_id: int | None = None
    source_name: str | None = None
    session_id: str | None = None
    message_ids: tuple[int, ...] = ()


def load_hits(tx: Tx, passage_ids: Iterable[int], *, owner: str) -> dict[int, PassageHit]:
    rows = passages.get(tx, passage_ids, owner=owner)
    hits = {number: _of_source(row) for number, row in rows.items() if row.source_id is not None and row.text is not None}
    conversations = conversation_passages.texts(tx, [row for row in rows.values() if row.session_number is not None])
    return hits | {number: _of_session(rows[number], row) for number, row in conversations.items()}


def _of_source(row: PassageRow) -> PassageHit:
    return PassageHit(
        row.text or "", row.start, row.end, row.source_kind or "", row.dated, row.doc_id, row.source_id, row.source_name
    )


def _of_session(row: PassageRow, passage: PassageText) -> PassageHit:
    numbers = tuple(message.n for message in passage.messages)
    return PassageHit(
        passage.text, row.start, row.end, CONVERSATION, row.dated, session_id=passage.session_id, message_ids=numbers
    )
