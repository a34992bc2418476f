"""OpenAI's two current encodings, from the files that come with litellm: counts, token ends, safe places to cut.

tiktoken splits a text by a pattern, then merges bytes inside each match. Reading the two patterns gives places where
a text falls into two matches whatever stands around them, and from there on both sides are tokenised as they are
together. Inside a match a token end is such a place too, because every token of both vocabularies is what its own bytes
merge to (checked over all 300,254; a test samples it) and a final token end is one no merge ever crossed.
Invariants: nothing is downloaded; special tokens in a text are plain text; ends(text) is the same for any number of
threads; where `splits` says True, counts of both sides add up to the count of the whole.
Source: verified/performance.md §A, verified/llm.md §3; the patterns in tiktoken_ext/openai_public.py.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import tiktoken

NAMES = ("o200k_base", "cl100k_base")
_BLOCK = 600_000  # characters tokenised in one call: large enough to leave the GIL alone, small enough to share

# A blank behind ink; a line behind a line break; punctuation behind a letter. Of the last only marks that neither
# pattern takes for the apostrophe of a contraction.
_SEAM = re.compile(r"\S(?= )|\n(?=[^\s/])|[^\W\d_](?=[、。，．])")
_INDENT = re.compile(r"[^\S\r\n]+(?=\S)")
_BLANKS = re.compile(r"(?<!\s)\s{100000,}+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_INSIDE = np.uint16(1 << 15)
_BETWEEN = "<|endoftext|>"
_LOADING = threading.Lock()


class Encoding:
    """One of NAMES. Safe to share between threads."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._coder = _load(name)
        self._table = _table(self._coder)

    def count(self, text: str) -> int:
        return len(self._ids(text))

    def counts(self, texts: Sequence[str], *, threads: int = 1) -> NDArray[np.int64]:
        """(n,) tokens of each text, alone. Many are tokenised at once: a special token between two of them parts them as
        surely as an end."""
        groups = _groups(texts)
        if threads > 1 and len(groups) > 1:
            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(lambda group: self._group(texts[group[0] : group[1]]), groups))
        else:
            found = [self._group(texts[first:stop]) for first, stop in groups]
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def ends(self, text: str, *, threads: int = 1) -> NDArray[np.int64]:
        """The offset behind each token; one that ends inside a character has the offset of the next that does not."""
        blocks = _blocks(text)
        starts = [0, *(stop for _, stop in blocks)]
        if threads > 1 and len(blocks) > 1:
            with ThreadPoolExecutor(threads) as pool:
                parts = list(pool.map(lambda block: self._block(text, *block), blocks))
        else:
            parts = [self._block(text, *block) for block in blocks]
        for part, start in zip(parts, starts, strict=False):
            part += start
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def splits(self, text: str, at: int) -> bool:
        """Return True if cutting at `at`, the end of a token, surely leaves the tokens of both sides as they are.

        False says only that it was not proved. What is proved: ink before a blank, a line break before ink or an
        indented line, a Japanese full stop before kana or kanji, a letter before a Japanese comma or full stop.
        """
        if not 0 < at < len(text):
            return True
        before, after = text[at - 1], text[at]
        if before in "\r\n":
            return _INDENT.match(text, at) is not None if after in " \t\u3000" else not (after.isspace() or after == "/")
        if after in " \t\u3000":
            return not before.isspace()
        if before in "。！？":
            return "\u3041" <= after <= "\u9fff" and after.isalpha()
        return before.isalpha() and after in "、。，．"

    def _group(self, texts: Sequence[str]) -> NDArray[np.int64]:
        joined = _BETWEEN.join(texts)
        if joined.count(_BETWEEN) == len(texts) - 1:
            try:
                ids = self._coder.encode_to_numpy(joined, allowed_special={_BETWEEN}, disallowed_special=())
            except (UnicodeEncodeError, ValueError):
                pass
            else:
                seams = np.flatnonzero(ids == self._coder.eot_token)
                return np.diff(np.concatenate(([-1], seams, [len(ids)]))) - 1
        return np.array([self.count(text) for text in texts], dtype=np.int64)

    def _block(self, text: str, start: int, stop: int) -> NDArray[np.int64]:
        tokens = self._table[self._ids(text[start:stop])]
        inside = tokens >= _INSIDE
        if not inside.any():
            return np.cumsum(tokens, dtype=np.int64)
        ends = np.cumsum(tokens & ~_INSIDE, dtype=np.int64)
        ends[np.flatnonzero(inside[1:])] = np.iinfo(np.int64).max  # the next token begins inside a character
        return np.minimum.accumulate(ends[::-1])[::-1]

    def _ids(self, text: str) -> NDArray[np.uint32]:
        try:
            return self._coder.encode_to_numpy(text, disallowed_special=())
        except UnicodeEncodeError:  # a lone surrogate: one character for one, so that offsets hold
            return self._ids(_SURROGATE.sub("\ufffd", text))
        except ValueError:  # the pattern's stack, at some 700,000 blanks in a row; no model takes such a text anyway
            middle = _middle_of_blanks(text)
            return np.concatenate((self._ids(text[:middle]), self._ids(text[middle:])))


@lru_cache(maxsize=len(NAMES))
def _shared(name: str) -> Encoding:
    return Encoding(name)


def encoding(name: str) -> Encoding:
    """The one Encoding of that name in this process (0.2–0.5 s the first time)."""
    with _LOADING:
        return _shared(name)


def _load(name: str) -> tiktoken.Encoding:
    """tiktoken's encoding from litellm's folder, found without importing litellm, which takes seconds."""
    import tiktoken

    litellm = find_spec("litellm")
    assert litellm is not None and litellm.origin is not None  # a dependency of this package
    # tiktoken reads the folder from the environment alone and else downloads; litellm sets the very same value.
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers")
    return tiktoken.get_encoding(name)


def _table(coder: Any) -> NDArray[np.uint16]:
    """For each token: how many characters begin in it (128 blanks at most), plus _INSIDE where it begins inside one."""
    values = [_bytes_of(coder, token) for token in range(coder.n_vocab)]
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    offsets = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    begins = (np.frombuffer(b"".join(values), np.uint8) & 0xC0) != 0x80
    chars = np.add.reduceat(begins, offsets, dtype=np.int64)
    return np.where(begins[offsets], chars, chars + _INSIDE).astype(np.uint16)


def _bytes_of(coder: Any, token: int) -> bytes:
    try:
        return bytes(coder.decode_single_token_bytes(token))
    except KeyError:  # numbers between the vocabulary and its special tokens stand for nothing
        return b"?"


def _groups(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Contiguous (first, stop) of texts that make about a block together."""
    found, first, size = [], 0, 0
    for index, text in enumerate(texts):
        size += len(text)
        if size >= _BLOCK or index == len(texts) - 1:
            found.append((first, index + 1))
            first, size = index + 1, 0
    return found


def _blocks(text: str) -> list[tuple[int, int]]:
    """Contiguous (start, stop), cut only where both sides are tokenised as they are together."""
    cuts = [0]
    while len(text) - cuts[-1] > _BLOCK:
        seam = _SEAM.search(text, cuts[-1] + _BLOCK)
        if seam is None:
            break
        cuts.append(seam.end())
    return [(a, b) for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True) if b > a]


def _middle_of_blanks(text: str) -> int:
    """Nowhere near a chunk whose ends are not both blanks, so that every chunk with this seam in it is counted anew."""
    runs = (run.span() for run in _BLANKS.finditer(text))
    start, stop = max(runs, key=lambda run: run[1] - run[0])
    return (start + stop) // 2
