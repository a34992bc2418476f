"""The rows that hold evidence, beside the digests that stand in the chain.

Invariant: every such row hashes to its own digest, and the digests, one by one or rolled up in their order, are those of an
event: a row edited, deleted, inserted or swapped by hand is found. Payloads are named by their digest and each is referred to.
A row that was erased is as its tombstone says, and the event of the erasure covers the tombstones.
Source: DESIGN §6.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Table, select

from memoir_engine.store import tables as t
from memoir_engine.store.canon import COVERED, digest, roll_up, values_digest
from memoir_engine.store.closing import OUTCOME, outcome_digest
from memoir_engine.store.fact_problems import fact_digest_problems
from memoir_engine.store.runs import ALIVE, RESUMABLE
from memoir_engine.store.said_digests import session_problems
from memoir_engine.store.stones import Stone, Stones, remains
from memoir_engine.store.told import Closing, Problem, Told
from memoir_engine.store.types import Tx

_STREAM = {"yield_per": 2000}


def digest_problems(tx: Tx, told: Told) -> Iterator[Problem]:
    named: dict[str, int | None] = {**told.payloads, **told.facts.papers}
    stones = Stones.read(tx)
    yield from (Problem(seq, says) for seq, says in stones.missing(told.erasures | told.facts.erasures))
    yield from _actions(tx, told, stones, named)
    yield from _each(tx, t.source, stones, told.sources)
    yield from _parts(tx, told, stones)
    yield from _each(tx, t.contextual_helper, stones, told.helpers)
    yield from _versions(tx, stones)
    yield from _chunks(tx, told, stones)
    yield from session_problems(tx, told, stones)
    yield from fact_digest_problems(tx, told, stones)
    yield from _runs(tx, told, stones, named)
    yield from _of_runs(tx, t.model_call, told, stones, named)
    yield from _of_runs(tx, t.decision, told, stones, named)
    yield from _payloads(tx, stones, named)


def _stream(tx: Tx, table: Table, stones: Stones, *more: str, order: tuple[str, ...] = ("id",)) -> Iterator[Any]:
    """Rows as (true digest, stored digest, *more), the digest worked out from the row itself.

    One that was erased, and is as it was left, still stands for what its digest covered.
    """
    covered = COVERED[table.name]
    columns = [table.c[name] for name in (*covered, "salt", "digest", *more)]
    wanted = select(*columns).order_by(*(table.c[name] for name in order))
    count = len(covered)
    places = [covered.index(column.name) for column in table.primary_key.columns]
    for row in tx.execute(wanted.execution_options(**_STREAM)):
        values, salt, stored = row[:count], row[count], row[count + 1]
        true = values_digest(salt, values)
        if true != stored and stones.fits(table.name, "/".join(str(row[place]) for place in places), values, salt):
            true = stored
        yield true, stored, *row[count + 2 :]


def _each(tx: Tx, table: Table, stones: Stones, said: dict[Any, tuple[int, str]]) -> Iterator[Problem]:
    """Rows that have an event each."""
    left = dict(said)
    for true, stored, number in _stream(tx, table, stones, "id"):
        seq, expected = left.pop(number, (None, ""))
        if seq is None:
            yield Problem(None, f"{table.name} {number} stands in no event")
        elif not true == stored == expected:
            yield Problem(seq, f"{table.name} {number} is not what event {seq} covers")
    for number, (seq, _) in left.items():
        yield Problem(seq, f"{table.name} {number} of event {seq} is missing")


def _actions(tx: Tx, told: Told, stones: Stones, named: dict[str, int | None]) -> Iterator[Problem]:
    for number, at, payload in tx.execute(select(t.action.c.id, t.action.c.at, t.action.c.payload)):
        seq = told.actions.get(number, (None, ""))[0]
        if payload:
            named[payload] = seq
        if seq is not None and told.action_at[number] != at:
            yield Problem(seq, f"action {number} and event {seq} differ in time")
    yield from _each(tx, t.action, stones, told.actions)


def _parts(tx: Tx, told: Told, stones: Stones) -> Iterator[Problem]:
    """Texts and bytes beside the hashes in their source's row; an added part has no other place to show."""
    rows = {row.id: row for row in tx.execute(select(t.source.c.id, t.source.c.sha256, t.source.c.text_sha256))}
    for table, column, hashed in ((t.source_text, "text", "text_sha256"), (t.source_file, "bytes", "sha256")):
        wanted = select(table.c.source_id, table.c.part, table.c[column]).order_by(table.c.source_id, table.c.part)
        parts = tx.execute(wanted.execution_options(yield_per=4))
        found: dict[int, str] = {}
        for number, group in groupby(parts, key=itemgetter(0)):
            whole, in_order = hashlib.sha256(), True
            for place, (_, at, part) in enumerate(group):
                in_order = in_order and at == place
                whole.update(part.encode() if isinstance(part, str) else part)
            found[number] = whole.hexdigest() if in_order else "parts not numbered from 0"
        for number in sorted(found.keys() - rows.keys()):
            yield Problem(None, f"the {column} of source {number} stands in no event")
        for number, row in rows.items():
            if found.get(number) != (None if stones.gone(table.name, number) else getattr(row, hashed)):
                seq = told.sources.get(number, (None, ""))[0]
                yield Problem(seq, f"the {column} of source {number} is not what event {seq} covers")


def _versions(tx: Tx, stones: Stones) -> Iterator[Problem]:
    order = ("category_id", "from_seq")
    for true, stored, number, seq in _stream(tx, t.category_version, stones, *order, order=order):
        if true != stored:
            yield Problem(seq, f"category {number} is not what event {seq} covers")


def _chunks(tx: Tx, told: Told, stones: Stones) -> Iterator[Problem]:
    left = dict(told.chunks)
    for source, group in groupby(_stream(tx, t.chunk, stones, "source_id", "id"), key=itemgetter(2)):
        rows = list(group)
        said = left.pop(source, None)
        if said is None:
            yield Problem(None, f"chunks of source {source} stand in no event")
            continue
        edited = [number for true, stored, _, number in rows if true != stored]
        if edited:
            yield Problem(said.seq, f"chunk {edited[0]} is not what event {said.seq} covers")
        if [row[3] for row in rows] != list(range(said.first, said.first + said.total)):
            yield Problem(said.seq, f"source {source} has {len(rows)} chunks, event {said.seq} covers {said.total}")
        elif roll_up(row[0] for row in rows) != said.digest:
            yield Problem(said.seq, f"the chunks of source {source} are not what event {said.seq} covers")
    for source, said in left.items():
        if said.total:
            yield Problem(said.seq, f"the chunks of source {source} of event {said.seq} are missing")


def _runs(tx: Tx, told: Told, stones: Stones, named: dict[str, int | None]) -> Iterator[Problem]:
    left = dict(told.closings)
    more = ("id", "closed_seq", "request", "salt", *OUTCOME)
    for true, stored, number, closed_seq, request, salt, *outcome in _stream(tx, t.run, stones, *more):
        status = outcome[0]
        closings = left.pop(number, [])
        last = closings[-1] if closings else None
        named[request] = last.seq if last else None
        if true != stored or (last and last.digest != true):
            yield Problem(last.seq if last else None, f"run {number} is not what was written")
        elif closed_seq is None and status in ALIVE:
            if last and last.status not in RESUMABLE:  # else whoever opens it again could add answers to it
                yield Problem(last.seq, f"run {number} ended as event {last.seq} says and is open again")
        elif last is None:
            yield Problem(None, f"run {number} ended and stands in no event")
        elif (closed_seq, status) != (last.seq, last.status):
            yield Problem(last.seq, f"run {number} did not end as event {last.seq} says")
        elif not _came_to(last, salt, outcome, stones.over("outcome", number)):
            yield Problem(last.seq, f"what run {number} came to is not what event {last.seq} covers")
    for number, closings in left.items():
        yield Problem(closings[-1].seq, f"run {number} of event {closings[-1].seq} is missing")


def _came_to(last: Closing, salt: str, outcome: Sequence[Any], stone: Stone | None) -> bool:
    """Whether a run came to what its last event covers, or to what an erasure since has left of it."""
    if stone is not None and stone.seq > last.seq:
        return stone.remains == remains(outcome)
    return last.outcome in (None, outcome_digest(salt, outcome))


def _of_runs(tx: Tx, table: Table, told: Told, stones: Stones, named: dict[str, int | None]) -> Iterator[Problem]:
    """Calls and decisions: every closing of a run covers the first n of them."""
    is_call = table is t.model_call
    what, text = ("calls", "payload") if is_call else ("decisions", "offer")
    alive = set(tx.execute(select(t.run.c.id).where(t.run.c.status.in_(ALIVE), t.run.c.closed_seq.is_(None))).scalars())
    left = {run for run, closings in told.closings.items() if getattr(closings[-1], what)[0]}
    for run, group in groupby(_stream(tx, table, stones, "run_id", "id", text, order=("run_id", "id")), key=itemgetter(2)):
        rows = list(group)
        left.discard(run)
        closings = told.closings.get(run, [])
        seq = closings[-1].seq if closings else None
        named |= {row[4]: seq for row in rows}
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
        yield Problem(told.closings[run][-1].seq, f"the {what} of run {run} are missing")


def _payloads(tx: Tx, stones: Stones, named: dict[str, int | None]) -> Iterator[Problem]:
    left = dict(named)
    for name, salt, body in tx.execute(
        select(t.payload.c.digest, t.payload.c.salt, t.payload.c.body).execution_options(**_STREAM)
    ):
        seq = left.pop(name, -1)
        if seq == -1:
            yield Problem(None, f"payload {name[:12]} belongs to nothing")
        elif digest(salt, body) != name and not stones.fits("payload", name, [body], salt):
            yield Problem(seq, f"payload {name[:12]} is not what was written")
    for name, seq in left.items():
        if not stones.gone("payload", name):
            yield Problem(seq, f"payload {name[:12]} is missing")
