"""Whether the history is what it says: links, digests, replay.

Invariant: reads one snapshot, changes nothing. The links prove the events; the digests in the events prove the rows that
hold evidence; replaying the events gives the rows that say how things stand. A history cut off at its end links well:
only a head noted elsewhere (`expected_head`) shows it.
A run that is still open is covered when it closes; progress events, caches and leases are no evidence.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import select

from memoir_engine.results import AuditCheck, AuditHead
from memoir_engine.store import chain
from memoir_engine.store import tables as t
from memoir_engine.store.database import Database
from memoir_engine.store.digests import digest_problems
from memoir_engine.store.replay import replay_problems
from memoir_engine.store.told import Problem, Told
from memoir_engine.store.types import Tx

_BATCH = 20_000
_COLUMNS = tuple(t.audit_event.c[name] for name in ("seq", "at", "action_id", "kind", "body", "payload", "prev_hash", "hash"))

Event = tuple[int, str, str, str, str, str | None, str, str]


@dataclass(frozen=True)
class Links:
    """What following the links came to. `first_bad` is the first event that does not follow from the one before."""

    checked: int
    first_bad: int | None
    problem: str | None


def verify(db: Database, *, expected_head: str | AuditHead | None = None, links_only: bool = False) -> AuditCheck:
    """Links, digests and replay. `expected_head`: a head (or its hash) noted earlier, which must be in the history."""
    return db.read(lambda tx: check(tx, expected_head=expected_head, links_only=links_only))


def check(tx: Tx, *, expected_head: str | AuditHead | None = None, links_only: bool = False) -> AuditCheck:
    """The same, inside a transaction of the caller."""
    links = follow(tx, expected_head=expected_head)
    if links_only or links.problem is not None:
        return AuditCheck(links.problem is None, links.checked, links.first_bad, links.problem, chain.head(tx))
    told = Told()
    for seq, at, action_id, kind, body, payload, _, _ in _events(tx):
        told.take(seq, at, action_id, kind, body, payload)
    found = [*told.problems, *digest_problems(tx, told), *replay_problems(tx, told)]
    first = min(found, key=_first_seq, default=None)
    return AuditCheck(
        ok=first is None,
        checked=links.checked,
        first_bad=first.seq if first else None,
        problem=first.says if first else None,
        head=chain.head(tx),
    )


def follow(tx: Tx, *, expected_head: str | AuditHead | None = None) -> Links:
    """The links alone: nothing is parsed."""
    wanted = expected_head.hash if isinstance(expected_head, AuditHead) else expected_head
    met = wanted in (None, chain.GENESIS)
    previous, last, at = chain.GENESIS, 0, chain.BEGINNING
    for seq, stamped, action_id, kind, body, payload, prev_hash, stored in _events(tx):
        if seq != last + 1 or prev_hash != previous:
            return Links(last, seq, f"event {seq} does not follow event {last}")
        previous = chain.link(seq, stamped, action_id, kind, body, payload, previous)
        if previous != stored or stamped <= at:
            return Links(last, seq, f"event {seq} is not what was written")
        last, at = seq, stamped
        met = met or previous == wanted
    head = chain.head(tx)
    if (head.seq, head.hash) != (last, previous):
        return Links(last, min(head.seq, last + 1), f"the history ends with event {last}, its head is event {head.seq}")
    if not met:
        return Links(last, last + 1, "the expected head is not in the history: its end was cut off or written anew")
    return Links(last, None, None)


def _events(tx: Tx) -> Iterator[Event]:
    """In order, by portions: no server keeps a cursor for us, no list of a million rows."""
    wanted = select(*_COLUMNS).order_by(t.audit_event.c.seq).limit(_BATCH)
    last = -(2**62)
    # plain tuples off the driver's cursor: these columns need no conversion on any database
    while rows := tx.execute(wanted.where(t.audit_event.c.seq > last)).cursor.fetchall():
        yield from rows
        last = rows[-1][0]


def _first_seq(problem: Problem) -> float:
    return float("inf") if problem.seq is None else problem.seq
