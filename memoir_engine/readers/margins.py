"""Running heads, footers and page numbers: lines at the edges of pages that recur or count. Pure.

A line is one if its words recur at the same height on a page nearby (numbers apart), if it is the number of its page, or if it
stands where most other pages have one. It must stand apart from the text, and a page is never left without words.
Source: decision 0050.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memoir_engine.readers.sheet import Line, Sheet, lines_of

_EDGE = 0.15  # share of the page's height
_DEEPEST = 3  # lines of a head
_NEARBY = 4  # pages
_SAME_PLACE = 3.0  # points
_APART = 0.4  # of the line's height, between it and the text
_LONGEST = 150  # characters
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
_PAGE = re.compile(r"\W*(?:page|seite|p\.|頁)?\W*(\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of|von)\s*\d{1,4})?\W*", re.IGNORECASE)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


class _Edge(NamedTuple):
    """The lines at one edge of a page, from the edge inwards, with one more for the distance to the text."""

    page: int
    lines: tuple[Line, ...]
    from_edge: tuple[float, ...]


def running_lines(sheets: Sequence[Sheet | None]) -> list[tuple[Line, ...]]:
    """Return for each page the lines that are no text of its own."""
    found: list[tuple[Line, ...]] = [() for _ in sheets]
    for top in (True, False):
        edges = [_edge(page, sheet, top=top) for page, sheet in enumerate(sheets) if sheet is not None]
        for edge, count in zip(edges, running_counts(edges), strict=True):
            found[edge.page] += edge.lines[:count]
    return [
        () if sheet is None or sum(len(line.words) for line in lines) >= len(sheet.words) else lines
        for sheet, lines in zip(sheets, found, strict=True)
    ]


def _edge(page: int, sheet: Sheet, *, top: bool) -> _Edge:
    bound = sheet.height * (_EDGE if top else 1 - _EDGE)
    lines = lines_of([word for word in sheet.words if (word.y0 + word.y1 < 2 * bound) == top])
    ordered = (lines if top else lines[::-1])[: _DEEPEST + 1]
    return _Edge(page, tuple(ordered), tuple(line.middle if top else sheet.height - line.middle for line in ordered))


def running_counts(edges: Sequence[_Edge]) -> Iterator[int]:
    """Yield how many lines of each edge are running ones."""
    recurring = [[recurs(edges, at, depth) for depth in range(len(edge.lines))] for at, edge in enumerate(edges)]
    places = Counter(
        (round(edge.from_edge[depth]), round(edge.lines[depth].height))
        for edge, marks in zip(edges, recurring, strict=True)
        for depth, mark in enumerate(marks)
        if mark
    )
    for edge, marks in zip(edges, recurring, strict=True):
        count = 0
        for depth, (mark, place) in enumerate(zip(marks, edge.from_edge, strict=True)):
            usual = sum(places[round(place) + near, round(edge.lines[depth].height)] for near in (-1, 0, 1))
            if depth < _DEEPEST and (mark or (usual >= 2 and 2 * usual >= len(edges) and _is_head(edge.lines[depth]))):
                count = depth + 1
            else:
                break
        while count and not _stands_apart(edge, count):
            count -= 1
        yield count


def recurs(edges: Sequence[_Edge], at: int, depth: int) -> bool:
    edge = edges[at]
    line, place = edge.lines[depth], edge.from_edge[depth]
    if len(line.text) > _LONGEST:
        return False
    number, key = page_number(line.text), wording(line.text)
    if number is not None and len(edges) == 1:
        return number == edge.page + 1
    for other in edges[max(0, at - _NEARBY) : at + _NEARBY + 1]:
        for twin, its_place in zip(other.lines, other.from_edge, strict=True):
            if other.page == edge.page or abs(place - its_place) > _SAME_PLACE:
                continue
            if number is not None:
                its_number = page_number(twin.text)
                if its_number is not None and its_number - number == other.page - edge.page:
                    return True
            elif key == wording(twin.text):
                return True
    return False


def wording(text: str) -> str:
    return " ".join(_NUMBER.sub("#", text.lower()).split())


def _is_head(line: Line) -> bool:
    return len(line.text) <= _LONGEST // 2 and not line.text.rstrip().endswith((".", ",", ";"))


def page_number(text: str) -> int | None:
    """Return the number that stands alone on a line, also a Roman one."""
    match = _PAGE.fullmatch(text)
    if match is None:
        return None
    if match[1].isdecimal():
        return int(match[1])
    values = [_ROMAN[letter] for letter in match[1].lower()]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def _stands_apart(edge: _Edge, count: int) -> bool:
    """Report whether there is room between these lines and the text."""
    if count >= len(edge.lines):
        return True
    last, text = edge.lines[count - 1], edge.lines[count]
    return abs(edge.from_edge[count] - edge.from_edge[count - 1]) - (last.height + text.height) / 2 > _APART * last.height
