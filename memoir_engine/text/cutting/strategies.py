"""What a strategy of cutting is, and by which name it is chosen.

A strategy is a function from a conversation and its limits to places: one after another, the ranges of messages that make a
cut. It is registered under a name, here or as an entry point of the group `memoir_engine.chunker`.
Invariant: a strategy sees only messages that fit into a cut; what it gives is checked before it is used.
Source: CHUNK 3–5, 15.2–15.5; spec README, small print on CHUNK 15.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memoir_engine.registry import Registry
from memoir_engine.results.cuts import CutLimits
from memoir_engine.text.counting import Ints
from memoir_engine.text.turns import Utterance

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors (n, dim); called with some hundred texts at a time, in order."""

SLIDING_WINDOW = "sliding_window"


class Range(NamedTuple):
    """Messages `first` to `stop`, `stop` not included; why the cut begins there."""

    first: int
    stop: int
    reason: str = ""


@dataclass(frozen=True)
class Talk:
    """Messages, each of at most `limits.max_tokens`, and the tokens of each. embed: None where there is no embedder."""

    messages: Sequence[Utterance]
    tokens: Ints
    embed: Embed | None = None

    def __len__(self) -> int:
        return len(self.messages)

    def slice(self, first: int, stop: int) -> Talk:
        return Talk(self.messages[first:stop], self.tokens[first:stop], self.embed)


class NoBoundaries(Exception):
    """Raised by a strategy that finds nowhere to cut; the sliding window then does it, and the reason is said."""


class Chunker(Protocol):
    """A strategy. It may have an attribute `needs`, a set of: "embedder", "times" (of every message), "exact" (counts)."""

    def __call__(self, talk: Talk, limits: CutLimits) -> Sequence[Range]:
        """Ranges in order that together hold every message, each of at most limits.max_tokens; neighbours may overlap.

        May raise NoBoundaries, or anything else: the sliding window then takes its place.
        """
        ...


CHUNKERS: Registry[Chunker] = Registry("chunker")

NEEDS = {
    "embedder": "an embedder, and none was given",
    "times": "the time of every message, and some have none",
    "exact": "exact token counts, and those of this model are estimated",
}


def lacking(chunker: Chunker, talk: Talk, *, exact: bool) -> str | None:
    """What the strategy needs and is not there, in words; None where nothing is missing."""
    there = {"embedder": talk.embed is not None, "exact": exact}
    for need in sorted(getattr(chunker, "needs", ())):
        is_there = all(message.at for message in talk.messages) if need == "times" else there.get(need, False)
        if not is_there:
            return NEEDS.get(need, f"{need!r}, which is not known here")
    return None


def fault(ranges: Sequence[Range], talk: Talk, limits: CutLimits) -> str | None:
    """What is wrong with what a strategy gave, in words; None where nothing is."""
    if not ranges or ranges[0].first != 0 or ranges[-1].stop != len(talk):
        return "it left messages out"
    sums = np.concatenate(([0], np.cumsum(talk.tokens)))
    for one in ranges:
        if not 0 <= one.first < one.stop <= len(talk):
            return "a cut of it is empty or reaches beyond the conversation"
        if sums[one.stop] - sums[one.first] > limits.max_tokens:
            return f"a cut of it is longer than {limits.max_tokens} tokens"
    for one, other in pairwise(ranges):
        if not (one.first < other.first <= one.stop < other.stop):
            return "its cuts leave messages out or are out of order"
    return None
