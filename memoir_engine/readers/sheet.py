"""The geometry of a page: words and drawn lines with their boxes, and words put together into lines of text.

Coordinates are points, measured from the top left corner of the page as it is shown. Pure: no library, no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import NamedTuple, Protocol

_WIDE = "\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_CLOSES_WIDE = re.compile(f"[{_WIDE}]$")
_OPENS_WIDE = re.compile(f"[{_WIDE}]")
LEADER = re.compile(r"(?:\s?[.·…]){4,}\s?")  # from an entry of a list of contents to its page


class Box(NamedTuple):
    """A rectangle; y grows downwards."""

    x0: float
    y0: float
    x1: float
    y1: float

    def holds(self, other: Boxed, *, slack: float = 1.0) -> bool:
        """Report whether the centre of the other lies within."""
        x, y = (other.x0 + other.x1) / 2, (other.y0 + other.y1) / 2
        return self.x0 - slack <= x <= self.x1 + slack and self.y0 - slack <= y <= self.y1 + slack


class Boxed(Protocol):
    @property
    def x0(self) -> float: ...
    @property
    def y0(self) -> float: ...
    @property
    def x1(self) -> float: ...
    @property
    def y1(self) -> float: ...


class Word(NamedTuple):
    """Characters without a blank between them. glued: no blank stands before it in the file. fixed: in a typewriter font."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    bold: bool = False
    fixed: bool = False
    glued: bool = False

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def width(self) -> float:
        return self.x1 - self.x0


@dataclass(frozen=True)
class Sheet:
    """One page. rules: drawn horizontal and vertical lines and edges of rectangles, each a box that is thin one way.

    aside: words that run in another direction, such as up the margin, in the order of the file.
    """

    width: float
    height: float
    words: tuple[Word, ...]
    rules: tuple[Box, ...] = ()
    aside: tuple[Word, ...] = ()


@dataclass(frozen=True)
class Line:
    """Words side by side, from left to right."""

    words: tuple[Word, ...]

    @cached_property
    def core(self) -> Word:
        """The word whose height and place are those of the line: the middle one by height, wide ones counting more."""
        half, reached = sum(word.width for word in self.words) / 2, 0.0
        for word in sorted(self.words, key=lambda word: word.height):
            reached += word.width
            if reached >= half:
                return word
        return self.words[-1]

    @cached_property
    def box(self) -> Box:
        return around(self.words)

    @cached_property
    def text(self) -> str:
        return join_words(self.words)

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return self.box.x1

    @property
    def y0(self) -> float:
        return self.core.y0

    @property
    def y1(self) -> float:
        return self.core.y1

    @property
    def height(self) -> float:
        return self.core.height

    @property
    def middle(self) -> float:
        return (self.core.y0 + self.core.y1) / 2

    @cached_property
    def bold(self) -> bool:
        return all(word.bold for word in self.words)

    @cached_property
    def fixed(self) -> bool:
        return 2 * sum(len(word.text) for word in self.words if word.fixed) > sum(len(word.text) for word in self.words)


def around(items: Iterable[Boxed]) -> Box:
    """Return the smallest box that holds all of them."""
    boxes = [(item.x0, item.y0, item.x1, item.y1) for item in items]
    left, top, right, bottom = zip(*boxes, strict=True)
    return Box(min(left), min(top), max(right), max(bottom))


def lines_of(words: Sequence[Word]) -> list[Line]:
    """Put words that stand at one height together, from top to bottom."""
    rows: list[list[Word]] = []
    core: Word | None = None
    for word in sorted(words, key=lambda word: (word.y0 + word.y1, word.x0)):
        if core is not None and _level(core, word):
            rows[-1].append(word)
            core = max(core, word, key=lambda each: each.width)
        else:
            rows.append([word])
            core = word
    return [Line(tuple(sorted(row, key=lambda word: (word.x0, word.y0)))) for row in rows]


def _level(one: Word, other: Word) -> bool:
    """Report whether at least half of the lower word's height is beside the other."""
    overlap = min(one.y1, other.y1) - max(one.y0, other.y0)
    return overlap >= 0.5 * max(min(one.height, other.height), 0.1)


def join_words(words: Sequence[Word]) -> str:
    """Return the text of words side by side; none is parted from its raised or lowered sign."""
    parts: list[str] = []
    for before, word in zip((None, *words), words, strict=False):
        if before is not None and not (word.glued and word.x0 - before.x1 < 0.15 * word.height):
            parts.append(seam(before.text, word.text))
        parts.append(word.text)
    return "".join(parts)


def seam(before: str, after: str) -> str:
    """Return what stands between two words: a blank, or nothing in writing that has none."""
    return "" if _CLOSES_WIDE.search(before) and _OPENS_WIDE.match(after) else " "


def usual_height(words: Sequence[Word]) -> float:
    """Return the median height of words, at least 1 point."""
    return max(1.0, median(word.height for word in words)) if words else 1.0


def free_strips(items: Iterable[Boxed], least: float) -> list[tuple[float, float]]:
    """Return the vertical strips between the items that none of them touches, at least so wide, from left to right."""
    strips: list[tuple[float, float]] = []
    reached: float | None = None
    for x0, x1 in sorted((item.x0, item.x1) for item in items):
        if reached is not None and x0 - reached >= least:
            strips.append((reached, x0))
        reached = x1 if reached is None else max(reached, x1)
    return strips
