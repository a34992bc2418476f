"""Which passages a search is limited to: by source, by kind, by the date of what they say.

Invariant: only passages that stand, of the owner or the workspace. A date known to the month or year lies wherever its period
touches the one asked for; what has no date is in none.
Source: DESIGN §6 (who and whose).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, or_, select

from memoir_engine.errors import SourceNotFound
from memoir_engine.store import tables as t
from memoir_engine.store.owners import WORKSPACE
from memoir_engine.store.sources import MOST_ID
from memoir_engine.store.types import FAR, Tx, portions

CONVERSATION = "conversation"  # the kind of passages that are of no source


@dataclass(frozen=True)
class Sieve:
    """None lets everything through. since, until: days, ISO 8601, both included."""

    sources: tuple[int, ...] | None = None
    kinds: tuple[str, ...] | None = None
    since: str | None = None
    until: str | None = None

    @property
    def is_open(self) -> bool:
        return self == Sieve()


def sifted(tx: Tx, owner: str, sieve: Sieve) -> frozenset[int]:
    """The ids that pass. Raises SourceNotFound for a source that there is not."""
    _check(tx, sieve.sources or ())
    p, s = t.passage.c, t.source.c
    wanted = select(p.id).select_from(t.passage.join(t.source, s.id == p.source_id, isouter=True)).where(p.to_seq == FAR)
    wanted = wanted.where(p.owner.in_({WORKSPACE, owner}))
    if sieve.sources is not None:
        wanted = wanted.where(p.source_id.in_(sieve.sources))
    if sieve.kinds is not None:
        wanted = wanted.where(_of_kinds(sieve.kinds))
    if sieve.since is not None:
        wanted = wanted.where(or_(p.dated >= sieve.since, p.dated.in_((sieve.since[:7], sieve.since[:4]))))
    if sieve.until is not None:
        wanted = wanted.where(p.dated <= sieve.until)
    return frozenset(tx.execute(wanted).scalars())


def kinds(tx: Tx, owner: str) -> tuple[str, ...]:
    """Those there are something of."""
    p, s = t.passage.c, t.source.c
    stands = (p.to_seq == FAR, p.owner.in_({WORKSPACE, owner}))
    wanted = select(s.kind).join(t.passage, p.source_id == s.id).where(*stands).distinct()
    found = set(tx.execute(wanted).scalars())
    said = tx.execute(select(p.id).where(*stands, p.source_id.is_(None)).limit(1)).first()
    return tuple(sorted(found | ({CONVERSATION} if said else set())))


def _of_kinds(wanted: Collection[str]) -> ColumnElement[bool]:
    ways: list[ColumnElement[Any]] = [t.source.c.kind.in_([kind for kind in wanted if kind != CONVERSATION])]
    if CONVERSATION in wanted:
        ways.append(t.passage.c.source_id.is_(None))
    return or_(*ways)


def _check(tx: Tx, sources: Collection[int]) -> None:
    s, there = t.source.c, set[int]()
    for some in portions(one for one in sources if abs(one) <= MOST_ID):
        there |= set(tx.execute(select(s.id).where(s.id.in_(some))).scalars())
    for number in sources:
        if number not in there:
            raise SourceNotFound(source_id=number)
