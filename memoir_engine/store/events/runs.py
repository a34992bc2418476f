"""The event kind of runs, `run.closed`: it covers the run, its outcome, and its calls and decisions so far.

Invariant: every closing of a run covers the first n of its calls and decisions; a run that ended has nothing beyond its last
closing. A run that is still open is covered when it closes.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from sqlalchemy import select

from memoir_engine.store import tables
from memoir_engine.store.chain.canonical_json import OUTCOME, roll_up
from memoir_engine.store.chain.tombstones import TombstoneRow, remains
from memoir_engine.store.db.statements import Tx
from memoir_engine.store.events.kind import EventKind, family
from memoir_engine.store.events.projection import Problem, Projection, ReplayedEvent, RowEvidence, RunClosing
from memoir_engine.store.ledger.runs import ALIVE, RESUMABLE, outcome_digest


def _close_run(state: Projection, event: ReplayedEvent) -> None:
    body = event.body
    calls, decisions = tuple(body["calls"]), tuple(body["decisions"])
    closing = RunClosing(event.seq, body["status"], body["digest"], body.get("outcome"), calls, decisions)
    state.runs.setdefault(body["run"], []).append(closing)


def _run_problems(tx: Tx, state: Projection, evidence: RowEvidence) -> Iterator[Problem]:
    left = dict(state.runs)
    more = ("id", "closed_seq", "request", "salt", *OUTCOME)
    for true, stored, number, closed_seq, request, salt, *outcome in evidence.rows(tx, tables.run, *more):
        status = outcome[0]
        closings = left.pop(number, [])
        last = closings[-1] if closings else None
        evidence.payloads[request] = last.seq if last else None
        if true != stored or (last and last.digest != true):
            yield Problem(last.seq if last else None, f"run {number} is not what was written")
        elif closed_seq is None and status in ALIVE:
            if last and last.status not in RESUMABLE:  # else whoever opens it again could add answers to it
                yield Problem(last.seq, f"run {number} ended as event {last.seq} says and is open again")
        elif last is None:
            yield Problem(None, f"run {number} ended and stands in no event")
        elif (closed_seq, status) != (last.seq, last.status):
            yield Problem(last.seq, f"run {number} did not end as event {last.seq} says")
        elif not _has_outcome(last, salt, outcome, evidence.tombstones.over("outcome", number)):
            yield Problem(last.seq, f"what run {number} came to is not what event {last.seq} covers")
    for number, closings in left.items():
        yield Problem(closings[-1].seq, f"run {number} of event {closings[-1].seq} is missing")


def _has_outcome(closing: RunClosing, salt: str, outcome: Sequence[Any], tombstone: TombstoneRow | None) -> bool:
    """Tell whether the outcome is what the last event covers, or what an erasure since has left of it."""
    if tombstone is not None and tombstone.seq > closing.seq:
        return tombstone.remains == remains(outcome)
    return closing.outcome in (None, outcome_digest(salt, outcome))


def part_problems(tx: Tx, state: Projection, evidence: RowEvidence, *, what: Literal["calls", "decisions"]) -> Iterator[Problem]:
    """Compare the calls or the decisions of every run with the roll-ups of its closings."""
    table, payload = (tables.model_call, "payload") if what == "calls" else (tables.decision, "offer")
    r = tables.run.c
    alive = set(tx.execute(select(r.id).where(r.status.in_(ALIVE), r.closed_seq.is_(None))).scalars())
    left = {run for run, closings in state.runs.items() if getattr(closings[-1], what)[0]}
    by_run = groupby(evidence.rows(tx, table, "run_id", "id", payload, order=("run_id", "id")), key=itemgetter(2))
    for run, group in by_run:
        rows = list(group)
        left.discard(run)
        closings = state.runs.get(run, [])
        seq = closings[-1].seq if closings else None
        evidence.payloads |= {row[4]: seq for row in rows}
        edited = [row[3] for row in rows if row[0] != row[1]]
        if edited:
            yield Problem(seq, f"{table.name} {edited[0]} is not what was written")
        for closing in closings:
            count, expected = getattr(closing, what)
            if len(rows) < count or roll_up(row[0] for row in rows[:count]) != expected:
                yield Problem(closing.seq, f"the {what} of run {run} are not those that event {closing.seq} covers")
        if run not in alive and len(rows) > (getattr(closings[-1], what)[0] if closings else 0):
            yield Problem(seq, f"run {run} has {what} that stand in no event")
    for run in sorted(left):
        yield Problem(state.runs[run][-1].seq, f"the {what} of run {run} are missing")


KINDS = family(
    EventKind(
        "run.closed",
        "run status digest outcome? calls decisions",  # outcome: absent before outcomes were covered
        "the run ended: {status}",
        "{count} runs ended",
        apply=_close_run,
        inverse=None,
        digests=(_run_problems, partial(part_problems, what="calls"), partial(part_problems, what="decisions")),
        replays=(),
    ),
)
