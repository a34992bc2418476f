"""Vectors of texts without a model: words and word pieces, hashed into a fixed number of directions.

Their cosine measures shared vocabulary, forgiving of spelling and inflection, not meaning. Words are stems as statistics
see them; pieces are runs of three to five letters with the word's borders, so that a misspelt word still matches.
CJK is taken by twos and threes; pairs of hiragana alone are endings and particles, and are left out.
Invariant: every vector has unit length and depends on nothing but its text; a text without any word gets a direction of its
own, which no word has. Pure; the same in every process and, up to rounding, on every machine: hashes are CRC-32.
Source: measured as one side of `search.ranking` (docs/decisions/0016): 512 directions do as well as 1,024, 384 do not; shares of
pieces from .3 to .8 differ by chance only. Feature hashing with signs (Weinberger et al. 2009); pieces of words (Bojanowski et
al. 2017).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memoir_engine.text.terms import SEARCH_TOKENIZER, STOP, is_cjk, search_tokens, words

DIM = 512
HASHED_ID = f"offline-hash-2-{DIM}"
HASHED_FROM = SEARCH_TOKENIZER  # another tokeniser needs another HASHED_ID: a test holds them together

PIECES = (3, 4, 5)  # letters of a piece
PIECES_SHARE = 0.8  # of a word's weight that lies in all its pieces together
_NOTHING = DIM - 1  # the direction of texts without a word
_WORD = re.compile(r"[^\W\d_]{3,40}")

_HIRAGANA = re.compile(r"[\u3040-\u309f]+")

Features = tuple[NDArray[np.int32], NDArray[np.float64]]  # directions, and the signed share of each


def hash_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return (n, 512), rows of unit length."""
    rows = np.zeros((len(texts), DIM), dtype=np.float64)
    for row, text in zip(rows, texts, strict=True):
        _fill(row, text)
    return rows.astype(np.float32)


def _fill(row: NDArray[np.float64], text: str) -> None:
    found = _weighed(text)
    if found:
        directions = np.concatenate([features[0] for features, _ in found])
        shares = np.concatenate([features[1] for features, _ in found])
        weights = np.repeat([weight for _, weight in found], [len(features[0]) for features, _ in found])
        row[:] = np.bincount(directions, weights=shares * weights, minlength=DIM)
    length = math.sqrt(float(row @ row))
    if length < 1e-9:
        row[:] = 0.0
        row[_NOTHING] = 1.0
    else:
        row /= length


def _weighed(text: str) -> list[tuple[Features, float]]:
    """Return every distinct word once, its weight growing with the logarithm of its count."""
    stems, plain = Counter(search_tokens(text)), unicodedata.normalize("NFKC", text).casefold()
    forms = Counter(_WORD.findall(plain))
    for word in forms.keys() & STOP:
        del forms[word]
    if not text.isascii():
        stems, forms = _but_cjk(stems), _but_cjk(forms)
        stems.update(gram for run in words(text) if is_cjk(run) for gram in _grams(run))
    found = [(_word(word), 1 + math.log(count)) for word, count in sorted(stems.items())]
    return found + [(_pieces(word), PIECES_SHARE * (1 + math.log(count))) for word, count in sorted(forms.items())]


def _but_cjk(counts: Counter[str]) -> Counter[str]:
    return Counter({word: count for word, count in counts.items() if not is_cjk(word)})


def _grams(run: str) -> list[str]:
    """Return the grams of a run of CJK signs; the run itself if no gram is left."""
    twos = [pair for at in range(len(run) - 1) if not _HIRAGANA.fullmatch(pair := run[at : at + 2])]
    return [*twos, *(run[at : at + 3] for at in range(len(run) - 2))] or [run]


@lru_cache(maxsize=50_000)
def _word(word: str) -> Features:
    return _features([("w", word)])


@lru_cache(maxsize=50_000)
def _pieces(word: str) -> Features:
    """Return all pieces of a word, of unit length together."""
    bordered = f"<{word}>"
    return _features([("p", bordered[at : at + size]) for size in PIECES for at in range(len(bordered) - size + 1)])


def _features(named: Sequence[tuple[str, str]]) -> Features:
    share = 1 / math.sqrt(len(named))
    codes = [crc32(f"{kind}\x00{feature}".encode("utf-8", "surrogatepass")) for kind, feature in named]
    signs = np.array([share if code & 1 else -share for code in codes])
    return np.array([(code >> 1) % _NOTHING for code in codes], np.int32), signs
