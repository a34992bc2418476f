"""Feedback on answers, its resolution, and what a person is told of it.

Invariant: a report is open until somebody resolves it, by the action that mended it or with a word; where that action was undone
since, it is open again. Words that were erased are None.
Source: docs/decisions/0096.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memoir_engine.core.results.evidence import Action

FeedbackVerdict = Literal["wrong", "helped"]
FeedbackState = Literal["open", "mended", "explained"]
NoticeKind = Literal["mended", "explained"]


@dataclass(frozen=True)
class FeedbackSettlement:
    """How a report was resolved. mended_by: the action that put right what was wrong; undone: it was taken back since."""

    action_id: str
    by: str
    at: datetime
    words: str | None
    mended_by: Action | None = None
    undone: bool = False


@dataclass(frozen=True)
class Feedback:
    """What a person said of an answer. chunk_id: of the citation that is meant.

    state: of a report that an answer is wrong; what helped is never open. `key` names it for `feedback.resolve`.
    """

    key: str
    action_id: str
    verdict: FeedbackVerdict
    run_id: str
    question: str
    by: str
    at: datetime
    words: str | None
    chunk_id: int | None
    state: FeedbackState | None
    settlement: FeedbackSettlement | None = None


@dataclass(frozen=True)
class FeedbackPage:
    """`counts`: of all that the actor may see, by state, and of what helped. `after` is the cursor of the next page."""

    items: tuple[Feedback, ...]
    total: int
    counts: dict[str, int]
    after: str | None = None


@dataclass(frozen=True)
class Notice:
    """Something that concerns a person. kind: how their report was resolved.

    seq: of the event; `notices.read` takes the newest that was seen. key: of the report. words: what was said, if anything.
    """

    seq: int
    kind: NoticeKind
    by: str
    at: datetime
    key: str
    run_id: str | None
    about: str
    words: str | None
