"""What the events say, read once from the first to the last.

Invariant: only what stands in the chain is in here; nothing is read from the tables that are to be checked.
Source: DESIGN §6 (verify by digests and replay).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memoir_engine.store.chain.canonical_json import parse
from memoir_engine.store.db.types import FAR

# === told_facts: What the events say of facts and cuts, read once from the first to the last.
#
# Invariant: only what stands in the chain is in here; nothing is read from the tables that are to be checked.
# Source: DESIGN §6 (verify by digests and replay).


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


# === told


@dataclass(frozen=True)
class Problem:
    """`seq` is the event that no longer holds; None for a row that stands in no event."""

    seq: int | None
    says: str


class Filing(NamedTuple):
    """A row of `filing` as replayed. `reviewed` is the seq of its review, `verdict` what it said."""

    from_seq: int
    to_seq: int
    category: int
    decision: int | None
    reviewed: int | None
    verdict: str | None = None


class Version(NamedTuple):
    """A row of `category_version` as replayed."""

    to_seq: int
    parent: int
    digest: str


class Closing(NamedTuple):
    """A `run.closed`: the digests of the run and of what it came to; how many calls and decisions, and their roll-ups."""

    seq: int
    status: str
    digest: str
    outcome: str | None  # absent before outcomes were covered
    calls: tuple[int, str]
    decisions: tuple[int, str]


class Signature(NamedTuple):
    """A row of `sign_off` as replayed. `action` is the one that signed."""

    to_seq: int
    subject: str
    number: int
    state: str
    statement: str
    action: str


class Said(NamedTuple):
    """A turn: messages `first` to `last` of a session, and the roll-up of their digests."""

    seq: int
    first: int
    last: int
    digest: str


@dataclass
class Conversation:
    """A session as replayed. `gone`: digests of the messages a limit dropped, by number; all up to `cleared` went otherwise."""

    seq: int
    digest: str
    last_at: str
    limits: tuple[int | None, float | None]
    turns: list[Said] = field(default_factory=list)
    gone: dict[int, str] = field(default_factory=dict)
    last_n: int = 0
    cleared: int = 0
    cleared_seq: int | None = None


class Chunks(NamedTuple):
    seq: int
    first: int
    total: int
    digest: str


Body = dict[str, Any]


@dataclass
class Told:
    """Grows by `take`, event by event."""

    actions: dict[str, tuple[int, str]] = field(default_factory=dict)  # id → its first seq, digest
    action_at: dict[str, str] = field(default_factory=dict)  # id → time of its first event
    payloads: dict[str, int] = field(default_factory=dict)  # digest → seq
    sources: dict[int, tuple[int, str]] = field(default_factory=dict)
    status: dict[int, tuple[str, int]] = field(default_factory=dict)
    replaces: dict[int, int | None] = field(default_factory=dict)  # by source
    helpers: dict[int, tuple[int, str]] = field(default_factory=dict)
    in_force: dict[int, tuple[int | None, int]] = field(default_factory=dict)  # source → version of its helper, seq
    chunks: dict[int, Chunks] = field(default_factory=dict)  # by source
    categories: dict[int, tuple[int, int]] = field(default_factory=dict)  # id → level, seq
    versions: dict[tuple[int, int], Version] = field(default_factory=dict)  # (category, from_seq)
    filings: dict[int, list[Filing]] = field(default_factory=dict)  # by chunk, oldest first
    reviews: dict[int, str] = field(default_factory=dict)  # seq of a review → its action
    signatures: dict[int, Signature] = field(default_factory=dict)  # by from_seq
    closings: dict[str, list[Closing]] = field(default_factory=dict)  # by run
    sessions: dict[int, Conversation] = field(default_factory=dict)
    erasures: dict[int, str] = field(default_factory=dict)  # seq → digest of its tombstones
    facts: ToldFacts = field(default_factory=ToldFacts)
    problems: list[Problem] = field(default_factory=list)
    _open_version: dict[int, int] = field(default_factory=dict)

    def take(self, seq: int, at: str, action_id: str, kind: str, text: str, payload: str | None) -> None:
        if payload is not None:
            self.payloads[payload] = seq
        known: dict[str, Callable[[int, str, Body], None]] = {
            "source.added": self._source_added,
            "source.withdrawn": self._source_withdrawn,
            "source.replaced": self._source_withdrawn,
            "source.restored": self._source_restored,
            "source.erased": self._source_erased,
            "helper.set": self._helper_set,
            "helper.chosen": self._helper_chosen,
            "chunks.added": self._chunks_added,
            "category.created": self._category_created,
            "category.closed": self._category_closed,
            "category.reopened": self._category_reopened,
            "category.renamed": self._category_changed,
            "category.moved": self._category_changed,
            "category.merged": self._category_changed,
            "category.restored": self._category_changed,
            "chunk.filed": self._chunk_filed,
            "chunk.refiled": self._chunk_refiled,
            "chunk.rejected": self._chunk_rejected,
            "chunk.returned": self._chunk_returned,
            "filing.reviewed": self._filing_reviewed,
            "sign_off.made": self._signed,
            "sign_off.withdrawn": self._sign_off_withdrawn,
            "sign_off.restored": self._sign_off_restored,
            "run.closed": self._run_closed,
            "session.opened": self._session_opened,
            "session.said": self._session_said,
            "session.trimmed": self._session_trimmed,
            "session.limited": self._session_limited,
            "session.cleared": self._session_cleared,
            "checkpoints.removed": _no_evidence,
            **self.facts.kinds(),
        }
        if kind not in known:
            self.problems.append(Problem(seq, f"event {seq} is of an unknown kind {kind!r}"))
            return
        try:
            body: Body = parse(text)
            if action_id not in self.actions:
                self.actions[action_id] = (seq, body.get("action", ""))
                self.action_at[action_id] = at
            known[kind](seq, action_id, body)
        except (LookupError, TypeError, ValueError, AttributeError):
            self.problems.append(Problem(seq, f"event {seq} ({kind}) does not fit the events before it"))

    def _source_added(self, seq: int, _action: str, body: Body) -> None:
        self.sources[body["source"]] = (seq, body["digest"])
        self.status[body["source"]] = (body.get("status", "filed"), seq)  # knowledge that is not filed says so
        self.replaces[body["source"]] = body.get("replaces")  # absent before there were versions

    def _source_withdrawn(self, seq: int, _action: str, body: Body) -> None:
        self.status[body["source"]] = ("replaced" if "by" in body else "withdrawn", seq)
        for chunk in self._chunks_of(body["source"]):
            if chunk in self.filings and self.filings[chunk][-1].to_seq == FAR:
                self._end(chunk, seq)

    def _source_erased(self, seq: int, action: str, body: Body) -> None:
        self._source_withdrawn(seq, action, body)
        self.status[body["source"]] = ("erased", seq)
        self.erasures[seq] = body["stones"]

    def _source_restored(self, seq: int, _action: str, body: Body) -> None:
        self.status[body["source"]] = (body.get("status", "filed"), seq)
        for chunk in self._chunks_of(body["source"]):
            rows = self.filings.get(chunk, [])
            if rows and rows[-1].to_seq == body["withdrawn"]:
                rows.append(rows[-1]._replace(from_seq=seq, to_seq=FAR))

    def _helper_set(self, seq: int, _action: str, body: Body) -> None:
        self.helpers[body["helper"]] = (seq, body["digest"])
        if body.get("in_force", True):
            self.in_force[body["source"]] = (body["version"], seq)

    def _helper_chosen(self, seq: int, _action: str, body: Body) -> None:
        self.in_force[body["source"]] = (body["version"], seq)

    def _chunks_added(self, seq: int, _action: str, body: Body) -> None:
        self.chunks[body["source"]] = Chunks(seq, body["first"], body["count"], body["digest"])

    def _category_created(self, seq: int, _action: str, body: Body) -> None:
        self.categories[body["category"]] = (body["level"], seq)
        self._open(seq, body)

    def _category_closed(self, seq: int, _action: str, body: Body) -> None:
        key = (body["category"], self._open_version.pop(body["category"]))
        self.versions[key] = self.versions[key]._replace(to_seq=seq)

    def _category_reopened(self, seq: int, _action: str, body: Body) -> None:
        self._open(seq, body)

    def _category_changed(self, seq: int, action: str, body: Body) -> None:
        self._category_closed(seq, action, body)
        self._open(seq, body)

    def _open(self, seq: int, body: Body) -> None:
        self.versions[body["category"], seq] = Version(FAR, body["parent"], body["digest"])
        self._open_version[body["category"]] = seq

    def _chunk_filed(self, seq: int, _action: str, body: Body) -> None:
        self.filings.setdefault(body["chunk"], []).append(Filing(seq, FAR, body["category"], body["decision"], None))

    def _chunk_refiled(self, seq: int, action: str, body: Body) -> None:
        self._end(body["chunk"], seq)
        self._refiled(seq, action, body)

    def _chunk_rejected(self, seq: int, action: str, body: Body) -> None:
        self._filing_reviewed(seq, action, {**body, "verdict": "rejected"})
        self._end(body["chunk"], seq)

    def _chunk_returned(self, seq: int, action: str, body: Body) -> None:
        if self.filings[body["chunk"]][-1].to_seq == FAR:
            raise ValueError("it is filed")
        self._refiled(seq, action, body)

    def _filing_reviewed(self, seq: int, action: str, body: Body) -> None:
        row = self.filings[body["chunk"]][-1]
        if (row.from_seq, row.to_seq) != (body["filing"], FAR) or body["before"] != [row.verdict, row.reviewed]:
            raise ValueError("another filing")
        self.filings[body["chunk"]][-1] = row._replace(reviewed=body["reviewed"], verdict=body["verdict"])
        self._reviewed(seq, action, body)

    def _refiled(self, seq: int, action: str, body: Body) -> None:
        verdict = body.get("verdict")  # absent before there were verdicts
        row = Filing(seq, FAR, body["category"], body["decision"], body["reviewed"], verdict)
        self.filings[body["chunk"]].append(row)
        self._reviewed(seq, action, body)

    def _reviewed(self, seq: int, action: str, body: Body) -> None:
        if body["reviewed"] == seq:
            self.reviews[seq] = action

    def _signed(self, seq: int, action: str, body: Body) -> None:
        self.signatures[seq] = Signature(FAR, body["subject"], body["number"], body["state"], body["statement"], action)

    def _sign_off_withdrawn(self, seq: int, _action: str, body: Body) -> None:
        self.signatures[body["signed"]] = self.signatures[body["signed"]]._replace(to_seq=seq)

    def _sign_off_restored(self, seq: int, _action: str, body: Body) -> None:
        self.signatures[seq] = self.signatures[body["signed"]]._replace(to_seq=FAR)

    def _run_closed(self, seq: int, _action: str, body: Body) -> None:
        calls, decisions = tuple(body["calls"]), tuple(body["decisions"])
        covers = Closing(seq, body["status"], body["digest"], body.get("outcome"), calls, decisions)
        self.closings.setdefault(body["run"], []).append(covers)

    def _session_opened(self, seq: int, action: str, body: Body) -> None:
        limits = (body["max_messages"], body["timeout_s"])
        self.sessions[body["session"]] = Conversation(seq, body["digest"], self.action_at[action], limits)

    def _session_said(self, seq: int, action: str, body: Body) -> None:
        found = self.sessions[body["session"]]
        if body["first"] != found.last_n + 1:
            raise ValueError("other messages")
        found.last_n, found.last_at = body["first"] + body["count"] - 1, self.action_at[action]
        found.turns.append(Said(seq, body["first"], found.last_n, body["digest"]))

    def _session_trimmed(self, _seq: int, _action: str, body: Body) -> None:
        self.sessions[body["session"]].gone |= dict(body["gone"])

    def _session_limited(self, _seq: int, _action: str, body: Body) -> None:
        self.sessions[body["session"]].limits = (body["max_messages"], body["timeout_s"])

    def _session_cleared(self, seq: int, _action: str, body: Body) -> None:
        found = self.sessions[body["session"]]
        found.cleared, found.cleared_seq = found.last_n, seq
        self.erasures[seq] = body["stones"]

    def _end(self, chunk: int, seq: int) -> None:
        self.filings[chunk][-1] = self.filings[chunk][-1]._replace(to_seq=seq)

    def _chunks_of(self, source: int) -> range:
        if source not in self.chunks:  # knowledge that is not filed
            return range(0)
        added = self.chunks[source]
        return range(added.first, added.first + added.total)


def _no_evidence(_seq: int, _action: str, _body: Body) -> None:
    """States of graphs are kept to go on with: that they went is told, and nothing stands that it could be held against."""
