"""Vectors of texts without a model: words and pieces of words, hashed into a fixed number of directions.

Nearness of two of them is shared vocabulary, forgiving of spelling and inflection; it knows no meaning. Words are stems as
everywhere here; pieces are runs of three to five letters with the word's borders: a misspelt word still meets the right one.
Invariant: every vector has unit length and depends on nothing but its text; a text without any word gets a direction of its
own, which no word has. Pure; the same in every process and, up to rounding, on every machine: hashes are CRC-32.
Source: measured as one side of `search.fusion` over LoCoMo and Cranfield; shares of pieces from .3 to .8 differ by chance
only, and weights by the length of words gained nothing. Feature hashing with signs (Weinberger et al. 2009); pieces of
words (Bojanowski et al. 2017).
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

from memoir_engine.text.sought import SEARCH_TOKENIZER, sought
from memoir_engine.text.terms import STOP, is_cjk

DIM = 384
HASHED_ID = f"offline-hash-1-{DIM}"
HASHED_FROM = SEARCH_TOKENIZER  # another tokeniser needs another HASHED_ID: a test holds them together

PIECES = (3, 4, 5)  # letters of a piece
PIECES_SHARE = 0.8  # of a word's weight that lies in all its pieces together
_NOTHING = DIM - 1  # the direction of texts without a word
_WORD = re.compile(r"[^\W\d_]{3,40}")

Features = tuple[tuple[int, float], ...]  # (direction, signed weight)


def hashed(texts: Sequence[str]) -> NDArray[np.float32]:
    """(n, 384), rows of unit length."""
    rows = np.zeros((len(texts), DIM), dtype=np.float64)
    for row, text in zip(rows, texts, strict=True):
        _add(row, text)
    return rows.astype(np.float32)


def _add(row: NDArray[np.float64], text: str) -> None:
    for features, weight in _weighed(text):
        for direction, value in features:
            row[direction] += weight * value
    length = math.sqrt(float(np.square(row).sum()))
    if length < 1e-9:
        row[:] = 0.0
        row[_NOTHING] = 1.0
    else:
        row /= length


def _weighed(text: str) -> list[tuple[Features, float]]:
    """Every distinct word once, heavier the oftener it occurs, but ever less so."""
    words = Counter(sought(text))
    plain = unicodedata.normalize("NFKC", text).casefold()
    forms = Counter(word for word in _WORD.findall(plain) if word not in STOP and not is_cjk(word))
    found = [(_word(word), 1 + math.log(count)) for word, count in sorted(words.items())]
    return found + [(_pieces(word), PIECES_SHARE * (1 + math.log(count))) for word, count in sorted(forms.items())]


@lru_cache(maxsize=50_000)
def _word(word: str) -> Features:
    return (_direction("w", word),)


@lru_cache(maxsize=50_000)
def _pieces(word: str) -> Features:
    """All pieces of a word, of unit length together."""
    bordered = f"<{word}>"
    pieces = [bordered[at : at + size] for size in PIECES for at in range(len(bordered) - size + 1)]
    share = 1 / math.sqrt(len(pieces))
    return tuple((direction, sign * share) for direction, sign in (_direction("p", piece) for piece in pieces))


def _direction(kind: str, feature: str) -> tuple[int, float]:
    code = crc32(f"{kind}\x00{feature}".encode("utf-8", "surrogatepass"))
    return (code >> 1) % _NOTHING, 1.0 if code & 1 else -1.0
