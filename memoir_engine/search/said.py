"""Conversations cut into passages before they are searched.

Invariant: after `catch_up` every message of that owner that was committed before it has its passages. What was said in between
two searches is cut at the second; who never searches never waits for it.
Source: DESIGN §8 (indexes); MEMOLLA F-03.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo

from memoir_engine.store import ids, said_passages
from memoir_engine.store.database import Database
from memoir_engine.store.passages import Found
from memoir_engine.store.types import Tx


class SaidPassages:
    """Safe for threads. Remembers up to when each owner's conversations are cut, so that a search in between looks at nothing."""

    def __init__(self, db: Database, zone: tzinfo = UTC) -> None:
        self._db = db
        self._zone = zone
        self._lock = threading.Lock()
        self._done: dict[str, datetime | None] = {}
        self._erasures = 0

    def catch_up(self, owners: Sequence[str]) -> int:
        """Of exactly these owners; what the clock of searching shows then. Where nothing was said it is one reading."""
        since, erasures = dict(self._done), self._erasures
        clock, changed = self._db.read(lambda tx: _said_since(tx, owners, since))
        if clock.erasures != erasures:  # which words it took from which messages, whoever's they are, is not known here
            self.forget()
            self._erasures = clock.erasures
            return self.catch_up(owners)
        for owner, (numbers, last) in changed.items():
            for number in numbers:
                self._cut(number)
            with self._lock:
                self._done[owner] = last
        cut = any(numbers for numbers, _ in changed.values())
        return self._db.read(ids.searched) if cut else clock.searched

    def indexed(self, tx: Tx, found: Iterable[Found]) -> dict[int, str]:
        """What is searched of the passages of conversations among those found."""
        return said_passages.indexed(tx, found, self._zone)

    def forget(self) -> None:
        """Look at all of them again."""
        with self._lock:
            self._done.clear()

    def part_days(self) -> None:
        """Passages that span days go; look at all of them again."""
        self._db.write(lambda tx: said_passages.drop_spread(tx, self._zone), operation="passages that span days")
        self.forget()

    def _cut(self, number: int) -> None:
        self._db.write(lambda tx: said_passages.cut(tx, number, self._zone), operation="passages of a conversation")


def _said_since(
    tx: Tx, owners: Sequence[str], since: dict[str, datetime | None]
) -> tuple[ids.Clock, dict[str, tuple[tuple[int, ...], datetime | None]]]:
    """Sessions of each owner in which something was said since, and when the last thing was."""
    return ids.clock(tx), {owner: said_passages.changed(tx, owner, since.get(owner)) for owner in owners}
