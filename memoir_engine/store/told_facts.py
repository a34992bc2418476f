"""What the events say of facts and cuts, read once from the first to the last.

Invariant: only what stands in the chain is in here; nothing is read from the tables that are to be checked.
Source: DESIGN §6 (verify by digests and replay).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memoir_engine.store.types import FAR

Body = dict[str, Any]


class Shifted(NamedTuple):
    """A row of `fact_status` or of `fact_proposal` as replayed."""

    to_seq: int
    said: tuple[Any, ...]


class Rows(NamedTuple):
    """Rows that one event covers, consecutive from `first`."""

    seq: int
    first: int
    total: int
    digest: str


@dataclass
class ToldFacts:
    """Grows event by event."""

    facts: dict[int, tuple[int, str]] = field(default_factory=dict)  # number → seq, digest
    origins: dict[int, list[Rows]] = field(default_factory=dict)  # by fact
    unseen: dict[tuple[int, int], int] = field(default_factory=dict)  # (fact, n) → the seq that took it back
    standings: dict[tuple[int, int], Shifted] = field(default_factory=dict)  # (fact, from_seq)
    relations: dict[tuple[int, int, int], tuple[int, str, float | None, str | None]] = field(default_factory=dict)
    proposals: dict[tuple[int, int], Shifted] = field(default_factory=dict)  # (proposal, from_seq)
    cuts: list[Rows] = field(default_factory=list)
    papers: dict[str, int] = field(default_factory=dict)  # payloads that bodies name → seq
    erasures: dict[int, str] = field(default_factory=dict)  # seq → digest of its tombstones
    withdrawn: dict[int, int] = field(default_factory=dict)  # cut → the seq that took it back

    def kinds(self) -> dict[str, Callable[[int, str, Body], None]]:
        return {
            "fact.recorded": self._recorded,
            "fact.outdated": self._shifted,
            "fact.restored": self._shifted,
            "fact.withdrawn": self._shifted,
            "fact.returned": self._shifted,
            "fact.forgotten": self._forgotten,
            "fact.seen": self._seen,
            "fact.unseen": self._unseen,
            "fact.seen_again": self._seen_again,
            "fact.related": self._related,
            "fact.unrelated": self._unrelated,
            "fact.related_again": self._unrelated,
            "fact.proposed": self._proposed,
            "fact.settled": self._proposed,
            "fact.unproposed": self._proposed,
            "cuts.recorded": self._cut,
            "cuts.withdrawn": self._cuts_withdrawn,
            "cuts.returned": self._cuts_returned,
            "fact.reviewed": lambda _seq, _action, _body: None,  # moves no row
            "conversation.seen_again": lambda _seq, _action, _body: None,
        }

    def _recorded(self, seq: int, _action: str, body: Body) -> None:
        number = body["fact"]
        self.facts[number] = (seq, body["digest"])
        self.standings[number, seq] = Shifted(FAR, tuple(body["status"]))
        self.origins.setdefault(number, []).append(Rows(seq, *body["origins"]))

    def _shifted(self, seq: int, _action: str, body: Body) -> None:
        number = body["fact"]
        if body["was"]:
            self.standings[number, body["was"]] = self.standings[number, body["was"]]._replace(to_seq=seq)
        if body["status"] is not None:
            self.papers |= {body["status"][4]: seq} if body["status"][4] else {}
            self.standings[number, seq] = Shifted(FAR, tuple(body["status"]))

    def _forgotten(self, seq: int, action: str, body: Body) -> None:
        self._shifted(seq, action, body)
        self.erasures[seq] = body["stones"]

    def _seen(self, seq: int, _action: str, body: Body) -> None:
        self.origins[body["fact"]].append(Rows(seq, *body["origins"]))

    def _unseen(self, seq: int, _action: str, body: Body) -> None:
        self.unseen |= {(body["fact"], n): seq for n in body["ns"]}

    def _seen_again(self, _seq: int, _action: str, body: Body) -> None:
        for n in body["ns"]:
            del self.unseen[body["fact"], n]

    def _related(self, seq: int, _action: str, body: Body) -> None:
        self.relations[body["source"], body["target"], seq] = (FAR, body["relation"], body["confidence"], body["run"])

    def _unrelated(self, seq: int, _action: str, body: Body) -> None:
        """Taken back, or come back: the one after the other."""
        key = (body["source"], body["target"], body["since"])
        until, kind, confidence, run = self.relations[key]
        self.relations[key] = (seq if until == FAR else FAR, kind, confidence, run)

    def _proposed(self, seq: int, _action: str, body: Body) -> None:
        number = body["proposal"]
        if body["was"]:
            self.proposals[number, body["was"]] = self.proposals[number, body["was"]]._replace(to_seq=seq)
        if body["row"] is not None:
            self.papers[body["row"][4]] = seq
            self.proposals[number, seq] = Shifted(FAR, (*_flat(body["row"]), body["run"]))

    def _cut(self, seq: int, _action: str, body: Body) -> None:
        self.cuts.append(Rows(seq, body["first"], body["count"], body["digest"]))

    def _cuts_withdrawn(self, seq: int, _action: str, body: Body) -> None:
        self.withdrawn |= dict.fromkeys(body["cuts"], seq)

    def _cuts_returned(self, _seq: int, _action: str, body: Body) -> None:
        for number in body["cuts"]:
            del self.withdrawn[number]


def _flat(row: list[Any]) -> tuple[Any, ...]:
    return tuple(tuple(one) if isinstance(one, list) else one for one in row)
