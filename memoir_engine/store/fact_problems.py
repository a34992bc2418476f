"""Facts, their origins, standings, relations, proposals and cuts, beside what their events say.

Invariant: every row hashes to its own digest and stands in an event, alone or rolled up; every standing, open or closed, is
exactly what replaying the events gives. One that was forgotten is as its tombstone says.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Table, select

from memoir_engine.store import tables as t
from memoir_engine.store.canon import COVERED, roll_up, values_digest
from memoir_engine.store.fact_rows import Proposal, Standing
from memoir_engine.store.owners import owner_key
from memoir_engine.store.stones import Stones
from memoir_engine.store.told import Problem, Told
from memoir_engine.store.told_facts import Rows, ToldFacts
from memoir_engine.store.types import FAR, Tx

_STREAM = {"yield_per": 2000}


def fact_digest_problems(tx: Tx, told: Told, stones: Stones) -> Iterator[Problem]:
    """The rows that hold words or spans."""
    facts, left = told.facts, dict(told.facts.facts)
    for row, true in _sealed(tx, t.fact, stones):
        seq, expected = left.pop(row.id, (None, ""))
        if seq is None:
            yield Problem(None, f"fact {row.id} stands in no event")
        elif not true == row.digest == expected or row.owner != owner_key(row.user_id):
            yield Problem(seq, f"fact {row.id} is not what event {seq} covers")
    yield from (Problem(seq, f"fact {number} of event {seq} is missing") for number, (seq, _) in left.items())
    yield from _origins(tx, facts, stones)
    yield from _cuts(tx, facts, stones)


def fact_replay_problems(tx: Tx, told: Told) -> Iterator[Problem]:
    """The rows that say how things stand."""
    facts = told.facts
    owners = dict(tx.execute(select(t.fact.c.id, t.fact.c.owner)).all())
    standings = {
        (row.fact_id, row.from_seq): (row.to_seq, tuple(Standing.of(row).told()), row.owner == owners.get(row.fact_id))
        for row in tx.execute(select(t.fact_status))
    }
    yield from _differ("standing of fact", standings, {key: (*said, True) for key, said in facts.standings.items()})
    proposals = {
        (row.id, row.from_seq): (row.to_seq, (*_tuple(Proposal.of(row).told()), row.run_id), row.owner == owners.get(row.new_id))
        for row in tx.execute(select(t.fact_proposal))
    }
    yield from _differ("proposal", proposals, {key: (*said, True) for key, said in facts.proposals.items()})
    relations = {
        (row.source_id, row.target_id, row.from_seq): (row.to_seq, row.kind, row.confidence, row.run_id, row.owner)
        for row in tx.execute(select(t.fact_relation))
    }
    said = {key: (*value, owners.get(key[0])) for key, value in facts.relations.items()}
    yield from _differ("relation of fact", relations, said)


def _differ(what: str, rows: Mapping[Any, Any], said: Mapping[Any, Any]) -> Iterator[Problem]:
    for key in sorted(rows.keys() | said.keys()):
        if key not in said:
            yield Problem(None, f"a {what} {key[0]} stands in no event")
        elif rows.get(key) != said[key]:
            missing = "is missing" if key not in rows else "is not what the events make of it"
            yield Problem(key[-1], f"the {what} {key[0]} of event {key[-1]} {missing}")


def _origins(tx: Tx, facts: ToldFacts, stones: Stones) -> Iterator[Problem]:
    found: dict[int, list[tuple[int, str, str, int]]] = {}
    for row, true in _sealed(tx, t.fact_origin, stones):
        found.setdefault(row.fact_id, []).append((row.n, true, row.digest, row.to_seq))
    for number in sorted(found.keys() | facts.origins.keys()):
        rows, events = found.get(number, []), facts.origins.get(number, [])
        yield from _covered(f"the origins of fact {number}", [row[:3] for row in rows], events)
        for n, _, _, to_seq in rows:
            if to_seq != facts.unseen.get((number, n), FAR):
                yield Problem(facts.unseen.get((number, n)), f"origin {n} of fact {number} is not as the events leave it")


def _cuts(tx: Tx, facts: ToldFacts, stones: Stones) -> Iterator[Problem]:
    rows = [(row.id, true, row.digest, row.to_seq) for row, true in _sealed(tx, t.cut, stones)]
    yield from _covered("cuts of a conversation", [row[:3] for row in rows], facts.cuts)
    for number, _, _, to_seq in rows:
        if to_seq != facts.withdrawn.get(number, FAR):
            yield Problem(facts.withdrawn.get(number), f"cut {number} is not as the events leave it")


def _covered(what: str, rows: Sequence[tuple[int, str, str]], events: Sequence[Rows]) -> Iterator[Problem]:
    """rows: (number, true digest, stored digest), rising."""
    at = {number: (true, stored) for number, true, stored in rows}
    for event in events:
        mine = [at.pop(number, ("", "")) for number in range(event.first, event.first + event.total)]
        if any(true != stored for true, stored in mine) or roll_up(stored for _, stored in mine) != event.digest:
            yield Problem(event.seq, f"{what} are not those that event {event.seq} covers")
    if at:
        yield Problem(None, f"{what}: number {min(at)} stands in no event")


def _sealed(tx: Tx, table: Table, stones: Stones) -> Iterator[tuple[Any, str]]:
    """Every row with its true digest; one that was forgotten, and is as it was left, still stands for what it was."""
    for row in tx.execute(select(table).order_by(*table.primary_key.columns).execution_options(**_STREAM)):
        values = [getattr(row, name) for name in COVERED[table.name]]
        true = values_digest(row.salt, values)
        key = "/".join(str(getattr(row, column.name)) for column in table.primary_key.columns)
        yield row, row.digest if true != row.digest and stones.fits(table.name, key, values, row.salt) else true


def _tuple(row: list[Any]) -> tuple[Any, ...]:
    return tuple(tuple(one) if isinstance(one, list) else one for one in row)
