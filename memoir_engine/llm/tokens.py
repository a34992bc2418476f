"""How many tokens a text has for a model.

OpenAI's models are counted with their own encodings, exactly. Others are counted by litellm's `token_counter`, with
the download of tokenisers switched off, and labelled estimated. litellm takes seconds to import, so it is not asked
where its answer is known: a test holds the direct counts equal to its own.
Invariants: nothing is fetched; the same text has the same count at any time; counts are kept by a digest of the
text, never the text.
Source: MEMOIR 2.3; verified/llm.md §3.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoir_engine.llm.encodings import NAMES, Encoding, encoding
from memoir_engine.llm.quiet import quiet_litellm

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
    """Whether counts are the model's own. The offline model has no other count than the one used here."""
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
        """Whether, a token ending at `at`, both sides alone surely have the same tokens as together. False where `ends`
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
