"""Whether the history is what it says: links, digests, replay.

Invariant: reads one snapshot, changes nothing. The links prove the events; the digests in the events prove the rows that
hold evidence; replaying the events gives the rows that say how things stand. A history cut off at its end links well:
only a head noted elsewhere (`expected_head`) shows it.
A run that is still open is covered when it closes; progress events, caches and leases are no evidence. What cannot be read is
a problem like any other: verification always answers.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Event
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.exc import DBAPIError

from memoir_engine.core.results import AuditCheck, AuditHead
from memoir_engine.store import tables
from memoir_engine.store.chain import actions
from memoir_engine.store.chain.canonical_json import moment_of
from memoir_engine.store.chain.digests import digest_problems, fact_replay_problems
from memoir_engine.store.db.database import Database, problem_of
from memoir_engine.store.db.text_rules import name_key
from memoir_engine.store.db.types import FAR, ROOT, Tx
from memoir_engine.store.events.projection import Filing, Problem, Told

# === replay: The rows that say how things stand, beside what the events make of them.
#
# Invariant: every row of `filing`, `category`, `category_version` and `sign_off`, open or closed, and every source's
# status,
# predecessor and helper in force are exactly what replaying the events gives.
# Source: DESIGN §2.7, §6.


_STREAM = {"yield_per": 5000}


def replay_problems(tx: Tx, told: Told) -> Iterator[Problem]:
    yield from _sources(tx, told)
    yield from _categories(tx, told)
    yield from _versions(tx, told)
    yield from _filings(tx, told)
    yield from _sign_offs(tx, told)
    yield from fact_replay_problems(tx, told)


def _stream(tx: Tx, wanted: Select[Any]) -> Iterator[Any]:
    yield from tx.execute(wanted.execution_options(**_STREAM))


def _sources(tx: Tx, told: Told) -> Iterator[Problem]:
    c = tables.source.c
    for row in _stream(tx, select(c.id, c.status, c.status_seq, c.replaces, c.helper_version).order_by(c.id)):
        said = told.status.get(row.id)
        if said is not None and said != (row.status, row.status_seq):
            yield Problem(said[1], f"source {row.id} is {row.status!r}, the events make it {said[0]!r}")
        if row.replaces != told.replaces.get(row.id):
            yield Problem(told.sources.get(row.id, (None, ""))[0], f"what source {row.id} replaces is not what its event says")
        version, seq = told.in_force.get(row.id, (None, None))
        if row.helper_version != version:
            yield Problem(seq, f"the helper in force of source {row.id} is not the one the events make it")


def _categories(tx: Tx, told: Told) -> Iterator[Problem]:
    left = dict(told.categories)
    for row in _stream(tx, select(tables.category).order_by(tables.category.c.id)):
        said = left.pop(row.id, None)
        if said is None:
            yield Problem(None, f"category {row.id} stands in no event")
        elif said != (row.level, row.created_seq):
            yield Problem(said[1], f"category {row.id} is not what event {said[1]} made")
    for number, (_, seq) in left.items():
        yield Problem(seq, f"category {number} of event {seq} is missing")


def _versions(tx: Tx, told: Told) -> Iterator[Problem]:
    left = dict(told.versions)
    columns = tables.category_version.c
    for row in _stream(tx, select(tables.category_version).order_by(columns.category_id, columns.from_seq)):
        said = left.pop((row.category_id, row.from_seq), None)
        if said is None:
            yield Problem(None, f"a version of category {row.category_id} from {row.from_seq} stands in no event")
        elif (row.to_seq, row.parent_key, row.digest) != said:
            yield Problem(row.from_seq, f"category {row.category_id} is not what the events make of it")
        elif row.parent_key != (row.parent_id or ROOT) or row.name_key != name_key(row.name):
            yield Problem(row.from_seq, f"the keys of category {row.category_id} do not fit its parent and name")
    for number, seq in left:
        yield Problem(seq, f"the version of category {number} of event {seq} is missing")


def _filings(tx: Tx, told: Told) -> Iterator[Problem]:
    actors = dict(tx.execute(select(tables.action.c.id, tables.action.c.actor)).all())
    times = _created(tx)
    chunk, rows = 0, _none()
    seen: set[int] = set()
    for row in _stream(tx, select(tables.filing).order_by(tables.filing.c.chunk_id, tables.filing.c.from_seq)):
        if row.chunk_id != chunk:
            yield from _missing(chunk, rows)
            chunk, rows = row.chunk_id, iter(told.filings.get(row.chunk_id, ()))
            seen.add(chunk)
        said = next(rows, None)
        if said is None:
            yield Problem(None, f"a filing of chunk {chunk} from {row.from_seq} stands in no event")
            continue
        by = actors.get(told.reviews.get(said.reviewed or 0, ""))
        found = (row.from_seq, row.to_seq, row.category_id, row.decision_id, row.reviewed_seq, row.verdict)
        if found != said or row.reviewed_by != by or row.created_at != times.get(chunk):
            yield Problem(said.from_seq, f"the filing of chunk {chunk} is not what event {said.from_seq} made of it")
    yield from _missing(chunk, rows)
    for number in told.filings.keys() - seen:
        yield from _missing(number, iter(told.filings[number]))


def _sign_offs(tx: Tx, told: Told) -> Iterator[Problem]:
    actors = dict(tx.execute(select(tables.action.c.id, tables.action.c.actor)).all())
    left = dict(told.signatures)
    for row in _stream(tx, select(tables.sign_off).order_by(tables.sign_off.c.from_seq)):
        said = left.pop(row.from_seq, None)
        if said is None:
            yield Problem(None, f"a signature under {row.subject} {row.subject_id} from {row.from_seq} stands in no event")
            continue
        found = (row.to_seq, row.subject, row.subject_id, row.state, row.payload, row.signer)
        if found != (*said[:5], actors.get(said.action)):
            yield Problem(row.from_seq, f"the signature of event {row.from_seq} is not what the events make of it")
    for seq in left:
        yield Problem(seq, f"the signature of event {seq} is missing")


def _none() -> Iterator[Filing]:
    return iter(())


def _created(tx: Tx) -> dict[int, Any]:
    return dict(tx.execute(select(tables.chunk.c.id, tables.chunk.c.created_at)).all())


def _missing(chunk: int, rows: Iterator[Filing]) -> Iterator[Problem]:
    for row in rows:
        until = "" if row.to_seq == FAR else f" to {row.to_seq}"
        yield Problem(row.from_seq, f"the filing of chunk {chunk} from {row.from_seq}{until} is missing")


# === verify


_BATCH = 20_000
_COLUMNS = tuple(
    tables.audit_event.c[name] for name in ("seq", "at", "action_id", "kind", "body", "payload", "prev_hash", "hash")
)

Linked = tuple[int, str, str, str, str, str | None, str, str]
Passed = Callable[[int], None]  # the number of the last event that was read
Progress = Callable[[float], None]  # how much of the work is done, from 0 to 1
_LINKS = 0.25  # of the work, where everything is checked; measured on 100,000 events


@dataclass
class _Links:
    """How far the links hold. `met`: whether the expected head has been passed."""

    expected: str | None
    passed: Passed
    seq: int = 0
    hash: str = actions.GENESIS
    at: str = actions.BEGINNING
    met: bool = field(init=False)

    def __post_init__(self) -> None:
        self.met = self.expected in (None, actions.GENESIS)

    def problems(self, tx: Tx) -> Iterator[Problem]:
        """Nothing is parsed. Whoever asks stops at the first."""
        for seq, at, action_id, kind, body, payload, prev_hash, stored in _events(tx, self.passed):
            if seq != self.seq + 1 or prev_hash != self.hash:
                yield Problem(seq, f"event {seq} does not follow event {self.seq}")
            true = actions.link(seq, at, action_id, kind, body, payload, self.hash)
            if true != stored or at <= self.at:
                yield Problem(seq, f"event {seq} is not what was written")
            self.seq, self.hash, self.at = seq, true, at
            self.met = self.met or true == self.expected
        yield from self._end(tx)

    def head(self) -> AuditHead:
        return AuditHead(self.seq, self.hash, moment_of(self.at))

    def _end(self, tx: Tx) -> Iterator[Problem]:
        head = _stored_head(tx)
        if head is None:
            yield Problem(self.seq + 1, f"the history ends with event {self.seq}, and the row of its head is missing")
        elif head[:2] != (self.seq, self.hash):
            first = min(head[0], self.seq + 1)
            yield Problem(first, f"the history ends with event {self.seq}, its head is event {head[0]}")
        elif head[2] != self.at:
            yield Problem(self.seq, f"the time of the head is not that of event {self.seq}")
        if not self.met:
            yield Problem(self.seq + 1, "the expected head is not in the history: its end was cut off or written anew")


def verify(
    db: Database, *, expected_head: str | AuditHead | None = None, links_only: bool = False, progress: Progress | None = None
) -> AuditCheck:
    """Links, digests and replay. `expected_head`: a head (or its hash) noted earlier, which must be in the history."""
    if progress is None:
        return db.read(lambda tx: check(tx, expected_head=expected_head, links_only=links_only))
    return _listened(
        lambda tell: db.read(lambda tx: check(tx, expected_head=expected_head, links_only=links_only, progress=tell)), progress
    )


def check(
    tx: Tx, *, expected_head: str | AuditHead | None = None, links_only: bool = False, progress: Progress | None = None
) -> AuditCheck:
    """The same, inside a transaction of the caller."""
    told = _Telling(progress, _length(tx))
    wanted = expected_head.hash if isinstance(expected_head, AuditHead) else expected_head
    links = _Links(wanted, told.span(1.0 if links_only else _LINKS))
    first = next(_readable(links.problems(tx)), None)
    if first is None and not links_only:
        first = min(_readable(_rows(tx, told)), key=_first_seq, default=None)
    told.at(1.0)
    return AuditCheck(
        ok=first is None,
        checked=links.seq,
        first_bad=first.seq if first else None,
        problem=first.says if first else None,
        head=_known_head(tx, links),
    )


def _rows(tx: Tx, telling: _Telling) -> Iterator[Problem]:
    """Digests and replay."""
    told = Told()
    for seq, at, action_id, kind, body, payload, _, _ in _events(tx, telling.span(0.5, _LINKS)):
        told.take(seq, at, action_id, kind, body, payload)
    yield from told.problems
    yield from _readable(digest_problems(tx, told))
    telling.at(0.85)
    yield from _readable(replay_problems(tx, told))


class _NobodyListens(BaseException):
    """Ends a verification whose listener failed; no Exception, which would count as a row that cannot be read."""


def _listened(work: Callable[[Progress], AuditCheck], progress: Progress) -> AuditCheck:
    """The work in a thread of its own, `progress` in this one: what it raises is its caller's, and it may use the store."""
    told: SimpleQueue[float | None] = SimpleQueue()
    left = Event()

    def tell(done: float) -> None:
        if left.is_set():
            raise _NobodyListens
        told.put(done)

    with ThreadPoolExecutor(1, thread_name_prefix="memoir-verify") as pool:
        working = pool.submit(work, tell)
        working.add_done_callback(lambda _: told.put(None))
        try:
            while (done := told.get()) is not None:
                progress(done)
        except BaseException:
            left.set()
            raise
    return working.result()


@dataclass(frozen=True)
class _Telling:
    """Says how far it has come. `total`: events there are."""

    progress: Progress | None
    total: int

    def at(self, done: float) -> None:
        if self.progress is not None:
            self.progress(min(1.0, done))

    def span(self, until: float, since: float = 0.0) -> Passed:
        """For a walk over all events, which is the work from `since` to `until`."""
        return lambda passed: self.at(since + (until - since) * passed / max(1, self.total))


def _length(tx: Tx) -> int:
    return tx.execute(select(func.max(tables.audit_event.c.seq))).scalar() or 0


def _readable(problems: Iterator[Problem]) -> Iterator[Problem]:
    """Whatever somebody has put into a row is an answer, never an exception; only the database itself may fail."""
    try:
        yield from problems
    except DBAPIError as failed:
        if "decode" not in str(failed.orig).lower():  # SQLite, of a text that is no UTF-8
            raise
        yield Problem(None, f"a row cannot be read: {problem_of(failed)}")
    except Exception as damaged:
        yield Problem(None, f"a row cannot be read: {type(damaged).__name__}: {damaged}")


def _known_head(tx: Tx, links: _Links) -> AuditHead:
    """As it is stored; where that cannot be read, the last event whose links hold."""
    found = _stored_head(tx)
    try:
        return links.head() if found is None else AuditHead(found[0], found[1], moment_of(found[2]))
    except (TypeError, ValueError):
        return links.head()


def _stored_head(tx: Tx) -> tuple[int, str, str] | None:
    c = tables.audit_head.c
    row = tx.execute(select(c.seq, c.hash, c.at).where(c.id == 1)).one_or_none()
    return None if row is None else (row.seq, row.hash, row.at)


def _events(tx: Tx, passed: Passed) -> Iterator[Linked]:
    """In order, by portions: no server keeps a cursor for us, no list of a million rows."""
    wanted = select(*_COLUMNS).order_by(tables.audit_event.c.seq).limit(_BATCH)
    last = -(2**62)
    # plain tuples off the driver's cursor: these columns need no conversion on any database
    while rows := tx.execute(wanted.where(tables.audit_event.c.seq > last)).cursor.fetchall():
        yield from rows
        last = rows[-1][0]
        passed(last)


def _first_seq(problem: Problem) -> float:
    return float("inf") if problem.seq is None else problem.seq
