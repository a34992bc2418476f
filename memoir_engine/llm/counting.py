"""The four ways of counting tokens, and which one is for which model.

OpenAI's models are counted with their own encodings. Of Claude 3 and later, and of Gemini, no tokeniser is published that could
be asked here: theirs are counted with o200k_base times what measurements by others make of the difference.
Invariant: which method was used, by what, and how far off it may be, comes with the counter; nothing is fetched.
Source: CHUNK 1.2–1.5, 14.4; docs/cutting.md says where the factors are from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoir_engine.errors import InvalidSetting
from memoir_engine.llm.encodings import NAMES, encoding
from memoir_engine.llm.tokens import OFFLINE, name_of, own_encoding
from memoir_engine.results.cuts import TokenMethod, TokenMethodName
from memoir_engine.text.chunks import Tokens, cut
from memoir_engine.text.counting import APPROXIMATE, Counter, Ints, approximated, shares

CHOICES = ("auto", "openai", "anthropic", "gemini", "approximate")

_CLAUDE_FACTOR = 1.2  # published comparisons of Claude 3.5 with o200k: 1.16 on English, 1.21 on mathematics, 1.30 on Python
_GEMINI_FACTOR = 1.0  # a vocabulary of like size (256,000 against 200,000)


def method_for(model: str) -> TokenMethodName:
    """The method that `auto` is for a model, named with or without its provider."""
    if model == OFFLINE or own_encoding(model):
        return "openai"
    bare = name_of(model).bare.rsplit("/", 1)[-1].lower()
    if bare.startswith("claude") or model.startswith("anthropic"):
        return "anthropic"
    if bare.startswith(("gemini", "gemma")):
        return "gemini"
    return "approximate"


def token_counter(model: str, method: str = "auto") -> Counter:
    """A counter for a model by a method; by characters where the tokeniser that it takes cannot be loaded.

    Raises InvalidSetting (E102) for an unknown method.
    """
    if method not in CHOICES:
        advice = f"Use one of: {', '.join(CHOICES)}."
        raise InvalidSetting(name="method", value=method, problem="no tokens are counted by it", advice=advice)
    name = method_for(model) if method == "auto" else method
    own = NAMES[0] if model == OFFLINE else own_encoding(model)
    return _counter(name, (own or NAMES[0]) if name == "openai" else NAMES[0], own is not None)


@dataclass(frozen=True)
class EncodingCounter:
    """Counts with one of OpenAI's encodings, times a factor."""

    method: TokenMethod
    name: str
    factor: float = 1.0
    threads: int = 2

    def counts(self, texts: Sequence[str]) -> Ints:
        found = encoding(self.name).counts(texts, threads=self.threads)
        return found if self.factor == 1.0 else np.rint(found * self.factor).astype(np.int64)

    def parts(self, text: str, maximum: int) -> list[tuple[int, int, int]]:
        return _parts(text, _Whole(self.name), self, max(1, int(maximum / self.factor)))


@dataclass(frozen=True)
class ApproximateCounter:
    """Counts by characters alone."""

    method: TokenMethod = APPROXIMATE

    def counts(self, texts: Sequence[str]) -> Ints:
        return approximated(texts)

    def parts(self, text: str, maximum: int) -> list[tuple[int, int, int]]:
        return _parts(text, _Guessed(), self, maximum)


@dataclass(frozen=True)
class _Whole:
    """An encoding as cutting a text needs it."""

    name: str

    def ends(self, text: str) -> NDArray[Any]:
        return encoding(self.name).ends(text, threads=2)

    def count(self, text: str) -> int:
        return encoding(self.name).count(text)

    def splits(self, text: str, at: int) -> bool:
        return encoding(self.name).splits(text, at)


@dataclass(frozen=True)
class _Guessed:
    """A tokeniser made of shares of characters: a token ends wherever the sum of shares passes a whole number."""

    def ends(self, text: str) -> NDArray[Any]:
        passed = np.floor(np.round(np.cumsum(shares(text)), 6)).astype(np.int64)
        ends = np.flatnonzero(np.diff(passed, prepend=0) > 0) + 1
        return ends if len(ends) and ends[-1] == len(text) else np.append(ends, len(text))

    def count(self, text: str) -> int:
        return int(approximated([text])[0])

    def splits(self, text: str, at: int) -> bool:
        return False


def _parts(text: str, tokens: Tokens, counter: Counter, maximum: int) -> list[tuple[int, int, int]]:
    pieces = cut(text, tokens, minimum=maximum // 2, maximum=maximum, delimiters=(".", "\n"))
    sizes = counter.counts([piece.text for piece in pieces]).tolist()
    return [(piece.start, piece.end, size) for piece, size in zip(pieces, sizes, strict=True)]


@lru_cache(maxsize=32)
def _counter(name: str, encoded: str, own: bool) -> Counter:
    if name == "approximate":
        return ApproximateCounter()
    try:
        encoding(encoded)
    except Exception:  # litellm's folder is not there, or is not readable: nothing may be fetched in its place
        note = f"The tokeniser {encoded} cannot be loaded here. {APPROXIMATE.note}"
        return ApproximateCounter(TokenMethod("approximate", APPROXIMATE.basis, False, APPROXIMATE.error_percent, note))
    factor = {"anthropic": _CLAUDE_FACTOR, "gemini": _GEMINI_FACTOR}.get(name, 1.0)
    return EncodingCounter(_method(name, encoded, own, factor), encoded, factor)


def _method(name: str, encoded: str, own: bool, factor: float) -> TokenMethod:
    if name == "openai" and own:
        return TokenMethod("openai", encoded, True, 0.0, "The model's own encoding: the very count of its provider.")
    if name == "openai":
        note = "The model is not OpenAI's, or not known: its own tokeniser counts otherwise."
        return TokenMethod("openai", encoded, False, 20.0, note)
    if name == "anthropic":
        note = "No tokeniser of Claude 3 and later is published; only Anthropic's own counting service is exact."
        return TokenMethod("anthropic", f"{encoded} × {factor:g}", False, 15.0, note)
    note = "No tokeniser of Gemini can be asked here; only Google's own counting service is exact."
    return TokenMethod("gemini", encoded, False, 15.0, note)
