"""Strategies that cut conversations: their registry, their checks, token counting, and the limits of a cut.

A strategy is a function from a conversation and its limits to consecutive ranges of messages, each a cut. It is registered
under a name, here or as an entry point of the group `memoir_engine.chunker`. It sees only messages that fit into a cut, and its
result is checked. Without a tokeniser, tokens are estimated from a text's characters: a count depends on the text alone, and a
text of at least one character has at least one token.
Invariant: 0 ≤ minimum < maximum ≤ window, and 0 ≤ overlap < maximum; impossible limits are refused with the remedy. Pure.
Source: CHUNK 1.2, 1.5, 2.3, 3–5, 10, 14.1, 14.3, 15.2–15.5; spec README, small print on CHUNK 2.3 and 15.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memoir_engine.core.errors import InvalidSetting
from memoir_engine.core.registry import Registry
from memoir_engine.core.results.conversations import ComparedCount, CutLimits, TokenComparison, TokenMethod
from memoir_engine.core.settings import ConversationSettings
from memoir_engine.text.transcripts import Utterance

Ints = NDArray[np.int64]

APPROXIMATE = TokenMethod(
    name="approximate",
    basis="letters, digits and signs",
    exact=False,
    error_percent=20.0,
    note="Estimated from the characters of a text, without a tokeniser. Single short texts may be further off.",
)

_BLOCK = 400_000  # characters weighed at once
_ASCII = np.full(128, 0.48)  # punctuation
_ASCII[ord("a") : ord("z") + 1] = 0.178
_ASCII[ord("A") : ord("Z") + 1] = 0.45
_ASCII[ord("0") : ord("9") + 1] = 0.5
_ASCII[ord(" ")] = 0.28
_ASCII[[9, 10, 13]] = 0.1
# (up to this code point, tokens per character)
_SCRIPTS = (
    (0x024F, 0.75),  # Latin with accents: they part a word
    (0x052F, 0.33),  # Greek, Cyrillic
    (0x08FF, 0.37),  # Armenian, Hebrew, Arabic
    (0x0DFF, 0.3),  # scripts of India
    (0x10FF, 0.4),  # Thai, Lao, Tibetan, Georgian
    (0x11FF, 1.0),
    (0x1FFF, 0.6),  # Vietnamese letters among them
    (0x2FFF, 0.6),  # dashes, quotation marks, arrows
    (0x303F, 0.65),  # CJK punctuation
    (0x30FF, 0.765),  # kana
    (0xABFF, 0.8),  # Chinese characters
    (0xD7FF, 0.54),  # Hangul
    (0xFFFF, 0.7),
    (0x10FFFF, 1.3),  # emoji
)
_LIMITS = np.array([limit for limit, _ in _SCRIPTS], dtype=np.uint32)
_SHARES = np.array([share for _, share in _SCRIPTS])


class Counter(Protocol):
    """A method of counting tokens."""

    @property
    def method(self) -> TokenMethod: ...

    def counts(self, texts: Sequence[str]) -> Ints:
        """Return (n,) tokens of each text."""
        ...

    def parts(self, text: str, maximum: int) -> list[tuple[int, int, int]]:
        """Divide a text at sentence ends if there are any: (start, end, tokens ≤ maximum), contiguous."""
        ...


def approximate_counts(texts: Sequence[str]) -> Ints:
    """Return (n,) estimated tokens of each text."""
    found = np.zeros(len(texts), dtype=np.int64)
    first, size = 0, 0
    for index, text in enumerate(texts):
        size += len(text)
        if size >= _BLOCK or index == len(texts) - 1:
            found[first : index + 1] = _together(texts[first : index + 1])
            first, size = index + 1, 0
    return found


def token_shares(text: str) -> NDArray[np.float64]:
    """Return (n_characters,) the tokens of each character."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ascii_ = _ASCII[np.minimum(points, 127)]
    if text.isascii():
        return ascii_
    return np.where(points < 128, ascii_, _SHARES[np.minimum(np.searchsorted(_LIMITS, points), len(_SHARES) - 1)])


def compare_counts(estimated: Sequence[int], actual: Sequence[int], *, method: TokenMethod, actual_by: str) -> TokenComparison:
    """Compare estimated with actual counts, text by text; an estimate of 0 for 0 actual tokens counts as right."""
    rows = tuple(ComparedCount(one, true, _error(one, true)) for one, true in zip(estimated, actual, strict=True))
    errors = [abs(row.error_percent) for row in rows]
    return TokenComparison(
        method=method,
        actual_by=actual_by,
        texts=rows,
        estimated_tokens=sum(estimated),
        actual_tokens=sum(actual),
        mean_error_percent=sum(errors) / len(errors) if errors else 0.0,
        worst_error_percent=max(errors, default=0.0),
        bias_percent=_error(sum(estimated), sum(actual)),
        within_5_percent=sum(error <= 5 for error in errors) / len(errors) if errors else 1.0,
    )


def _together(texts: Sequence[str]) -> Ints:
    ends = np.cumsum([len(text) for text in texts])
    sums = np.concatenate(([0.0], np.cumsum(token_shares("".join(texts)))))
    weights = np.diff(np.concatenate(([0.0], sums[ends])))
    filled = np.diff(np.concatenate(([0], ends))) > 0
    return np.maximum(np.rint(np.round(weights, 6)), filled).astype(np.int64)  # rounded: sums differ by what stands before


def _error(estimated: int, actual: int) -> float:
    if actual == 0:
        return 0.0 if estimated == 0 else 100.0
    return 100.0 * (estimated - actual) / actual


Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors (n, dim); called with some hundred texts at a time, in order."""

SLIDING_WINDOW = "sliding_window"


class Range(NamedTuple):
    """Messages from `first` until before `stop`; the reason for the cut at `first`."""

    first: int
    stop: int
    reason: str = ""


@dataclass(frozen=True)
class CutInput:
    """Messages, each of at most `limits.max_tokens`, and their tokens. embed: None without an embedder."""

    messages: Sequence[Utterance]
    tokens: Ints
    embed: Embed | None = None

    def __len__(self) -> int:
        return len(self.messages)

    def slice(self, first: int, stop: int) -> CutInput:
        return CutInput(self.messages[first:stop], self.tokens[first:stop], self.embed)


class NoBoundaries(Exception):
    """Raised by a strategy that finds no place to cut; the sliding window cuts instead, and the reason is reported."""


class Chunker(Protocol):
    """A strategy. Its optional attribute `needs` is a set of: "embedder", "times" (of every message), "exact" (counts)."""

    def __call__(self, talk: CutInput, limits: CutLimits) -> Sequence[Range]:
        """Return ranges in order that together hold every message, each of at most limits.max_tokens; neighbours may overlap.

        May raise NoBoundaries, or anything else: the sliding window then takes its place.
        """
        ...


CHUNKERS: Registry[Chunker] = Registry("chunker")

NEEDS = {
    "embedder": "an embedder, and none was given",
    "times": "the time of every message, and some have none",
    "exact": "exact token counts, and those of this model are estimated",
}


def missing_need(chunker: Chunker, talk: CutInput, *, exact: bool) -> str | None:
    """Return a missing need of the strategy in words, or None."""
    there = {"embedder": talk.embed is not None, "exact": exact}
    for need in sorted(getattr(chunker, "needs", ())):
        is_there = all(message.at for message in talk.messages) if need == "times" else there.get(need, False)
        if not is_there:
            return NEEDS.get(need, f"{need!r}, which is not known here")
    return None


def find_fault(ranges: Sequence[Range], talk: CutInput, limits: CutLimits) -> str | None:
    """Return the first fault of a strategy's ranges in words, or None."""
    if not ranges or ranges[0].first != 0 or ranges[-1].stop != len(talk):
        return "it left messages out"
    sums = np.concatenate(([0], np.cumsum(talk.tokens)))
    for one in ranges:
        if not 0 <= one.first < one.stop <= len(talk):
            return "a cut of it is empty or reaches beyond the conversation"
        if sums[one.stop] - sums[one.first] > limits.max_tokens:
            return f"a cut of it is longer than {limits.max_tokens} tokens"
    for one, other in pairwise(ranges):
        if not (one.first < other.first <= one.stop < other.stop):
            return "its cuts leave messages out or are out of order"
    return None


SHARE_OF_WINDOW = 0.8
SHARE_OF_MAXIMUM = 0.2  # of the minimum


def resolve_limits(settings: ConversationSettings, window: int, *, known: bool = True) -> CutLimits:
    """Derive the tokens of a cut from the settings and a model's window. known: False for an assumed window.

    `settings.window_tokens` overrides the window. An assumed window gives way to a larger maximum. Raises InvalidSetting (E102).
    """
    if settings.window_tokens is not None:
        window, known = settings.window_tokens, True
    most = settings.max_tokens if settings.max_tokens is not None else max(1, int(SHARE_OF_WINDOW * window))
    if most > window and known:
        raise _refused("max_tokens", most, f"the model takes {window} tokens", "Lower it, or set conversation.window_tokens.")
    least = settings.min_tokens if settings.min_tokens is not None else int(SHARE_OF_MAXIMUM * most)
    shared = settings.overlap_tokens if settings.overlap_tokens is not None else int(settings.overlap_percent / 100 * most)
    for name, value in (("min_tokens", least), ("overlap_tokens", shared)):
        if value >= most:
            advice = f"Lower conversation.{name}, or raise conversation.max_tokens."
            raise _refused(name, value, f"it must be below the tokens of one cut ({most})", advice)
    return CutLimits(most, least, shared, max(window, most), known)


def _refused(name: str, value: int, problem: str, advice: str) -> InvalidSetting:
    return InvalidSetting(name=f"conversation.{name}", value=value, problem=problem, advice=advice)


LIMIT_REACHED = "the cut before was full"


@CHUNKERS.register(SLIDING_WINDOW)
def sliding_window(talk: CutInput, limits: CutLimits) -> list[Range]:
    sums = np.concatenate(([0], np.cumsum(talk.tokens)))  # (n + 1,) tokens before each message
    ranges: list[Range] = []
    first = stop = 0
    while stop < len(talk):
        first = _next_first(sums, first, stop, limits) if ranges else 0
        stop = int(np.searchsorted(sums, sums[first] + limits.max_tokens, side="right")) - 1
        ranges.append(Range(first, stop, LIMIT_REACHED if ranges else ""))
    return ranges


def _next_first(sums: np.ndarray, first: int, stop: int, limits: CutLimits) -> int:
    """Return the earliest start whose shared messages fit into the overlap, and with which the next message still fits."""
    shared = sums[stop] - limits.overlap_tokens
    room = sums[stop + 1] - limits.max_tokens
    return min(max(int(np.searchsorted(sums, max(shared, room), side="left")), first + 1), stop)
