"""Facts in the review queue: a change that waits for a person, one that the model made, and a fact that nobody has looked at.

Invariant: an item is one standing of one fact, or one open proposal; a fact that stands otherwise since is another item.
Source: DESIGN §6; TIMEM "Supports Reversion".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from memoir_engine.results.facts import FactProposal, FactView
from memoir_engine.results.review import ReviewState, RiskReason

FactReviewKind = Literal["proposal", "supersession", "fact"]


class FactKey(NamedTuple):
    """A fact or a proposal by its number, as it stands since that seq."""

    thing: Literal["fact", "proposal"]
    number: int
    since: int

    def __str__(self) -> str:
        return f"{self.thing}-{self.number}-{self.since}"


class HeldFact(NamedTuple):
    """Something that a person may judge, without its words. at_seq: of the verdict."""

    key: FactKey
    kind: FactReviewKind
    state: ReviewState
    supported: bool
    confidence: float | None
    reviewer: str | None = None
    at_seq: int | None = None


@dataclass(frozen=True)
class FactReviewItem:
    """`key` names it for `review.approve`, `reject`, `skip` and `apply`.

    proposal: whether `fact` takes the place of `others` is open. supersession: `fact` gave way to `others`.
    fact: it was learned, and stands.
    """

    key: str
    kind: FactReviewKind
    user_id: str | None
    state: ReviewState
    reasons: tuple[RiskReason, ...]
    fact: FactView
    others: tuple[FactView, ...] = ()
    proposal: FactProposal | None = None
    reviewer: str | None = None
    reviewed_at: datetime | None = None


@dataclass(frozen=True)
class FactReviewPage:
    """`counts` by state; `after` is the cursor of the next page."""

    items: tuple[FactReviewItem, ...]
    total: int
    counts: dict[str, int]
    after: str | None = None
