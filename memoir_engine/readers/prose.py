"""Lines of a column put together into paragraphs: unwrapped, with lists and code kept as lines.

A new paragraph begins where lines stand further apart, where the size or weight of the letters changes, where the first line is
indented, and where the line before ends although the next word had room in it.
Pure. Source: decision 0050.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal

from memoir_engine.readers.hyphens import Hyphens, append, unwrap
from memoir_engine.readers.sheet import LEADER, Line

_SAME = 0.12  # share by which heights of the same letters differ
_APART = 1.3  # times the usual distance of lines
_WIDE, _DOUBLE = 2.2, 3.2  # times the height of the letters: lines so far apart are double-spaced at most
_ITEM = re.compile(r"(?:[•◦▪■●‣–—]|[*·-](?= ))\s*|(?:\(?(?:\d{1,3}|[a-zA-Z])[.)]|\[\d{1,3}\])(?= )")
_BULLET = re.compile(r"[•◦▪■●‣*·–—-]\s*")
_ENDED = re.compile(r"[.!?:;…。！？：；][\"'”’»)\]]*$")
_CAPTION = re.compile(r"(?:fig(?:ure|\.)|table|tab\.|abb(?:ildung|\.)|tabelle|図|表)\s*[\dIVX]", re.IGNORECASE)
_NEW_CAPTION = re.compile(_CAPTION.pattern + r"[\dIVX]*\s?[:.]\s", re.IGNORECASE)

Kind = Literal["text", "item", "code"]


@dataclass(frozen=True)
class Paragraph:
    """Lines that belong together. right: of the room its lines have. tight: it is a line of the same block as the one before."""

    kind: Kind
    lines: tuple[Line, ...]
    right: float
    tight: bool = False

    @property
    def height(self) -> float:
        return median(line.height for line in self.lines)

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)

    @property
    def opening(self) -> str:
        return self.lines[0].text

    @property
    def is_caption(self) -> bool:
        return bool(_CAPTION.match(self.opening))

    def text(self, hyphens: Hyphens) -> str:
        if self.kind == "code":
            return _code(self.lines)
        text = unwrap([LEADER.sub(" … ", line.text) for line in self.lines], hyphens)
        return _BULLET.sub("- ", text, count=1) if self.kind == "item" and _BULLET.match(text) else text

    def goes_on_in(self, other: Paragraph) -> bool:
        """Report whether a paragraph at the top of the next column is the rest of this one."""
        if "code" in (self.kind, other.kind) or other.kind == "item" or self.is_caption or other.is_caption:
            return False
        if abs(self.height - other.height) > _SAME * self.height or self.bold != other.bold:
            return False
        last, first = self.lines[-1], other.lines[0]
        if last.text.endswith(("-", "\u00ad", "\u2010")):
            return first.text[:1].isalpha()
        if _ENDED.search(last.text):
            return self._is_flush and not other._is_indented
        full = self.right - last.x1 < first.words[0].width + 0.5 * last.height
        return first.text[:1].islower() or (full and not first.bold)

    @property
    def _is_flush(self) -> bool:
        """Report whether the lines are stretched to one width, the last one too: a paragraph that ends so is rare."""
        reached = [self.right - line.x1 < 1.0 for line in self.lines]
        return len(reached) > 1 and reached[-1] and 3 * sum(reached) > 2 * len(reached)

    @property
    def _is_indented(self) -> bool:
        return len(self.lines) > 1 and self.lines[0].x0 - self.lines[1].x0 > 0.6 * self.height


def joined(first: str, second: str, hyphens: Hyphens) -> tuple[str, int]:
    """Return two parts of a paragraph as one, with the offset at which the second begins."""
    whole = append(first, second, hyphens)
    return whole, len(whole) - len(second)


def paragraphs(lines: Sequence[Line], titles: frozenset[str] = frozenset()) -> list[Paragraph]:
    """Part the lines of a column, from top to bottom. titles: lines that are known to be headings."""
    out: list[Paragraph] = []
    for run in line_runs(lines, titles):
        if run[0].fixed:
            out.append(Paragraph("code", tuple(run), run[-1].x1))
            continue
        right = max(line.x1 for line in run)
        for at, part in enumerate(_parts(run, right)):
            kind: Kind = "item" if _ITEM.match(part[0].text) else "text"
            tight = at > 0 and (kind == "item" or bool(LEADER.search(part[0].text)) or not _ENDED.search(out[-1].lines[-1].text))
            out.append(Paragraph(kind, tuple(part), right, tight))
    return out


def line_runs(lines: Sequence[Line], titles: frozenset[str]) -> list[list[Line]]:
    """Part lines where they stand apart or their letters differ."""
    runs: list[list[Line]] = []
    usual = line_pitches(lines)
    for before, line in zip((None, *lines), lines, strict=False):
        near = before is not None and _alike(before, line) and not titles & {before.text, line.text}
        if before is None or not near or line.middle - before.middle > _APART * usual.get(_size(line), 1.5 * line.height):
            runs.append([line])
        else:
            runs[-1].append(line)
    return runs


def line_pitches(lines: Sequence[Line]) -> dict[int, float]:
    """Return the usual distance of lines by the size of their letters: that of the nearest fifth, as most may stand apart.

    Lines of a size that all stand wide apart, as in a double-spaced text, have a usual distance where most of them agree.
    """
    near: dict[int, list[float]] = {}
    wide: dict[int, list[float]] = {}
    for before, line in pairwise(lines):
        step = line.middle - before.middle
        if _alike(before, line) and 0.5 * line.height < step < _DOUBLE * line.height:
            (near if step < _WIDE * line.height else wide).setdefault(_size(line), []).append(step)
    regular = {size: some for size, some in wide.items() if size not in near and _agree(some)}
    return {size: sorted(some)[len(some) // 5] for size, some in (near | regular).items()}


def _agree(steps: Sequence[float]) -> bool:
    """Report whether at least three steps, and most of them, are the same."""
    same = sum(abs(step - median(steps)) < 0.04 * median(steps) for step in steps)
    return same > 2 and 2 * same > len(steps)


def _size(line: Line) -> int:
    return round(line.height)


def _alike(before: Line, line: Line) -> bool:
    same = abs(before.height - line.height) <= _SAME * max(before.height, line.height)
    return same and before.fixed == line.fixed and before.bold == line.bold


def _parts(run: Sequence[Line], right: float) -> list[list[Line]]:
    """Part a run of equal lines into paragraphs."""
    parts: list[list[Line]] = []
    for at, line in enumerate(run):
        after = run[at + 1] if at + 1 < len(run) else None
        if not parts or begins_paragraph(parts[-1], line, after, right):
            parts.append([line])
        else:
            parts[-1].append(line)
    return parts


def begins_paragraph(part: list[Line], line: Line, after: Line | None, right: float) -> bool:
    """Report whether a line begins a paragraph behind the part."""
    before, height = part[-1], line.height
    if _ITEM.match(line.text) or _NEW_CAPTION.match(line.text) or LEADER.search(before.text):
        return True
    room = right - before.x1 > line.words[0].width + 0.6 * height
    indent = line.x0 - before.x0
    if indent > 0.6 * height:
        hanging = len(part) == 1 and (after is None or abs(after.x0 - line.x0) < 0.4 * height or _ITEM.match(before.text))
        return room or not (hanging or _ITEM.match(part[0].text))
    if indent < -0.6 * height and len(part) > 1:
        return True
    return room


def _code(lines: Sequence[Line]) -> str:
    """Return lines as they are, indented as they stand, a blank line where there is one."""
    left = min(line.x0 for line in lines)
    letter = median(line.box.x1 - line.box.x0 for line in lines) / median(len(line.text) for line in lines)
    return "\n".join(" " * round((line.x0 - left) / max(letter, 1.0)) + line.text for line in lines)
