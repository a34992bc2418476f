"""Tokenisers for statistics, search and ranking, and scores by key as two arrays.

`tokens` and `terms` serve statistics: stems, with the surface form a reader knows; function words and numbers out. A short text
has little else ("what is up"), so its `terms` hold them too: requests were filed right .75 instead of .67 (docs/decisions/0046).
`search_tokens` adds numbers: a year or a room number names no subject, but a question may ask for nothing else.
`rank_tokens` drops grammar words only (articles, pronouns, auxiliaries, prepositions, question words): a question may turn on
"first" or "made", and BM25 discounts frequent words by itself.
Invariant: the same text gives the same terms everywhere: NFKC, case-folded, Latin words stemmed, CJK as single characters and
pairs; both other token lists contain `tokens`. The keys of a `ScoreMap` rise strictly; it equals a dict.
Pure: word lists stand beside it in words.toml, read once.
Source: verified/offline-model.md §2.5 (uni- and bigrams: R@1 .89 on Japanese against .23 for words), spec/README 17; rank tokens
measured against both lists, and none at all (docs/decisions/0016).
"""

from __future__ import annotations

import re
import sys
import threading
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import Stemmer
from numpy.typing import NDArray

TOKENIZER = "terms/1"  # another id means that what was counted or indexed must be again


@cache
def _word_lists() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def word_list(name: str) -> list[str]:
    """Return a list of words.toml; phrases are parted by bars there."""
    listed = _word_lists()[name]
    return [phrase.strip() for phrase in listed.split("|")] if "|" in listed else listed.split()


STOP = frozenset(word_list("stop"))
_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0002fa1f"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_IS_CJK = re.compile(rf"[{_CJK}]")
_PLAIN_WORD, _ASCII_WORD = re.compile(r"[^\W_]+"), re.compile(r"[a-z0-9]+")  # the same of texts without signs, in half the time
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+")
_LONGEST_WORD = 40  # longer ones are keys, hashes and lines of signs
_REMEMBERED = 200_000  # words whose stem is kept


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Terms:
    """Count of each stem, and its commonest surface form (ties: the shorter, then the earlier in the alphabet).

    forms: in the order of `counts`; a second dict would double what the words of a memory take.
    Compared by identity, so that derived values can be cached as long as it lives.
    """

    counts: dict[str, int]
    forms: tuple[str, ...]

    @property
    def surfaces(self) -> dict[str, str]:
        """Return the surface form of each stem, made anew."""
        return dict(zip(self.counts, self.forms, strict=True))


def tokens(text: str) -> list[str]:
    """Return stems in the order of the text, one entry per occurrence."""
    stems: list[str] = []
    for word in words(text):
        stems.extend(_stems_of(word))
    return stems


def terms(text: str) -> Terms:
    """Count the stems of a text; those of function words too where fewer than `FEW_CONTENT` other words stand.

    Hiragana alone are endings and particles, and left out where there is anything else.
    """
    counts: dict[str, int] = {}
    surfaces: dict[str, str] = {}
    often = Counter(words(text))
    is_short = len(often) < SHORT and sum(bool(_stems_of(word)) for word in often) < FEW_CONTENT
    stems_of = _every_stem_of if is_short else _stems_of
    has_signs = False
    for word, count in often.items():
        is_signs = not word[0].isascii() and is_cjk(word)
        has_signs = has_signs or is_signs
        for stem in stems_of(word):
            if stem not in counts:
                counts[stem], surfaces[stem] = count, stem if is_signs else word
                continue
            counts[stem] += count
            best = surfaces[stem]
            if not is_signs and (-count, len(word), word) < (-often[best], len(best), best):
                surfaces[stem] = word
    if has_signs:
        telling = {stem: count for stem, count in counts.items() if not _HIRAGANA.fullmatch(stem)}
        counts = telling or counts
    return Terms(counts, tuple(sys.intern(surfaces[stem]) for stem in counts))  # one string each, however many texts have it


def stem(word: str) -> str:
    """Return the stem of one word, "" for a function word, a number or anything else without a subject."""
    known = _stems_of(unicodedata.normalize("NFKC", word).casefold())
    return known[0] if known else ""


def is_cjk(text: str) -> bool:
    return bool(_IS_CJK.search(text))


def words(text: str) -> list[str]:
    """Return runs of letters, digits or CJK signs in the order of the text, case-folded."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    plain = unicodedata.normalize("NFKC", text).casefold()
    return (_WORD if is_cjk(plain) else _PLAIN_WORD).findall(plain)


class Stems(dict[str, tuple[str, ...]]):
    """Cache from word to its stems; the C stemmer is not thread-safe, so misses take turns.

    stop: words without a stem. numbers: whether a number is a word.
    """

    def __init__(self, stop: frozenset[str], *, numbers: bool = False) -> None:
        super().__init__()
        self._stop, self._numbers = stop, numbers
        self._lock = threading.Lock()
        self._stemmer = Stemmer.Stemmer("english", 0)

    def __missing__(self, word: str) -> tuple[str, ...]:
        with self._lock:
            stems = self._find(word)
            if len(self) < _REMEMBERED:
                self[word] = stems
        return stems

    def _find(self, word: str) -> tuple[str, ...]:
        if _IS_CJK.match(word):
            return (*word, *(word[at : at + 2] for at in range(len(word) - 1)))
        if word.isdigit():
            return (word,) if self._numbers and len(word) <= _LONGEST_WORD else ()
        if len(word) < 2 or len(word) > _LONGEST_WORD or word in self._stop:
            return ()
        return (self._stemmer.stemWord(word),)


_KNOWN = Stems(STOP)
_stems_of = _KNOWN.__getitem__

FEW_CONTENT = 6  # words with a subject
SHORT = 40  # words of any kind
COUNTS = f"{TOKENIZER}+short/1"  # of what `terms` counts

_KNOWN_WORDS = Stems(frozenset())
_every_stem_of = _KNOWN_WORDS.__getitem__


SEARCH_TOKENIZER = f"{TOKENIZER}+numbers/1"

_NUMBER = re.compile(r"\d+")


def search_tokens(text: str) -> list[str]:
    return tokens(text) + _NUMBER.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))


PASSAGE_TOKENIZER = "ranked/1"

GRAMMAR = frozenset(word_list("grammar"))

_KNOWN_RANK_WORDS = Stems(GRAMMAR, numbers=True)
_rank_stems_of = _KNOWN_RANK_WORDS.__getitem__


def rank_tokens(text: str) -> list[str]:
    """Return stems in the order of the text, one entry per occurrence."""
    stems: list[str] = []
    for word in words(text):
        stems.extend(_rank_stems_of(word))
    return stems


class ScoreMap(Mapping[int, float]):
    """Mapping of two arrays. keys: (n,) rising; scores: (n,)."""

    def __init__(self, keys: NDArray[np.int64], scores: NDArray[np.floating]) -> None:
        self.keys_held = keys
        self.scores = scores.astype(float)

    @classmethod
    def of(cls, scores: Mapping[int, float]) -> ScoreMap:
        if isinstance(scores, cls):
            return scores
        ordered = sorted(scores.items())
        return cls(np.array([key for key, _ in ordered], np.int64), np.array([score for _, score in ordered], float))

    def highest(self, most: int, *, but: set[int]) -> list[int]:
        """Return the keys of the highest scores, ties to the lower key, without those of `but`."""
        is_left = ~np.isin(self.keys_held, np.fromiter(but, np.int64, len(but)))
        keys, scores = self.keys_held[is_left], self.scores[is_left]
        if 0 < most < len(keys):
            near = np.flatnonzero(scores >= np.partition(scores, -most)[-most])
            keys, scores = keys[near], scores[near]
        return [int(keys[at]) for at in np.lexsort((keys, -scores))[:most]]

    def among(self, keys: Sequence[int]) -> dict[int, float]:
        """Return the scores of those of the keys that have one."""
        asked_keys = np.array(keys, np.int64)
        places = np.minimum(np.searchsorted(self.keys_held, asked_keys), max(len(self.keys_held) - 1, 0))
        there = self.keys_held[places] == asked_keys if len(self.keys_held) else np.zeros(len(asked_keys), bool)
        return dict(zip(asked_keys[there].tolist(), self.scores[places[there]].tolist(), strict=True))

    def __getitem__(self, key: int) -> float:
        at = int(np.searchsorted(self.keys_held, key))
        if at == len(self.keys_held) or self.keys_held[at] != key:
            raise KeyError(key)
        return float(self.scores[at])

    def __iter__(self) -> Iterator[int]:
        return iter(self.keys_held.tolist())

    def __len__(self) -> int:
        return len(self.keys_held)
