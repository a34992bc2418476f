"""Rows that hold evidence, compared with the digests in the chain.

Invariant: every such row hashes to its own digest, and the digests, one by one or rolled up in their order, are those of an
event: a row edited, deleted, inserted or swapped by hand is found. A row that was erased is as its tombstone says, and the
event of the erasure covers the tombstones.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, Table, select

from memoir_engine.store.chain.canonical_json import COVERED, roll_up, values_digest
from memoir_engine.store.chain.tombstones import Tombstones
from memoir_engine.store.db.types import Tx
from memoir_engine.store.events.projection import Problem, RowRange

STREAM = {"yield_per": 2000}


@dataclass
class RowEvidence:
    """`payloads`: the digests of payloads that rows and events name, with the seq that covers each."""

    tombstones: Tombstones
    payloads: dict[str, int | None]

    def rows(self, tx: Tx, table: Table, *more: str, order: tuple[str, ...] = ("id",)) -> Iterator[Any]:
        """Yield rows as (true digest, stored digest, *more); the true digest is computed from the row.

        An erased row that is as its erasure left it counts with its stored digest.
        """
        covered = COVERED[table.name]
        columns = [table.c[name] for name in (*covered, "salt", "digest", *more)]
        count = len(covered)
        keys = [covered.index(column.name) for column in table.primary_key.columns]
        for row in stream(tx, select(*columns).order_by(*(table.c[name] for name in order))):
            values, salt, stored = row[:count], row[count], row[count + 1]
            true = values_digest(salt, values)
            if true != stored and self.tombstones.fits(table.name, "/".join(str(row[key]) for key in keys), values, salt):
                true = stored
            yield true, stored, *row[count + 2 :]

    def each(self, tx: Tx, table: Table, expected: Mapping[Any, tuple[int, str]]) -> Iterator[Problem]:
        """Compare rows that have one event each. expected: seq and digest by id."""
        left = dict(expected)
        for true, stored, number in self.rows(tx, table, "id"):
            seq, digest = left.pop(number, (None, ""))
            if seq is None:
                yield Problem(None, f"{table.name} {number} stands in no event")
            elif not true == stored == digest:
                yield Problem(seq, f"{table.name} {number} is not what event {seq} covers")
        for number, (seq, _) in left.items():
            yield Problem(seq, f"{table.name} {number} of event {seq} is missing")


def stream(tx: Tx, query: Select[Any]) -> Iterator[Any]:
    yield from tx.execute(query.execution_options(**STREAM))


def range_problems(what: str, rows: Sequence[tuple[int, str, str]], events: Sequence[RowRange]) -> Iterator[Problem]:
    """Compare rows with the roll-ups of the events that cover them. rows: (number, true digest, stored digest), rising."""
    digests = {number: (true, stored) for number, true, stored in rows}
    for event in events:
        covered = [digests.pop(number, ("", "")) for number in range(event.first, event.first + event.total)]
        if any(true != stored for true, stored in covered) or roll_up(stored for _, stored in covered) != event.digest:
            yield Problem(event.seq, f"{what} are not those that event {event.seq} covers")
    if digests:
        yield Problem(None, f"{what}: number {min(digests)} stands in no event")


def replay_differences(what: str, rows: Mapping[Any, Any], replayed: Mapping[Any, Any]) -> Iterator[Problem]:
    """Compare rows with the replayed ones; the last part of a key is the seq of its event."""
    for key in sorted(rows.keys() | replayed.keys()):
        if key not in replayed:
            yield Problem(None, f"a {what} {key[0]} stands in no event")
        elif rows.get(key) != replayed[key]:
            missing = "is missing" if key not in rows else "is not what the events make of it"
            yield Problem(key[-1], f"the {what} {key[0]} of event {key[-1]} {missing}")
