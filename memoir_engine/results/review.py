"""The review: what waits for a person, why, what speaks for and against it, and what became of each step.

Invariant: an item is one filing; a chunk filed anew is another item. Nothing here is a number that a model gave.
Source: DESIGN §6, §9; API "The ledger and the audit".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memoir_engine.results.documents import Path
from memoir_engine.results.evidence import Decision

Verdict = Literal["approve", "reject", "skip", "refile"]
ReviewState = Literal["unreviewed", "approved", "refiled", "rejected", "skipped"]


@dataclass(frozen=True)
class RiskReason:
    """Why an item is in the queue: a code for filters, and words for people. `weight` is its part of the risk."""

    code: str  # margin, disagrees, new_category, limit, retried, no_helper, sample
    says: str
    weight: float


@dataclass(frozen=True)
class ReviewItem:
    """One filing to look at. `key` names it; `risk` orders the queue, higher first, and is the engine's own."""

    key: str
    kind: str  # filing
    chunk_id: int
    filed_seq: int
    source_id: int
    source_name: str
    category_id: int
    path: Path
    text: str
    state: ReviewState
    risk: float
    reasons: tuple[RiskReason, ...]
    filed_at: datetime
    reviewer: str | None = None
    reviewed_at: datetime | None = None


@dataclass(frozen=True)
class ReviewPage:
    """`counts` by state, of all that the other filters let through; `after` is the cursor of the next page."""

    items: tuple[ReviewItem, ...]
    total: int
    counts: dict[str, int]
    after: str | None = None


@dataclass(frozen=True)
class Place:
    """A leaf that a chunk could be filed in. `opinion` is the second opinion in [0, 1]; None when not computed."""

    category_id: int
    path: Path
    opinion: float | None = None


@dataclass(frozen=True)
class Neighbour:
    """A chunk near in words, and where it is filed. `similarity` in [0, 1]."""

    chunk_id: int
    source_name: str
    path: Path
    text: str
    similarity: float
    state: ReviewState


@dataclass(frozen=True)
class ReviewEvidence:
    """All that the decision on one item needs: the text around it, the choices, what lost, and what is like it."""

    item: ReviewItem
    before: str  # the source's text just before the chunk
    behind: str  # and just behind it
    start: int
    end: int
    helper: str | None
    decisions: tuple[Decision, ...]  # level by level, with the options that lost
    neighbours: tuple[Neighbour, ...]
    places: tuple[Place, ...]  # likeliest leaves first, the present one among them


@dataclass(frozen=True)
class ReviewStep:
    """One decision of a reviewer, as the page sends it.

    step_id: given once by whoever decides (26 characters, as a run's id); the same id again is done once. It is the action's id.
    category_id: where to file it, with refile. seen: the state it was shown in; what has been decided is only decided against
    when it was seen so; who gives none may change a verdict of their own.
    """

    step_id: str
    key: str
    verdict: Verdict
    category_id: int | None = None
    reason: str | None = None
    seen: ReviewState | None = None


@dataclass(frozen=True)
class StepOutcome:
    """done: by this step. again: this very step was done before. overtaken: decided before, `by` whom, maybe the same person.

    refused: not possible; `says` is why and what to do.
    """

    step_id: str
    key: str
    outcome: Literal["done", "again", "overtaken", "refused"]
    says: str = ""
    by: str | None = None
    action_id: str | None = None


@dataclass(frozen=True)
class LeafEffect:
    """How many chunks a leaf would gain and lose."""

    category_id: int
    path: Path
    gains: int
    loses: int


@dataclass(frozen=True)
class StepsPreview:
    """What a list of steps would do, worked out one after another. Nothing was changed.

    counts: how many would be done, by verdict. not_done: those that would be refused, overtaken, or were done before.
    """

    counts: dict[str, int]
    leaves: tuple[LeafEffect, ...]
    not_done: tuple[StepOutcome, ...]

    @property
    def done(self) -> int:
        return sum(self.counts.values())
