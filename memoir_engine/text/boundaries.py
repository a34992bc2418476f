"""Where a text may be cut: the ends of paragraphs, sentences and lines, and what is left when there are none.

A boundary lies behind its delimiter, behind closing quotes and brackets, and behind the line breaks that follow, so
that what comes next begins with its own first character. Never inside a number, a name with dots or a run of blanks.
Invariant: boundaries depend on the text near them only, and finding them takes time linear in the text looked at.
Source: MEMOIR 2.1, 2.4; spec README, "MEMOIR 2.4" (。！？ count as periods).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

_CLOSING = r"""["'”’»›)\]}」』）】〉》〕]*"""
_GAP = r"(?:\s*\n)?"  # blanks up to the last line break of the run
_PERIOD = rf"(?:\.(?={_CLOSING}(?:\s|\Z))|[。！？｡．]){_CLOSING}"
_ENDS_A_SENTENCE = frozenset(".!?…。！？｡．")
_CLOSERS = frozenset("\"'”’»›)]}」』）】〉》〕")
_CLAUSE = re.compile(r"[,;:](?=\s)|[、，；：]")
_WORD = re.compile(r"\S(?=\s)")


class Strength(IntEnum):
    """How good a place to cut is; a paragraph before a sentence before a line (MEMOIR 2.4)."""

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
    """Boundaries behind a delimiter with start ≤ end ≤ stop, in order."""
    pattern = _pattern(tuple(delimiters))
    if pattern is None:
        return []
    blank_lines_only = "\n" not in delimiters
    # The delimiter of a boundary at `start` lies a little before it; what follows `stop` decides about a period there.
    found = (_graded(text, match) for match in pattern.finditer(text, max(0, start - 8), min(len(text), stop + 8)))
    return [b for b in found if start <= b.end <= stop and not (blank_lines_only and b.strength is Strength.LINE)]


def breaks(text: str, start: int, stop: int) -> Iterator[Boundary]:
    """Boundaries behind line breaks with start ≤ end ≤ stop, from the last to the first: most chunks need no others."""
    at = text.rfind("\n", start - 1, stop)
    while at >= 0:
        behind = at
        while behind > start and text[behind - 1].isspace():
            behind -= 1
        blank = text.find("\n", behind, at) >= 0
        yield Boundary(_GRADES[blank, _is_finished(text, behind)], at + 1)
        at = text.rfind("\n", start - 1, behind)


def soft_boundaries(text: str, start: int, stop: int) -> Iterator[Boundary]:
    """Where no delimiter is: behind the punctuation of a clause, then behind a word."""
    for strength, pattern in ((Strength.CLAUSE, _CLAUSE), (Strength.WORD, _WORD)):
        for match in pattern.finditer(text, max(0, start - 1), min(len(text), stop + 1)):
            if start <= match.end() <= stop:
                yield Boundary(strength, match.end())


def _graded(text: str, match: re.Match[str]) -> Boundary:
    at, end = match.span()
    lines = text.count("\n", at, end)
    if lines == 0:
        return Boundary(Strength.SENTENCE, end)
    return Boundary(_GRADES[lines > 1, text[at] != "\n" or _is_finished(text, at)], end)


def _is_finished(text: str, at: int) -> bool:
    """Whether the text before a line break ends a sentence; looks back over closing marks, at most four."""
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
