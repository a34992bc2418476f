"""Documents as rows of term numbers, from which segments are built and merged.

Invariant: document i is `tokens[offsets[i]:offsets[i+1]]`; `numbers` counts from 0 in its own order, and each of its terms
occurs in some document. A whole is the text that several documents were cut from.
The order of tokens inside a document carries no meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Tokenise = Callable[[str], list[str]]
Keys = NDArray[np.int64]
Numbers = NDArray[np.int32]
Mask = NDArray[np.bool_]
NO_WHOLES: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Documents:
    keys: Keys  # (n,)
    tokens: Numbers  # (sum of lengths,)
    offsets: Keys  # (n + 1,)
    numbers: Mapping[str, int]  # term → its number
    wholes: Keys  # (n,) of what each is a part, by its number; 0: of nothing

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def lengths(self) -> Keys:  # (n,)
        return np.diff(self.offsets)

    @property
    def mean_length(self) -> float:
        return len(self.tokens) / len(self.keys) if len(self.keys) else 0.0

    def rows_of(self, keys: Iterable[int]) -> Keys:
        """Return the rows (m,), rising, of those keys that are here."""
        wanted = np.unique(np.fromiter(keys, np.int64))
        held, rows = self._order
        if not len(held) or not len(wanted):
            return np.zeros(0, np.int64)
        at = np.searchsorted(held, wanted).clip(max=len(held) - 1)
        return np.sort(rows[at[held[at] == wanted]])

    @cached_property
    def _order(self) -> tuple[Keys, Keys]:
        """The keys, rising, and the row of each."""
        rows = np.argsort(self.keys, kind="stable")  # nearly free where they rise already, as ids mostly do
        return self.keys[rows], rows

    def rows(self) -> list[list[int]]:
        return [row.tolist() for row in np.split(self.tokens, self.offsets[1:-1])] if len(self) else []

    def only(self, wanted: Mask) -> Documents:
        """Keep the documents of a mask (n,), and only their terms, so that nothing of a removed text is left."""
        if wanted.all():
            return self
        kept = self.tokens[np.repeat(wanted, self.lengths)]
        used, tokens = np.unique(kept, return_inverse=True)
        offsets = np.concatenate(([0], np.cumsum(self.lengths[wanted])))
        terms = list(self.numbers)
        numbers = {terms[term]: at for at, term in enumerate(used)}
        return Documents(self.keys[wanted], tokens.astype(np.int32), offsets, numbers, self.wholes[wanted])


def read(texts: Iterable[tuple[int, str]], tokenise: Tokenise, wholes: Mapping[int, int] = NO_WHOLES) -> Documents:
    """Tokenise (key, text) pairs, dropping each text once it is read. wholes: key → number of its whole, if any."""
    numbers: dict[str, int] = {}
    keys: list[int] = []
    tokens: list[int] = []
    offsets = [0]
    for key, text in texts:
        keys.append(key)
        tokens.extend(numbers.setdefault(term, len(numbers)) for term in tokenise(text))
        offsets.append(len(tokens))
    parts = np.array([wholes.get(key, 0) for key in keys], np.int64)
    return Documents(np.array(keys, np.int64), np.array(tokens, np.int32), np.array(offsets, np.int64), numbers, parts)


def join(parts: Sequence[Documents]) -> Documents:
    """Concatenate documents; keys must not repeat. Terms of the first part keep their numbers."""
    if len(parts) == 1:
        return parts[0]
    numbers = dict(parts[0].numbers)
    tokens = [parts[0].tokens, *(_renumbered(part, numbers) for part in parts[1:])]
    starts = np.cumsum([0, *(len(part.tokens) for part in parts)])
    offsets = [part.offsets[1:] + start for part, start in zip(parts, starts, strict=False)]
    return Documents(
        np.concatenate([part.keys for part in parts]),
        np.concatenate(tokens),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        numbers,
        np.concatenate([part.wholes for part in parts]),
    )


def _renumbered(part: Documents, numbers: dict[str, int]) -> Numbers:
    into = np.array([numbers.setdefault(term, len(numbers)) for term in part.numbers], np.int32)
    return into[part.tokens] if len(part.tokens) else part.tokens
