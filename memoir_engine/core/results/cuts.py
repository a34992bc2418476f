"""Result of cutting a conversation, and of counting its tokens.

Invariant: the cuts of a conversation, in order, hold every message in its place; a message is in two cuts only where
they overlap, and in parts only if it alone is longer than the model's window.
Source: CHUNK 1, 2, 6, 14; spec README, small print on CHUNK 1.2, 2.3 and 3.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

TokenMethodName = Literal["openai", "anthropic", "gemini", "approximate"]


@dataclass(frozen=True)
class TokenMethod:
    """How tokens are counted. basis: by which tokeniser, or by what else.

    exact: whether the counts are the model's own. error_percent: how far the count of a usual text may be from the model's
    own, either way; 0 where it is exact. note: in words, what to know before one relies on it.
    """

    name: TokenMethodName
    basis: str
    exact: bool
    error_percent: float
    note: str


@dataclass(frozen=True)
class Cut:
    """Consecutive messages of a conversation taken together: the n-th `of` so many.

    id: the same for the same words cut in the same way. first, last: their indexes, from 0, both included.
    tokens: of the texts of its messages, those it shares with the cut before (`overlap_tokens`, `overlap_messages`) included.
    oversize: a single message above the maximum of a cut. split: (part, parts) where a message above the model's window had
    to be divided; start, end: the characters of the message that are in this part.
    reason: why the cut begins where it does. warnings: what is not as it should be.
    """

    id: str
    conversation_id: str
    n: int
    of: int
    strategy: str
    first: int
    last: int
    message_ids: tuple[str, ...]
    tokens: int
    overlap_tokens: int = 0
    overlap_messages: int = 0
    oversize: bool = False
    split: tuple[int, int] | None = None
    start: int | None = None
    end: int | None = None
    reason: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.n} of {self.of}"

    @property
    def indexes(self) -> range:
        """Indexes of its messages in the conversation."""
        return range(self.first, self.last + 1)


@dataclass(frozen=True)
class CutLimits:
    """Limits in tokens. window_known: False if the model's window is unknown and 8,192 is assumed."""

    max_tokens: int
    min_tokens: int
    overlap_tokens: int
    window: int
    window_known: bool = True


@dataclass(frozen=True)
class CutConversation:
    """A conversation divided into cuts.

    triggered: whether it was longer than a cut may be and therefore cut; else it is one cut, whole.
    asked, strategy: the requested strategy, and the one that cut; they differ after a fallback.
    message_tokens: of each message, in order. It is the sequence of its cuts as well; `chunks` is an alias of `cuts`.
    """

    conversation_id: str
    cuts: tuple[Cut, ...]
    messages: int
    tokens: int
    triggered: bool
    asked: str
    strategy: str
    model: str
    limits: CutLimits
    method: TokenMethod
    message_tokens: tuple[int, ...]
    warnings: tuple[str, ...] = ()

    @property
    def chunks(self) -> tuple[Cut, ...]:
        return self.cuts

    def __iter__(self) -> Iterator[Cut]:
        return iter(self.cuts)

    def __len__(self) -> int:
        return len(self.cuts)

    def __getitem__(self, place: int) -> Cut:
        return self.cuts[place]

    @property
    def fell_back(self) -> bool:
        return self.strategy != self.asked and self.triggered

    @property
    def overlap_tokens(self) -> int:
        return sum(cut.overlap_tokens for cut in self.cuts)


@dataclass(frozen=True)
class ComparedCount:
    """One text. error_percent: of the actual count; positive where the estimate is above it."""

    estimated: int
    actual: int
    error_percent: float


@dataclass(frozen=True)
class TokenComparison:
    """Estimated beside actual counts. Percentages are of the actual count.

    mean_error_percent, worst_error_percent: of single texts, without sign. bias_percent: of all texts together, with sign.
    within_5_percent: share of texts in [0, 1]. actual_by: whose counts the actual ones are.
    """

    method: TokenMethod
    actual_by: str
    texts: tuple[ComparedCount, ...]
    estimated_tokens: int
    actual_tokens: int
    mean_error_percent: float
    worst_error_percent: float
    bias_percent: float
    within_5_percent: float
