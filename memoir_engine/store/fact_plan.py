"""What remembering a conversation is going to write, worked out while no transaction was open.

Invariant: a frozen value. Facts that stand already are named by their numbers, new ones by negative keys; messages by their index
in the conversation, cuts by their place among its cuts. `seq` is what the plan has seen.
Source: DESIGN §2.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memoir_engine.embedding import Vectors
from memoir_engine.results.cuts import Cut
from memoir_engine.text.messages import Message


@dataclass(frozen=True)
class Known:
    """A fact that stands. key: its number, or below 0 of one that this plan adds."""

    key: int
    content: str
    type: str
    subject: str
    entities: tuple[str, ...]
    confidence: float | None
    said_at: datetime | None
    valid_from: datetime | None
    from_precision: str | None
    valid_to: datetime | None
    to_precision: str | None


@dataclass(frozen=True)
class PlannedSpan:
    """message, cut: from 0."""

    message: int
    start: int | None
    end: int | None
    cut: int


@dataclass(frozen=True)
class PlannedFact:
    """key: below 0. takes: facts whose origins it has too."""

    key: int
    uid: str
    type: str
    content: str
    subject: str
    entities: tuple[str, ...]
    confidence: float | None
    valid_from: datetime | None
    from_precision: str | None
    valid_to: datetime | None
    to_precision: str | None
    said_at: datetime | None
    spans: tuple[PlannedSpan, ...] = ()
    takes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Sighting:
    """A known fact that was said again. fact: its number or key."""

    fact: int
    spans: tuple[PlannedSpan, ...]


@dataclass(frozen=True)
class Supersession:
    """ended_at: when the old fact stopped being true; None for the time of writing, or where that is not the question."""

    old: int
    new: int
    cause: str
    reason: str
    ended_at: datetime | None


@dataclass(frozen=True)
class PlannedProposal:
    cause: str
    doubt: str
    new: int
    old: tuple[int, ...]
    reason: str
    merged: str


@dataclass(frozen=True)
class PlannedLink:
    source: int
    target: int
    kind: str
    confidence: float | None


@dataclass(frozen=True)
class FactPlan:
    """What consolidation came to. vectors: (n, dim) of `facts`, in their order."""

    seq: int
    facts: tuple[PlannedFact, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    supersessions: tuple[Supersession, ...] = ()
    proposals: tuple[PlannedProposal, ...] = ()
    links: tuple[PlannedLink, ...] = ()
    vectors: Vectors | None = None


@dataclass(frozen=True)
class Said:
    """What is read of a conversation. key: of all of it, see `conversation_key`. numbers: of its first messages in their session,
    as far as they stand there; the others are appended. last: the number of the session's last message when it was looked at,
    None where there was no session. failed: cuts of which nothing could be drawn, by index."""

    conversation: str
    key: str
    session_id: str
    messages: Sequence[Message]
    cuts: Sequence[Cut]
    numbers: tuple[int, ...] = ()
    failed: frozenset[int] = field(default_factory=frozenset)
    last: int | None = None
