"""Similarity of texts to categories, by their words alone.

Invariant: similarity is in [0, 1], rounded to 4 places so that the order of additions never shows; no texts, no options and no
common words give zeros. An `OptionIndex` never changes after it is made.
Half of it is the cosine to the centroid of an option's examples, half the cosine to its best examples (mean of three), TF-IDF
over the siblings only. Source: verified/offline-model.md §3 (level 1: .90 against .83 for centroids alone), §4.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoir_engine.text.names import fold
from memoir_engine.text.terms import Terms
from memoir_engine.text.terms import stem as stem_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

MAX_EXAMPLES = 2048  # per shelf: one wave's opinions stay near a millisecond at any size of the memory
MIN_EXAMPLES = 8  # per option, whatever their number
MOST_TERMS = 40  # that set an option apart
_CALM = 10  # rows a shelf is thought to hold more than it does: among few, every word looks common
_BEST = 3  # examples whose mean stands for the option: one alone is chance (level 1: .83 against .80)
_CLOSE = 0.30  # nearness at which two new names of one wave are worth a question


@dataclass(frozen=True, slots=True)
class TermVector:
    """Term ids ascending, their dampened counts, and the summed squares of words that have no id."""

    ids: Ints
    weights: Floats
    unknown: float = 0.0


_DAMPED = np.array([0.0, *(1 + math.log(count) for count in range(1, 1024))])


def term_vector(terms: Terms, ids: Mapping[str, int]) -> TermVector:
    size = len(terms.counts)
    at = np.fromiter((ids.get(stem, -1) for stem in terms.counts), np.intp, size)
    weights = _DAMPED[np.minimum(np.fromiter(terms.counts.values(), np.intp, size), 1023)]
    known = at >= 0
    unknown = float(np.square(weights[~known]).sum())
    at, weights = at[known], weights[known]
    order = at.argsort()
    return TermVector(at[order], weights[order], unknown)


def sample(count: int, most: int) -> list[int]:
    """Return at most `most` of `count` positions, evenly spread, the first among them."""
    return list(range(count)) if count <= most else [at * count // most for at in range(most)]


class OptionIndex:
    """Options of one parent, as an inverted index over their examples."""

    def __init__(self, examples: Sequence[Sequence[TermVector]]) -> None:
        """examples: per option, in a fixed order."""
        rows = [row for option in examples for row in option]
        self.options = len(examples)
        self.sizes = np.array([len(option) for option in examples], dtype=np.intp)
        self._labels = np.repeat(np.arange(self.options), self.sizes)
        self._rows = len(rows)
        ids = np.concatenate([row.ids for row in rows]) if rows else np.zeros(0, np.intp)
        weights = np.concatenate([row.weights for row in rows]) if rows else np.zeros(0)
        owner = np.repeat(np.arange(self._rows), [len(row.ids) for row in rows])
        self._terms, local = _compact(ids)
        self._index(local, weights, owner)
        self._ranked: dict[int, Ints] = {}

    def _index(self, local: Ints, weights: Floats, owner: Ints) -> None:
        frequency = np.bincount(local, minlength=len(self._terms))
        self._idf = np.log((self._rows + _CALM) / (frequency + 0.5))
        self._new = float(np.log((self._rows + _CALM) / 0.5))  # of a word no example has
        rare = weights * self._idf[local]
        norms = np.sqrt(np.bincount(owner, rare**2, minlength=self._rows))
        even = rare / np.where(norms > 0, norms, 1)[owner]
        order = np.argsort(local.astype(np.uint16) if len(self._terms) < 65_536 else local, kind="stable")
        self._owner, self._weights = owner[order], even[order]
        self._starts = np.concatenate(([0], np.cumsum(frequency)))
        self._sum_up(local[order])

    def _sum_up(self, term: Ints) -> None:
        """Sum per (term, option): entries of one term lie together, within it those of one option."""
        label = self._labels[self._owner]
        first = np.flatnonzero(np.concatenate(([True], (term[1:] != term[:-1]) | (label[1:] != label[:-1])))[: len(term)])
        sums = np.add.reduceat(self._weights, first) if len(first) else np.zeros(0)
        held = np.diff(np.append(first, len(term)))
        self._totals = np.bincount(term[first], sums, minlength=len(self._terms))
        by_label = np.argsort(label[first].astype(np.uint16), kind="stable")  # a few thousand options at most
        self._runs = (term[first][by_label], sums[by_label], held[by_label])
        self._run_starts = np.concatenate(([0], np.cumsum(np.bincount(label[first], minlength=self.options))))
        self._centroid_norms = np.sqrt(np.bincount(label[first], sums**2, minlength=self.options))

    def nearness(self, texts: Sequence[TermVector]) -> Floats:
        """Return (n_texts, n_options) in [0, 1]."""
        cosines = self._cosines(texts)
        return np.asarray(np.round(np.clip(0.5 * self._to_centroids(cosines) + 0.5 * self._to_best(cosines), 0, 1), 4))

    def to_centroids(self, texts: Sequence[TermVector]) -> Floats:
        """Return (n_texts, n_options) in [0, 1]: the cosine to the centroid alone."""
        return np.asarray(np.clip(self._to_centroids(self._cosines(texts)), 0, 1))

    def key_terms(self, option: int, most: int) -> list[int]:
        """Return the term ids that set the option apart from its siblings, best first."""
        if option not in self._ranked:
            self._ranked[option] = self._rank(option)
        return [int(self._terms[term]) for term in self._ranked[option][:most]]

    def _cosines(self, texts: Sequence[TermVector]) -> Floats:
        """Return (n_texts, n_rows)."""
        if not self._rows or not texts or not len(self._terms):
            return np.zeros((len(texts), self._rows))
        ids = np.concatenate([text.ids for text in texts])
        whose = np.repeat(np.arange(len(texts)), [len(text.ids) for text in texts])
        place = np.minimum(np.searchsorted(self._terms, ids), len(self._terms) - 1)
        known = self._terms[place] == ids
        weights = np.concatenate([text.weights for text in texts]) * np.where(known, self._idf[place], self._new)
        squares = np.bincount(whose, weights**2, minlength=len(texts))
        lengths = np.sqrt(squares + np.array([text.unknown for text in texts]) * self._new**2)
        even = (weights / np.where(lengths > 0, lengths, 1)[whose])[known]
        hits, term = _ranges(self._starts, place[known])
        cells = whose[known][term] * self._rows + self._owner[hits]
        found = np.bincount(cells, even[term] * self._weights[hits], minlength=len(texts) * self._rows)
        return np.asarray(found.reshape(len(texts), self._rows))

    def _to_centroids(self, cosines: Floats) -> Floats:
        sums = np.zeros((len(cosines), self.options))
        filled = np.flatnonzero(self.sizes)
        if len(filled) and len(cosines):
            sums[:, filled] = np.add.reduceat(cosines, np.concatenate(([0], np.cumsum(self.sizes)))[filled], axis=1)
        return np.asarray(sums / np.where(self._centroid_norms > 0, self._centroid_norms, 1))

    def _to_best(self, cosines: Floats) -> Floats:
        """Return the mean cosine of each option's best examples, fewer if it has fewer."""
        total, filled = np.zeros((len(cosines), self.options)), np.flatnonzero(self.sizes)
        starts = np.concatenate(([0], np.cumsum(self.sizes)))[filled]
        left = np.round(cosines, 9)
        for _ in range(_BEST if len(filled) and len(cosines) else 0):
            best = np.zeros_like(total)
            best[:, filled] = np.maximum(np.maximum.reduceat(left, starts, axis=1), 0)
            total += best
            left[left == best[:, self._labels]] = -1
        return np.asarray(total / np.clip(self.sizes, 1, _BEST))

    def _rank(self, option: int) -> Ints:
        mine = slice(self._run_starts[option], self._run_starts[option + 1])
        term, sums, held = (found[mine] for found in self._runs)
        size = int(self.sizes[option])
        mean = sums / max(size, 1)
        others = self._totals[term] - sums
        rest = others / max(self._rows - size, 1)
        score = mean * mean / (mean + rest + 1e-12)
        score = np.where(held >= min(2, 1 + size // 4), score, score * 0.25)  # a word of one example says little
        return np.asarray(term[np.lexsort((term, -np.round(score, 9)))][:MOST_TERMS])


def group_close_names(examples: Mapping[str, Sequence[Terms]]) -> tuple[tuple[str, ...], ...]:
    """Group new names that may be one category: similar texts, or all words of one in another; mostly none."""
    names = list(examples)
    if len(names) < 2:
        return ()
    ids = {stem: at for at, stem in enumerate(sorted({s for found in examples.values() for t in found for s in t.counts}))}
    vectors = [[term_vector(found, ids) for found in examples[name]] for name in names]
    shelf = OptionIndex(vectors)
    near = np.array([shelf.nearness(found).max(axis=0) if found else np.zeros(len(names)) for found in vectors])
    words = [_words(name) for name in names]
    within = np.array([[bool(one) and one <= other for other in words] for one in words], dtype=bool).reshape(near.shape)
    group = list(range(len(names)))
    for one, other in np.argwhere((near >= _CLOSE) | within).tolist():
        low, high = sorted((group[one], group[other]))
        group = [low if at == high else at for at in group]
    together = [tuple(name for name, at in zip(names, group, strict=True) if at == leader) for leader in sorted(set(group))]
    return tuple(found for found in together if len(found) > 1)


def _words(name: str) -> set[str]:
    return {stem_of(word) or word for word in fold(name).split()}


def _compact(ids: Ints) -> tuple[Ints, Ints]:
    """Return the ids that occur, ascending, and the index of each entry among them."""
    if not len(ids) or len(ids) < int(ids.max()) // 4:
        terms, local = np.unique(ids, return_inverse=True)
        return terms, local
    occurs = np.bincount(ids) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[ids]


def _ranges(starts: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Return all positions of the given slices, one after another, and the slice each belongs to."""
    lengths = starts[places + 1] - starts[places]
    which = np.repeat(np.arange(len(places)), lengths)
    shift = np.repeat(starts[places] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
    return np.arange(len(which)) + shift, which
