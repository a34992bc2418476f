"""Verify the history: links, digests, replay.

Invariant: reads one snapshot, changes nothing. The links prove the events; the digests in the events prove the rows that hold
evidence; replaying the events gives the rows that hold from one seq until another. A history cut off at its end links well: only
a head noted elsewhere (`expected_head`) shows it. A run that is still open is covered when it closes; progress events, caches
and leases are no evidence. A row that cannot be read is a problem like any other: verification always answers.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Event

from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from memoir_engine.core.results import AuditCheck, AuditHead
from memoir_engine.store import tables
from memoir_engine.store.chain import actions
from memoir_engine.store.chain.canonical_json import moment_of
from memoir_engine.store.db.database import Database, problem_of
from memoir_engine.store.db.types import Tx
from memoir_engine.store.events import registry
from memoir_engine.store.events.projection import Problem, Projection

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
    report = _Report(progress, _length(tx))
    wanted = expected_head.hash if isinstance(expected_head, AuditHead) else expected_head
    links = _Links(wanted, report.span(1.0 if links_only else _LINKS))
    first = next(_readable(links.problems(tx)), None)
    if first is None and not links_only:
        first = min(_readable(_rows(tx, report)), key=_first_seq, default=None)
    report.at(1.0)
    return AuditCheck(
        ok=first is None,
        checked=links.seq,
        first_bad=first.seq if first else None,
        problem=first.says if first else None,
        head=_known_head(tx, links),
    )


def _rows(tx: Tx, report: _Report) -> Iterator[Problem]:
    """Digests and replay."""
    state = Projection()
    for seq, at, action_id, kind, body, payload, _, _ in _events(tx, report.span(0.5, _LINKS)):
        registry.apply(state, seq, at, action_id, kind, body, payload)
    yield from state.problems
    yield from _readable(registry.digest_problems(tx, state))
    report.at(0.85)
    yield from _readable(registry.replay_problems(tx, state))


class _ListenerFailed(BaseException):
    """Ends a verification whose listener failed; no Exception, which would count as a row that cannot be read."""


def _listened(work: Callable[[Progress], AuditCheck], progress: Progress) -> AuditCheck:
    """The work in a thread of its own, `progress` in this one: what it raises is its caller's, and it may use the store."""
    steps: SimpleQueue[float | None] = SimpleQueue()
    left = Event()

    def tell(done: float) -> None:
        if left.is_set():
            raise _ListenerFailed
        steps.put(done)

    with ThreadPoolExecutor(1, thread_name_prefix="memoir-verify") as pool:
        working = pool.submit(work, tell)
        working.add_done_callback(lambda _: steps.put(None))
        try:
            while (done := steps.get()) is not None:
                progress(done)
        except BaseException:
            left.set()
            raise
    return working.result()


@dataclass(frozen=True)
class _Report:
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
    """Return the stored head; where it cannot be read, the last event whose links hold."""
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
