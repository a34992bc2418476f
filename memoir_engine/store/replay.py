"""The rows that say how things stand, beside what the events make of them.

Invariant: every row of `filing`, `category`, `category_version` and `sign_off`, open or closed, and every source's status,
predecessor and helper in force are exactly what replaying the events gives.
Source: DESIGN §2.7, §6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Select, select

from memoir_engine.store import tables as t
from memoir_engine.store.fact_problems import fact_replay_problems
from memoir_engine.store.rules import name_key
from memoir_engine.store.told import Filing, Problem, Told
from memoir_engine.store.types import FAR, ROOT, Tx

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
    c = t.source.c
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
    for row in _stream(tx, select(t.category).order_by(t.category.c.id)):
        said = left.pop(row.id, None)
        if said is None:
            yield Problem(None, f"category {row.id} stands in no event")
        elif said != (row.level, row.created_seq):
            yield Problem(said[1], f"category {row.id} is not what event {said[1]} made")
    for number, (_, seq) in left.items():
        yield Problem(seq, f"category {number} of event {seq} is missing")


def _versions(tx: Tx, told: Told) -> Iterator[Problem]:
    left = dict(told.versions)
    columns = t.category_version.c
    for row in _stream(tx, select(t.category_version).order_by(columns.category_id, columns.from_seq)):
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
    actors = dict(tx.execute(select(t.action.c.id, t.action.c.actor)).all())
    times = _created(tx)
    chunk, rows = 0, _none()
    seen: set[int] = set()
    for row in _stream(tx, select(t.filing).order_by(t.filing.c.chunk_id, t.filing.c.from_seq)):
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
    actors = dict(tx.execute(select(t.action.c.id, t.action.c.actor)).all())
    left = dict(told.signatures)
    for row in _stream(tx, select(t.sign_off).order_by(t.sign_off.c.from_seq)):
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
    return dict(tx.execute(select(t.chunk.c.id, t.chunk.c.created_at)).all())


def _missing(chunk: int, rows: Iterator[Filing]) -> Iterator[Problem]:
    for row in rows:
        until = "" if row.to_seq == FAR else f" to {row.to_seq}"
        yield Problem(row.from_seq, f"the filing of chunk {chunk} from {row.from_seq}{until} is missing")
