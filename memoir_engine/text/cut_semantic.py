"""Semantic: cut where the texts before and after have least in common.

On both sides of each place the messages of some hundred tokens are one block; blocks are compared by their words, rare ones
counting more, or by an embedder's vectors. A place scores by how far its similarity falls below that of the places around it.
Invariant: the same conversation has the same places; linear in it; memory is one number per word plus one slice.
Source: CHUNK 5; TextTiling (Hearst 1997) for blocks and depths; measured in benchmarks/cutting.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memoir_engine.core.results.conversations import CutLimits
from memoir_engine.text.cut_division import best_cuts
from memoir_engine.text.cut_strategies import CHUNKERS, CutInput, Embed, Range
from memoir_engine.text.terms import tokens as stems
from memoir_engine.text.transcripts import Utterance

Floats = NDArray[np.float64]

SHIFT = "the subject shifts here"
WEAKEST = "the loosest place within reach"
BLOCK_TOKENS = 200  # as in TextTiling; 120 and 300 to 450 cut joined talks worse, several lengths together no better
AROUND = 20  # places on each side among which a place's nearness is judged
DIM = 256  # directions into which words are hashed
STEEP = 1.5  # standard deviations that a depth is above the mean where a cut is wanted for its own sake
LEAST = 0.01  # every place may be cut; the deeper the rather
_SLICE = 4_096  # messages at once
_BATCH = 256  # texts given to an embedder at once


@CHUNKERS.register("semantic")
def semantic(talk: CutInput, limits: CutLimits) -> list[Range]:
    worth = shifts(talk, block_tokens=max(1, min(BLOCK_TOKENS, limits.max_tokens // 4)))
    starts = best_cuts(talk.tokens, worth, minimum=limits.min_tokens, maximum=limits.max_tokens)
    stops = [*starts[1:], len(talk)]
    reasons = np.where(worth > 1, SHIFT, WEAKEST)
    return [Range(first, stop, str(reasons[first]) if first else "") for first, stop in zip(starts, stops, strict=True)]


def shifts(talk: CutInput, *, block_tokens: int) -> Floats:
    """Return (n,) the score of a cut before each message; above 1 the cut is wanted for its own sake."""
    near = nearness(talk, block_tokens=block_tokens)
    if len(near) < 3:
        return np.full(len(near), LEAST)
    depth = _depths(near)
    steep = (depth - depth[1:].mean()) / (depth[1:].std() or 1.0)
    peaks = (depth >= np.concatenate(([0.0], depth[:-1]))) & (depth > np.concatenate((depth[1:], [0.0])))
    return np.where(peaks, np.maximum(steep / STEEP, LEAST), LEAST)


def nearness(talk: CutInput, *, block_tokens: int) -> Floats:
    """Return (n,) the cosine of the blocks around each place in [-1, 1]; the first place has the mean of the others."""
    if len(talk) < 2:
        return np.ones(len(talk))
    sums = np.concatenate(([0], np.cumsum(talk.tokens)))
    places = np.arange(1, len(talk))
    begins = np.minimum(np.searchsorted(sums, sums[places] - block_tokens, side="left"), places - 1)
    ends = np.maximum(np.searchsorted(sums, sums[places] + block_tokens, side="right") - 1, places + 1)
    rows = _embedded(talk.messages, talk.embed) if talk.embed else _worded(talk.messages)
    found = _compared(rows, begins, places, ends)
    return np.concatenate(([found.mean()], found))


def _compared(rows: Iterator[Floats], begins: NDArray[np.int64], places: NDArray[np.int64], ends: NDArray[np.int64]) -> Floats:
    """Compare blocks slice by slice. rows: vectors of the messages, (m, dim); a place waits until its last message is read."""
    found = np.zeros(len(places))
    done, base, held = 0, 0, np.zeros((0, 0))
    for row in rows:
        held = np.concatenate((held, row)) if len(held) else row
        ready = int(np.searchsorted(ends, base + len(held), side="right"))
        if ready > done:
            sums = np.concatenate((np.zeros((1, held.shape[1])), np.cumsum(held, axis=0)))
            here = slice(done, ready)
            left = sums[places[here] - base] - sums[begins[here] - base]
            right = sums[ends[here] - base] - sums[places[here] - base]
            lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
            found[here] = np.einsum("ij,ij->i", left, right) / np.where(lengths > 0, lengths, 1)
            done = ready
        keep = int(begins[done]) if done < len(places) else base + len(held)
        held, base = held[keep - base :], keep
    return found


def _depths(near: Floats) -> Floats:
    """(n,) by how much the nearness of a place lies below the best on each side of it."""
    left, right = near.copy(), near.copy()
    for away in range(1, min(AROUND, len(near) - 1) + 1):
        left[away:] = np.maximum(left[away:], near[:-away])
        right[:-away] = np.maximum(right[:-away], near[away:])
    depth = (left - near) + (right - near)
    depth[0] = 0.0
    return np.asarray(depth)


def _embedded(messages: Sequence[Utterance], embed: Embed) -> Iterator[Floats]:
    for first in range(0, len(messages), _BATCH):
        texts = [message.text for message in messages[first : first + _BATCH]]
        rows = np.asarray(embed(texts), dtype=np.float64)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise ValueError("the embedder gave no vectors that can be compared")
        yield rows


def _worded(messages: Sequence[Utterance]) -> Iterator[Floats]:
    """Words hashed into directions; a word counts by how rare it is in this conversation."""
    known: dict[str, int] = {}
    words: list[NDArray[np.int32]] = []  # of one slice each
    lengths: list[NDArray[np.int32]] = []
    for first in range(0, len(messages), _SLICE):
        found = [stems(message.text) for message in messages[first : first + _SLICE]]
        words.append(np.array([known.setdefault(word, len(known)) for one in found for word in one], dtype=np.int32))
        lengths.append(np.array([len(one) for one in found], dtype=np.int32))
    often = np.zeros(len(known))
    for one in words:
        often += np.bincount(one, minlength=len(known))
    codes = np.array([crc32(word.encode("utf-8", "surrogatepass")) for word in known], dtype=np.int64)
    weight = np.log((len(messages) + 1.0) / (often + 0.5)).clip(min=0.05) * np.where(codes & 1, 1.0, -1.0)
    direction = (codes >> 1) % DIM
    while words:
        one, counts = words.pop(0), lengths.pop(0)
        cells = np.repeat(np.arange(len(counts)), counts) * DIM + direction[one]
        summed = np.bincount(cells, weight[one], minlength=len(counts) * DIM).astype(np.float64)  # of no word: whole numbers
        yield summed.reshape(len(counts), DIM)
