"""Counting without a tokeniser, and how far from the truth a way of counting is.

A token is some letters of a word, fewer signs of a script with many signs. The shares below were fitted to o200k_base on
English talk, reports and speeches, Python and Japanese, and on a sentence each of fifteen other languages.
Invariant: a count depends on the text alone; a text of at least one character has at least one token. Pure.
Source: CHUNK 1.2, 1.5, 14.1, 14.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memoir_engine.results.cuts import ComparedCount, TokenComparison, TokenMethod

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
    """Counts tokens in one way."""

    @property
    def method(self) -> TokenMethod: ...

    def counts(self, texts: Sequence[str]) -> Ints:
        """(n,) tokens of each text."""
        ...

    def parts(self, text: str, maximum: int) -> list[tuple[int, int, int]]:
        """The text divided at ends of sentences where there are any: (start, end, tokens ≤ maximum), contiguous."""
        ...


def approximated(texts: Sequence[str]) -> Ints:
    """(n,) tokens of each text, estimated."""
    found = np.zeros(len(texts), dtype=np.int64)
    first, size = 0, 0
    for index, text in enumerate(texts):
        size += len(text)
        if size >= _BLOCK or index == len(texts) - 1:
            found[first : index + 1] = _together(texts[first : index + 1])
            first, size = index + 1, 0
    return found


def shares(text: str) -> NDArray[np.float64]:
    """(n_characters,) of tokens."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ascii_ = _ASCII[np.minimum(points, 127)]
    if text.isascii():
        return ascii_
    return np.where(points < 128, ascii_, _SHARES[np.minimum(np.searchsorted(_LIMITS, points), len(_SHARES) - 1)])


def compared(estimated: Sequence[int], actual: Sequence[int], *, method: TokenMethod, actual_by: str) -> TokenComparison:
    """Both in the order of the texts; texts without an actual token count as right when none was estimated."""
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
    sums = np.concatenate(([0.0], np.cumsum(shares("".join(texts)))))
    weights = np.diff(np.concatenate(([0.0], sums[ends])))
    filled = np.diff(np.concatenate(([0], ends))) > 0
    return np.maximum(np.rint(np.round(weights, 6)), filled).astype(np.int64)  # rounded: sums differ by what stands before


def _error(estimated: int, actual: int) -> float:
    if actual == 0:
        return 0.0 if estimated == 0 else 100.0
    return 100.0 * (estimated - actual) / actual
