"""The chunk numbers an answer cites, and the statements that carry them.

A citation is a number in square brackets: [2], [1][3], [1, 3], [2-4]. It belongs to the statement it follows.
Invariant: claims come in the order of the answer, without their citations; `answer[start:end]` is the statement with them.
Source: DESIGN §9 (support of an answer's sentence is computed by us).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memoir_engine.text.sentences import split

_MARK = re.compile(r"[\[【]\s*(\d{1,6}(?:\s*[,;–-]\s*\d{1,6})*)\s*[\]】]")
_MARKED = re.compile(rf"(?<!\s)\s*+{_MARK.pattern}")  # from where a run of blanks begins: looked through once
_LEADING = re.compile(rf"(?:\s*{_MARK.pattern})+")


@dataclass(frozen=True)
class Claim:
    """One statement of an answer. `numbers` are the chunks it cites; empty where it cites none."""

    start: int
    end: int
    text: str
    numbers: tuple[int, ...]


def numbers(text: str, count: int) -> list[int]:
    """Every number cited, in order, doubled ones included; a range is written out as far as `count` reaches."""
    found: list[int] = []
    for mark in _MARK.finditer(text):
        for part in re.split(r"\s*[,;]\s*", mark.group(1)):
            first, *last = (int(number) for number in re.split(r"\s*[–-]\s*", part))
            found.extend(range(first, min(last[-1], count) + 1) if last else [first])
    return found


def without_marks(text: str) -> str:
    """The text on one line without its citations."""
    return " ".join(_MARKED.sub("", text).split())


def claims(answer: str, count: int) -> list[Claim]:
    """The answer's statements with the chunk numbers each cites, those in 1…count only."""
    return [_claim(answer, start, end, count) for start, end in _stretches(answer) if without_marks(answer[start:end])]


def _stretches(answer: str) -> list[tuple[int, int]]:
    """Sentence spans; marks at the start of a sentence are drawn to the one before, which they follow."""
    spans: list[tuple[int, int]] = []
    for sentence in split(answer):
        start = sentence.start
        leading = _LEADING.match(answer, start, sentence.end)
        if leading and spans:
            spans[-1] = (spans[-1][0], leading.end())
            start = leading.end()
        start += len(answer[start : sentence.end]) - len(answer[start : sentence.end].lstrip())
        if start < sentence.end:
            spans.append((start, sentence.end))
    return spans


def _claim(answer: str, start: int, end: int, count: int) -> Claim:
    cited = tuple(number for number in dict.fromkeys(numbers(answer[start:end], count)) if 1 <= number <= count)
    return Claim(start, end, without_marks(answer[start:end]), cited)
