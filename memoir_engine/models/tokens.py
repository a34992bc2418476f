"""How many tokens a text has for a model, by which method, and how many the model takes.

OpenAI's models are counted with their own encodings, exactly. For Claude 3 and later and for Gemini no tokeniser is published
that could be asked here: theirs are counted with o200k_base times a measured factor. Others are counted by litellm's
`token_counter`, with the download of tokenisers switched off, and labelled estimated. litellm takes seconds to import, so it is
not asked where its answer is known: a test holds the direct counts equal to its own.
Invariants: nothing is fetched; the same text has the same count at any time; counts are kept by a digest of the text, never the
text. The method, and how far off it may be, comes with the counter; a window that the list does not know is labelled assumed.
Source: MEMOIR 2.3; CHUNK 1.2–1.5, 2.3, 14.4; verified/llm.md §3; docs/cutting.md says where the factors are from.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoir_engine.core.errors import InvalidSetting
from memoir_engine.core.results.conversations import TokenMethod, TokenMethodName
from memoir_engine.models.encodings import NAMES, Encoding, encoding
from memoir_engine.models.price_list import quiet_litellm
from memoir_engine.text.chunks import TokenCounts, cut
from memoir_engine.text.cut_strategies import APPROXIMATE, Counter, Ints, approximate_counts, token_shares

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
        return approximate_counts(texts)

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
        passed = np.floor(np.round(np.cumsum(token_shares(text)), 6)).astype(np.int64)
        ends = np.flatnonzero(np.diff(passed, prepend=0) > 0) + 1
        return ends if len(ends) and ends[-1] == len(text) else np.append(ends, len(text))

    def count(self, text: str) -> int:
        return int(approximate_counts([text])[0])

    def splits(self, text: str, at: int) -> bool:
        return False


def _parts(text: str, tokens: TokenCounts, counter: Counter, maximum: int) -> list[tuple[int, int, int]]:
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


ASSUMED_TOKENS = 8_192
OFFLINE_TOKENS = 8_192  # it would read any length; so much is what a person can still look through in one prompt
_LIST = "model_prices_and_context_window_backup.json"
_PREFIXES = ("", "gemini/", "anthropic/", "xai/", "ollama/", "azure/", "openai/")


class Window(NamedTuple):
    """tokens: of prompt that the model takes. known: False where they are assumed."""

    tokens: int
    known: bool


@lru_cache(maxsize=256)
def window_of(model: str) -> Window:
    """Return the context window of a model, named with or without its provider."""
    if model == OFFLINE:
        return Window(OFFLINE_TOKENS, True)
    bare = name_of(model).bare
    for name in dict.fromkeys((model.replace(":", "/", 1), *(f"{prefix}{bare}" for prefix in _PREFIXES))):
        tokens = _tokens(_listed().get(name))
        if tokens:
            return Window(tokens, True)
    return Window(ASSUMED_TOKENS, False)


@cache
def _listed() -> dict[str, Any]:
    litellm = find_spec("litellm")
    if litellm is None or litellm.origin is None:
        return {}
    try:
        found = json.loads((Path(litellm.origin).parent / _LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _tokens(about: Any) -> int:
    found = about.get("max_input_tokens") if isinstance(about, dict) else None
    return int(found) if isinstance(found, int | float) and not isinstance(found, bool) and found > 0 else 0


OFFLINE = "offline"
_OWN = ("openai", "openai-chat", "openai-responses", "azure")
_PROVIDERS = (*_OWN, "anthropic", "google", "google-gla", "google-vertex", "gemini", "xai", "ollama", "lmstudio", "litellm")
_PREFIX = re.compile(rf"({'|'.join(_PROVIDERS)})[:/](?=.)")
_KEPT = 50_000  # counts; about 8 MB
# Long enough, and in enough scripts, that two tokenisers do not agree on it by chance.
_PROBE = (
    "Counting 1234567 tokens: naïve café, 東京の天気は晴れです。 Привет, мир! def f(x): return x**2  # 🙂 اختبار\n\n\tend" * 3
)


class Name(NamedTuple):
    """A model's name without its provider, and whether it is OpenAI's own server that is meant."""

    bare: str
    own: bool


def name_of(model: str) -> Name:
    prefix = _PREFIX.match(model)
    if prefix is None:
        return Name(model, True)
    return Name(model[prefix.end() :], prefix[1] in _OWN)


@lru_cache(maxsize=256)
def is_exact(model: str) -> bool:
    """True if counts are the model's own. The offline model has no other count than the one used here."""
    return model == OFFLINE or own_encoding(model) is not None


def count_tokens(text: str, model: str = "gpt-4o-mini") -> int:
    """Tokens of a text for a model, named with or without its provider; estimated where `is_exact` says no."""
    return counter(model).count(text)


class TokenCounter:
    """The tokeniser of one model, as text.chunks needs it; loaded at the first count. Safe to share between threads.

    `threads` of them tokenise a long text.
    """

    def __init__(self, model: str, *, threads: int = 2) -> None:
        self.model = model
        self.threads = threads
        self._bare = name_of(model).bare
        self._counts = _Counts()

    @property
    def exact(self) -> bool:
        return is_exact(self.model)

    def count(self, text: str) -> int:
        return self._counts.get(text, self._count)

    def ends(self, text: str) -> NDArray[np.int64]:
        """The offset behind each token; approximate where litellm counts by an encoding not known here."""
        return (self._encoding or encoding(NAMES[1])).ends(text, threads=self.threads)

    def splits(self, text: str, at: int) -> bool:
        """Return True if cutting at `at`, the end of a token, surely keeps the tokens of both sides; False where `ends`
        is approximate, so that every chunk is counted anew."""
        return self._encoding is not None and self._encoding.splits(text, at)

    @cached_property
    def _encoding(self) -> Encoding | None:
        """None where litellm counts by something else than the encodings known here."""
        own = NAMES[0] if self.model == OFFLINE else own_encoding(self.model)
        return encoding(own) if own else _litellm_encoding(self._bare)

    def _count(self, text: str) -> int:
        return self._encoding.count(text) if self._encoding is not None else _litellm_count(text, self._bare)


@lru_cache(maxsize=64)
def counter(model: str, threads: int = 2) -> TokenCounter:
    """The one counter of a model."""
    return TokenCounter(model, threads=threads)


class _Counts:
    """Counts by digest of the text; the least recently used go first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str, count: Callable[[str], int]) -> int:
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        tokens = count(text)
        with self._lock:
            self._kept[key] = tokens
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return tokens


def own_encoding(model: str) -> str | None:
    """The encoding of an OpenAI model, if it is one of the two that come with us."""
    import tiktoken

    bare, own = name_of(model)
    try:
        name = tiktoken.encoding_name_for_model(bare).replace("o200k_harmony", "o200k_base")  # differ in special tokens
    except KeyError:
        return None
    return name if own and name in NAMES else None


def _litellm_encoding(bare: str) -> Encoding | None:
    """The encoding that litellm counts this model by, found by comparing counts."""
    expected = _litellm_count(_PROBE, bare)
    return next((e for e in map(encoding, NAMES) if e.count(_PROBE) == expected), None)


def _litellm_count(text: str, bare: str) -> int:
    return int(quiet_litellm().token_counter(model=bare, text=text))
