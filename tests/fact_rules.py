"""Rules that facts keep whatever was done with them, as lists of what breaks them; empty where nothing does.

standing(memory, USERS, now)                 # the record, the facts of these users and what is linked to them
moments.add(); moments.differing()           # whether earlier seqs are answered as they were then
copied(memory, USERS, folder)                # whether an export holds the same
words_left(memory, ["zebra"])                # tables of the database that still hold a word
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import inspect

from memoir_engine import FactView, Memory
from memoir_engine.store.db.statements import Tx

MOST = 500
State = tuple[Any, ...]


def state(memory: Memory, users: Sequence[str]) -> State:
    """Return all that people see of the facts of these users, in an order that is always the same."""
    return tuple(_of(memory, user) for user in users)


def _of(memory: Memory, user: str) -> State:
    facts = sorted(
        (fact.id, fact.content, fact.status, fact.cause, fact.superseded_by, len(fact.origins), fact.expires_at, fact.valid_to)
        for fact in memory.facts.list(user)
    )
    proposals = sorted((one.id, one.new.id, tuple(old.id for old in one.old)) for one in memory.facts.proposals(user))
    relations = sorted((one.source, one.target, one.kind) for one in memory.facts.relations(user))
    queue = sorted((one.kind, one.fact.id, one.state) for one in memory.review.facts(user, limit=MOST).items)
    return (tuple(facts), tuple(proposals), tuple(relations), tuple(queue))


def standing(memory: Memory, users: Sequence[str], now: datetime) -> list[str]:
    """List what breaks the record, or the rules of the facts that stand now."""
    check = memory.audit.verify()
    broken = [] if check.ok else [str(check.problem)]
    for user in users:
        facts = memory.facts.list(user)
        broken += [f"{what} of {user}" for what in (*_linked(memory, user, facts), *_ordered(facts, now), *_supported(facts))]
        known = {fact.content for fact in facts}
        broken += [
            f"{user} recalls what is not known: {hit.content}"
            for hit in memory.recall("tea", user_id=user, limit=50)
            if hit.content not in known
        ]
    return broken


def _supported(facts: Sequence[FactView]) -> list[str]:
    return [f"{fact.content} has no words behind it" for fact in facts if not fact.origins]


def _linked(memory: Memory, user: str, facts: Sequence[FactView]) -> list[str]:
    """List links that lead to a fact that is not there, and facts that gave way and are in force."""
    ids = {fact.id for fact in facts}
    links = [(fact.content, one) for fact in facts for one in (*fact.supersedes, fact.superseded_by or fact.id)]
    links += [("a relation", end) for one in memory.facts.relations(user) for end in (one.source, one.target)]
    links += [("a proposal", one.id) for asked in memory.facts.proposals(user) for one in (asked.new, *asked.old)]
    links += [("the queue", item.fact.id) for item in memory.review.facts(user, limit=MOST).items]
    broken = [f"{what} leads to {end}, which is not there" for what, end in links if end not in ids]
    broken += [f"{fact.content} is of {fact.user_id}, shown" for fact in facts if fact.user_id != user]
    return broken + [f"{fact.content} is active and gave way" for fact in facts if fact.status == "active" and fact.superseded_by]


def _ordered(facts: Sequence[FactView], now: datetime) -> list[str]:
    """List what breaks the order of time: the last learned first, none in force past its expiry, no end before its beginning,
    no circle of successors.
    """
    learned = [fact.recorded_at for fact in facts]
    broken = [] if learned == sorted(learned, reverse=True) else ["the order of facts"]
    after = {fact.id: fact.superseded_by for fact in facts}
    for fact in facts:
        if fact.valid_from is not None and fact.valid_to is not None and fact.valid_to < fact.valid_from:
            broken.append(f"{fact.content} ends before it begins")
        if fact.status == "active" and fact.expires_at is not None and fact.expires_at <= now:
            broken.append(f"{fact.content} is in force past its expiry")
        if fact.retired_at is not None and fact.retired_at < fact.recorded_at:
            broken.append(f"{fact.content} was outdated before it was known")
        chain, following = {fact.id}, after[fact.id]
        while following is not None and following not in chain:
            chain.add(following)
            following = after.get(following)
        broken += [f"{fact.content} comes after itself"] if following is not None else []
    return broken


@dataclass
class Moments:
    """Facts as they were read when they stood so, by seq; `forgotten` are ids that no moment may name any more."""

    memory: Memory
    users: Sequence[str]
    read: dict[int, list[State]] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)

    def add(self) -> None:
        """Read them now; what only time did since an event is no moment of its own."""
        seq = self.memory.audit.head().seq
        if seq not in self.read:
            self.read[seq] = [self._facts(user) for user in self.users]

    def forget(self, ids: Iterable[str]) -> None:
        """Begin anew after an erasure, which takes words out of the past as well."""
        self.forgotten |= set(ids)
        self.read.clear()

    def differing(self) -> list[str]:
        broken = []
        for seq, then in self.read.items():
            for user, known in zip(self.users, then, strict=True):
                now = self._facts(user, seq)
                broken += [f"as of {seq} {user} has {now}, and had {known}"] if now != known else []
                named = {one for fact in now[0] for one in (fact.id, fact.superseded_by, *fact.supersedes)}
                broken += [f"as of {seq} a forgotten fact is named"] if named & self.forgotten else []
        return broken

    def _facts(self, user: str, seq: int | None = None) -> State:
        facts = self.memory.facts.list(user, as_of=seq)
        lineages = tuple(self.memory.facts.lineage(fact.id, as_of=seq) for fact in facts if fact.superseded_by)
        return (facts, self.memory.facts.counts(user, as_of=seq), lineages)


def copied(memory: Memory, users: Sequence[str], folder: Path) -> list[str]:
    """List in what a memory that is imported from an export differs."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        memory.export(place / "all.zip")
        with Memory.import_(place / "all.zip", data_dir=place / "data", model="offline", vector_store="exact") as other:
            check = other.audit.verify()
            broken = [] if check.ok else [f"imported: {check.problem}"]
            same = [(one.facts.list(user), one.facts.relations(user)) for one in (memory, other) for user in users]
            broken += [] if same[: len(users)] == same[len(users) :] else ["an import has other facts"]
            return broken + ([] if state(other, users) == state(memory, users) else ["an import is in another state"])


def words_left(memory: Memory, words: Iterable[str], but: Iterable[str] = ()) -> list[str]:
    """List words with where they still are: in tables, `but` these, and if none is excepted in the file of a SQLite database."""
    wanted = [(word, word.encode()) for word in words]

    def work(tx: Tx) -> list[str]:
        quote, names = tx.dialect.identifier_preparer.quote, set(inspect(tx).get_table_names()) - set(but)
        places = {name: [_bytes(row) for row in tx.exec_driver_sql(f"SELECT * FROM {quote(name)}")] for name in sorted(names)}
        if tx.dialect.name == "sqlite" and tx.engine.url.database and not but:
            path = Path(tx.engine.url.database)
            places |= {one.name: [one.read_bytes()] for one in path.parent.glob(f"{path.name}*")}
        return [f"{word} in {name}" for word, held in wanted for name, rows in places.items() if any(held in row for row in rows)]

    return memory._async._engine.db.read(work)


def _bytes(row: Any) -> bytes:
    return b" ".join(value if isinstance(value, bytes) else str(value).encode() for value in row)
