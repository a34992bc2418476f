"""Cut a text into chunks of a given number of tokens, at the ends of paragraphs, sentences and lines.

The whole text is tokenised once; the tokens of a chunk are then a difference of two indexes, and a boundary is looked
for only where a token ends. Where a cut could change how its two sides are tokenised, the chunk is counted again.
A boundary lies behind its delimiter, closing quotes and brackets, and the line breaks that follow, so that the next chunk begins
with its own first character; never inside a number, a name with dots or a run of blanks.
Invariants: chunks are contiguous from 0 to len(text), so they join back to it; `tokens` equals `count` of the chunk's
own text; no chunk is above the maximum, unless a single character is; one is below the minimum only if no cut at a
delimiter or between two words avoids it. Pure, linear in the text, the same for the same input.
Source: MEMOIR 2.1–2.4, 7.1, 7.2; spec README, "MEMOIR 2.4" (。！？ count as periods); verified/performance.md §A for the method.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from memoir_engine.core.errors import ChunkRangeInvalid

_CLOSING = r"""["'”’»›)\]}」』）】〉》〕]*"""
_GAP = r"(?:\s*\n)?"  # blanks up to the last line break of the run
_PERIOD = rf"(?:\.(?={_CLOSING}(?:\s|\Z))|[。！？｡．]){_CLOSING}"
_ENDS_A_SENTENCE = frozenset(".!?…。！？｡．")
_CLOSERS = frozenset("\"'”’»›)]}」』）】〉》〕")
_CLAUSE = re.compile(r"[,;:](?=\s)|[、，；：]")
_WORD = re.compile(r"\S(?=\s)")


class Strength(IntEnum):
    """Quality of a place to cut: a paragraph before a sentence before a line (MEMOIR 2.4)."""

    WORD = 0
    CLAUSE = 1
    LINE = 2
    SENTENCE = 3
    SENTENCE_AND_LINE = 4
    PARAGRAPH = 5  # a blank line after something unfinished: a heading, an introduction of a list
    FULL_PARAGRAPH = 6  # a blank line after a finished sentence


_GRADES = {  # of a line break: (a blank line?, after a finished sentence?)
    (True, True): Strength.FULL_PARAGRAPH,
    (True, False): Strength.PARAGRAPH,
    (False, True): Strength.SENTENCE_AND_LINE,
    (False, False): Strength.LINE,
}


class Boundary(NamedTuple):
    """`end` is the offset at which the text may be cut."""

    strength: Strength
    end: int


def boundaries(text: str, start: int, stop: int, delimiters: Sequence[str]) -> list[Boundary]:
    """Return the boundaries behind a delimiter with start ≤ end ≤ stop, in order."""
    pattern = _pattern(tuple(delimiters))
    if pattern is None:
        return []
    blank_lines_only = "\n" not in delimiters
    # The delimiter of a boundary at `start` lies a little before it; what follows `stop` decides about a period there.
    places = []
    for match in pattern.finditer(text, max(0, start - 8), min(len(text), stop + 8)):
        at, end = match.span()
        lines = text.count("\n", at, end)
        is_finished = text[at] != "\n" or _is_finished(text, at)
        strength = _GRADES[lines > 1, is_finished] if lines else Strength.SENTENCE
        if start <= end <= stop and not (blank_lines_only and strength is Strength.LINE):
            places.append(Boundary(strength, end))
    return places


def _line_and_sentence_ends(text: str, start: int, stop: int) -> Iterator[Boundary]:
    """Yield the boundaries behind line breaks with start ≤ end ≤ stop, from the last to the first: most chunks need no others."""
    at = text.rfind("\n", start - 1, stop)
    while at >= 0:
        behind = at
        while behind > start and text[behind - 1].isspace():
            behind -= 1
        blank = text.find("\n", behind, at) >= 0
        yield Boundary(_GRADES[blank, _is_finished(text, behind)], at + 1)
        at = text.rfind("\n", start - 1, behind)


def _soft_boundaries(text: str, start: int, stop: int) -> Iterator[Boundary]:
    """Yield the boundaries without a delimiter: behind the punctuation of a clause, then behind a word."""
    for strength, pattern in ((Strength.CLAUSE, _CLAUSE), (Strength.WORD, _WORD)):
        for match in pattern.finditer(text, max(0, start - 1), min(len(text), stop + 1)):
            if start <= match.end() <= stop:
                yield Boundary(strength, match.end())


def _is_finished(text: str, at: int) -> bool:
    """Return True if the text before a line break ends a sentence; looks back over at most four closing marks."""
    for position in range(at - 1, max(-1, at - 5), -1):
        if text[position] not in _CLOSERS:
            return text[position] in _ENDS_A_SENTENCE
    return False


@lru_cache(maxsize=64)
def _pattern(delimiters: tuple[str, ...]) -> re.Pattern[str] | None:
    literal = [d for d in delimiters if d and d != "." and d.strip("\r\n")]
    parts = [_PERIOD] if "." in delimiters else []
    parts += [re.escape(d) for d in sorted(literal, key=len, reverse=True)]
    if any(d and not d.strip("\r\n") for d in delimiters):
        parts.append(r"\n")
    return re.compile(f"(?:{'|'.join(parts)}){_GAP}") if parts else None


DELIMITERS = (".", "\n")
COUNTED_ANEW = 100_000  # characters: a longer chunk is counted by itself, whatever proves its ends
_TAIL = 3  # chunks' worth of text at the end that is divided as a whole, so that the last chunk is no crumb
_STEP = 8  # tokens between two places behind a word that are weighed there
_SHORT = 1000  # what a chunk below the minimum costs; anything else is better
_COST = {
    Strength.FULL_PARAGRAPH: 0,
    Strength.PARAGRAPH: 1,
    Strength.SENTENCE_AND_LINE: 3,
    Strength.SENTENCE: 4,
    Strength.LINE: 6,
    Strength.CLAUSE: 20,
    Strength.WORD: 30,
}


class TokenCounts(Protocol):
    """A model's tokeniser, as cutting needs it."""

    def ends(self, text: str) -> NDArray[Any]:
        """Return the offset behind each token, ascending, the last one len(text); a token that ends inside a character has the
        offset of the next one that does not.

        In a run of characters within which `splits` proves nothing, more than half of COUNTED_ANEW from both of its ends, they
        may be the ends of its parts tokenised alone.
        """
        ...

    def count(self, text: str) -> int: ...

    def splits(self, text: str, at: int) -> bool:
        """Return True if both sides of a token end at `at` surely have the same tokens alone as together."""
        ...


class Piece(NamedTuple):
    """A chunk before it is stored: `text == source[start:end]`. `short`: below the minimum; the caller warns of it."""

    position: int
    start: int
    end: int
    text: str
    tokens: int
    short: bool


class _Mark(NamedTuple):
    """A place in the text: tokens before it, its offset, and whether a cut there leaves the tokens unchanged."""

    before: int
    at: int
    sure: bool


@dataclass(frozen=True)
class _Cutting:
    text: str
    ends: NDArray[Any]
    tokens: TokenCounts
    minimum: int
    maximum: int
    delimiters: Sequence[str]

    @property
    def end(self) -> _Mark:
        return _Mark(len(self.ends), len(self.text), True)

    def mark(self, at: int, low: int, high: int) -> _Mark | None:
        """Return the place at an offset if a token ends there, between the tokens `low` and `high`.

        Tokens inside a character share its offset: the place lies behind the last of them, which may be beyond `high`.
        """
        index = bisect_right(self.ends, at, low, high)
        if index == low or self.ends[index - 1] != at or (index < len(self.ends) and self.ends[index] == at):
            return None
        return _Mark(index, at, self.tokens.splits(self.text, at))

    def count(self, start: _Mark, stop: _Mark) -> int:
        if start.sure and stop.sure and stop.at - start.at <= COUNTED_ANEW:
            return stop.before - start.before
        return self.tokens.count(self.text[start.at : stop.at])

    def next(self, here: _Mark) -> tuple[_Mark, int]:
        """Return the end of the chunk that begins here, and its tokens. A recount above the maximum tries again with less."""
        limit = self.maximum
        while limit > 0:
            there = self.choose(here, limit)
            size = self.count(here, there)
            if size <= self.maximum:
                return there, size
            limit = min(limit, there.before - here.before) - (size - self.maximum)
        at = here.at + 1
        return _Mark(bisect_right(self.ends, at), at, False), self.tokens.count(self.text[here.at : at])

    def choose(self, here: _Mark, limit: int) -> _Mark:
        """Return the end of the text or of a planned division, else the last boundary of the best strength in reach.

        That one keeps this chunk, and if possible the rest, above the minimum.
        """
        left = len(self.ends) - here.before
        if left <= limit:
            return self.end
        if left <= _TAIL * self.maximum and limit == self.maximum:
            planned = self.divide(here, soft=False) or self.divide(here, soft=True)
            if planned is not None:
                return planned
        low = here.before + min(max(self.minimum, 1), limit)
        high = max(low, min(here.before + limit, len(self.ends) - self.minimum))
        start, stop = max(int(self.ends[low - 1]), here.at + 1), int(self.ends[high - 1])
        return (
            self.last_break(start, stop, low, high)
            or self.last_mark(boundaries(self.text, start, stop, self.delimiters), low, high)
            or self.last_mark(list(_soft_boundaries(self.text, start, stop)), low, high)
            or self.last_token(here, high)
        )

    def last_break(self, start: int, stop: int, low: int, high: int) -> _Mark | None:
        """Return the best boundary if it is at a line break and better than any sentence within a line."""
        best: tuple[Strength, _Mark] | None = None
        for strength, at in _line_and_sentence_ends(self.text, start, stop) if "\n" in self.delimiters else ():
            mark = self.mark(at, low - 1, high) if strength > (best[0] if best else Strength.SENTENCE) else None
            if mark is not None:
                best = (strength, mark)
                if strength is Strength.FULL_PARAGRAPH:
                    break
        return best[1] if best else None

    def last_mark(self, places: list[Boundary], low: int, high: int) -> _Mark | None:
        for _, at in sorted(places, reverse=True):
            mark = self.mark(at, low - 1, high)
            if mark is not None:
                return mark
        return None

    def last_token(self, here: _Mark, high: int) -> _Mark:
        """Return the last token end before `high` that also ends a character; else one character."""
        at = int(self.ends[high - 1])
        if high < len(self.ends) and self.ends[high] == at:  # the tokens before `high` end inside a character
            high = bisect_left(self.ends, at, here.before, high)
            at = int(self.ends[high - 1]) if high > here.before else here.at + 1
        if at <= here.at:
            at = here.at + 1
        index = bisect_right(self.ends, at)
        is_end = index > 0 and int(self.ends[index - 1]) == at
        return _Mark(index, at, is_end and self.tokens.splits(self.text, at))

    def divide(self, here: _Mark, *, soft: bool) -> _Mark | None:
        """Return the first cut of the cheapest division of the rest.

        None if no division keeps below the maximum, or if the cheapest needs a chunk below the minimum, unless `soft`.
        """
        places = self.places(here, soft=soft)
        last = len(places) - 1
        costs: list[float] = [float("inf")] * last + [
            0.0
        ]  # of the cheapest way from a place to the end; ties fall to the later stop
        stops = [0] * (last + 1)
        for i in range(last - 1, -1, -1):
            for j in range(i + 1, last + 1):
                size = places[j][0].before - places[i][0].before
                if size > self.maximum:
                    break
                short = _SHORT + self.minimum - size if size < self.minimum else 0
                cost = costs[j] + places[j][1] + short
                if cost <= costs[i]:
                    costs[i], stops[i] = cost, j
        return places[stops[0]][0] if costs[0] < (float("inf") if soft else _SHORT) else None

    def places(self, here: _Mark, *, soft: bool) -> list[tuple[_Mark, int]]:
        """Return (place, cost of a cut there), from here to the end of the text, in order."""
        listed = boundaries(self.text, here.at + 1, len(self.text) - 1, self.delimiters)
        if soft:
            listed = [*_soft_boundaries(self.text, here.at + 1, len(self.text) - 1), *listed]
        best = {boundary.end: boundary.strength for boundary in sorted(listed)}  # the stronger of two at one offset
        places = [(here, 0)]
        for at, strength in sorted(best.items()):
            mark = self.mark(at, here.before, len(self.ends))
            near = mark is not None and strength is Strength.WORD and mark.before - places[-1][0].before < _STEP
            if mark is not None and not near:
                places.append((mark, _COST[strength]))
        return [*places, (self.end, 0)]


def cut(
    text: str, tokens: TokenCounts, *, minimum: int = 300, maximum: int = 500, delimiters: Sequence[str] = DELIMITERS
) -> list[Piece]:
    """Cut a text into chunks of `minimum` to `maximum` tokens, in order.

    delimiters: strings behind which a text may be cut; "." stands for any full stop that ends a sentence, line breaks
    also for blank lines. Without any of them within reach, a clause or a word ends a chunk, else a token.
    A single character of more than `maximum` tokens (4 at most) is a chunk of its own.
    Raises ChunkRangeInvalid (E104).
    """
    if not 0 <= minimum < maximum:
        raise ChunkRangeInvalid(minimum=minimum, maximum=maximum)
    job = _Cutting(text, tokens.ends(text), tokens, minimum, maximum, tuple(delimiters))
    pieces: list[Piece] = []
    here = _Mark(0, 0, True)
    while here.at < len(text):
        there, size = job.next(here)
        pieces.append(Piece(len(pieces), here.at, there.at, text[here.at : there.at], size, size < minimum))
        here = there
    return pieces
