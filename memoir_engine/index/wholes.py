"""Documents read in the frame of what they were cut from: half of a score is the document's, half that of its whole.

Of two passages that say the same, that one answers better whose text speaks of what was asked. A whole is no document of its own:
its words are counted from its documents when they are asked for.
Invariant: a whole has the words of its living documents, whichever segments hold them; rarity and the mean length are those among
wholes. What is part of nothing is scored by itself alone, and counts for no whole. Pure.
Source: docs/decisions/0016 (what helped); BM25 over texts beside that over passages is the field's document context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memoir_engine.index.documents import Keys
from memoir_engine.index.segment import Floats, Scores, Segment, Weighing, rarity, summed

SHARE = 0.5  # of the whole


@dataclass(frozen=True, eq=False)
class Wholes:
    """lengths: (greatest number + 1,) of each in tokens at its number, 0 where none is. count: of those that have a token."""

    lengths: Floats
    count: int
    mean_length: float


def wholes_of(segments: Sequence[Segment]) -> Wholes:
    """Those of which a document lives."""
    parts = [segment.whole_tokens for segment in segments] or [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    wholes, tokens = (np.concatenate(each) for each in zip(*parts, strict=True))
    lengths = np.bincount(wholes, tokens, minlength=1).astype(np.float64)
    lengths[0] = 0
    count = int(np.count_nonzero(lengths))
    return Wholes(lengths, count, float(lengths.sum()) / count if count else 0.0)


def whole_scores(segments: Sequence[Segment], wholes: Wholes, asked: Mapping[str, int], weighing: Weighing) -> Floats:
    """(greatest number + 1,) the BM25 of each whole at its number.

    asked: term → how often.
    """
    total: Floats = np.zeros(len(wholes.lengths))
    if not wholes.count:
        return total
    b = weighing.whole_b
    for term, times in asked.items():
        held, counts = _counts(segments, term, weighing)
        spread = weighing.k1 * (1 - b + b * wholes.lengths[held] / wholes.mean_length)
        total[held] += times * rarity(len(held), wholes.count) * counts / (counts + spread)
    return total


def leaned(segment: Segment, weights: Mapping[str, float], wholes: Floats) -> tuple[Keys, Scores]:
    """`Segment.scores`, each leaned on that of its whole."""
    rows, own = segment.found(weights)
    keys = segment.documents.keys[rows]
    if len(wholes) == 1:
        return keys, own
    of = segment.documents.wholes[rows]
    scores = np.float32(1 - SHARE) * own + (SHARE * wholes).astype(np.float32)[of]
    return keys, np.where(of > 0, scores, own) if segment.has_loose else scores


def _counts(segments: Sequence[Segment], term: str, weighing: Weighing) -> tuple[Keys, Floats]:
    """The wholes that have the term, each once, and how often each has it."""
    found = [segment.counted(term, weighing) for segment in segments]
    wholes, counts = (np.concatenate(each) for each in zip(*found, strict=True))
    if (wholes[1:] < wholes[:-1]).any():  # rare: what is cut at once gets its numbers at once
        order = np.argsort(wholes, kind="stable")
        wholes, counts = wholes[order], counts[order]
    some = int(np.searchsorted(wholes, 1))  # what is part of nothing stands before
    return summed(wholes[some:], counts[some:].astype(np.float64))
