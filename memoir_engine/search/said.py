"""Conversations cut into passages before they are searched.

Invariant: after `catch_up` every message of that owner that was committed before it has its passages. What was said in between
two searches is cut at the second; who never searches never waits for it.
Source: DESIGN §8 (indexes); MEMOLLA F-03.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
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

    def catch_up(self, owner: str) -> int:
        """Of exactly this owner; how many sessions were looked at."""
        self._look_again_after_an_erasure()
        since = self._done.get(owner)
        numbers, last = self._db.read(lambda tx: said_passages.changed(tx, owner, since))
        for number in numbers:
            self._cut(number)
        with self._lock:
            self._done[owner] = last
        return len(numbers)

    def indexed(self, tx: Tx, found: Iterable[Found]) -> dict[int, str]:
        """What is searched of the passages of conversations among those found."""
        return said_passages.indexed(tx, found, self._zone)

    def forget(self) -> None:
        """Look at all of them again."""
        with self._lock:
            self._done.clear()

    def _look_again_after_an_erasure(self) -> None:
        """Which words it took from which messages, whoever's they are, is not known here."""
        now = self._db.read(ids.erasures)
        if now != self._erasures:
            self.forget()
            self._erasures = now

    def _cut(self, number: int) -> None:
        self._db.write(lambda tx: said_passages.cut(tx, number, self._zone), operation="passages of a conversation")
