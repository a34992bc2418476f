"""Markdown: YAML or TOML front matter for title, author and date; # and underlined headings.

Invariant: the text is kept as it is, front matter included; headings inside fenced code do not count.
Source: DESIGN §8 (files.read); CommonMark 4.2, 4.3, 4.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memoir_engine.files.metadata import Fields, fields_of
from memoir_engine.results import Heading

_FRONT = re.compile(r"---[ \t]*\n(.{0,64000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.{0,8000}?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)  # longer ones are read in time by the square
_ATX = re.compile(r" {0,3}(#{1,6})(?![^ \t])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_BLOCK = re.compile(r" {0,3}(?:[-*+>|]|\d+[.)])(?:\s|$)| {4}|\t")


def markdown_fields(text: str, headings: tuple[Heading, ...]) -> Fields:
    """What the front matter says; without a title there, the first heading of level 1."""
    front = _front(text)
    fields = fields_of(_toml(front[1]) if front.re is _TOML else _yaml(front[1])) if front else Fields()
    first = next((heading.text for heading in headings if heading.level == 1), None)
    return fields if fields.title else fields._replace(title=first)


def markdown_headings(text: str) -> tuple[Heading, ...]:
    front = _front(text)
    return tuple(_headings(text, front.end() if front else 0))


def _front(text: str) -> re.Match[str] | None:
    return _FRONT.match(text) or _TOML.match(text)


def _headings(text: str, start: int) -> Iterator[Heading]:
    fence = ""
    above: tuple[int, str] | None = None  # the line of a paragraph that an underline would make a heading
    for line in text[start:].split("\n"):
        opened = _FENCE.match(line)
        if fence or opened:
            fence = _fence_after(line, fence, opened)
            above = None
        elif atx := _ATX.match(line):
            above = None
            if title := _without_closing(line[atx.end() :]):
                yield Heading(len(atx[1]), title, start)
        elif above and (under := _UNDERLINE.match(line)):
            yield Heading(1 if under[1][0] == "=" else 2, above[1], above[0])
            above = None
        else:
            above = (start, line.strip()) if line.strip() and not _BLOCK.match(line) else None
        start += len(line) + 1


def _without_closing(written: str) -> str:
    """What a heading says: the number signs behind it are no part of it, nor are they a heading by themselves."""
    title = written.rstrip(" \t")
    opened = title.rstrip("#")
    said = (opened if opened[-1:] in (" ", "\t") else title).strip()
    return said if said.strip("#") else ""


def _fence_after(line: str, fence: str, opened: re.Match[str] | None) -> str:
    if not fence:
        return opened[1] if opened else ""
    closes = opened is not None and opened[1].startswith(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence


def _yaml(front: str) -> dict[str, Any]:
    import yaml

    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(front, yaml.SafeLoader)):
            return {}  # ten lists of ten aliases each are 10^10 words to whoever writes them out
        values = yaml.safe_load(front)
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: an impossible date
        return {}
    return values if isinstance(values, dict) else {}


def _toml(front: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(front)
    except (ValueError, RecursionError):
        return {}
