"""Find headings and fields in plain text and Markdown.

Plain text: a mail-like header block, headings underlined as in reStructuredText, a title in line 1.
Markdown: YAML or TOML front matter, # and underlined headings; headings inside fenced code do not count.
Invariant: the text is kept as it is, header or front matter included; only offsets are added. No title rather than a wrong one.
Source: DESIGN §8 (files.read); CommonMark 4.2, 4.3, 4.5.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from memoir_engine.core.results import Heading
from memoir_engine.readers.document import Fields, fields_of, iso_date, mail_header

_UNDERLINED = re.compile(r"(?:^|\n)(?=(\S[^\n]{0,199})\n([=\-~^\"#*+`:.'_])(\2{2,})[ \t]*(?:\n|\Z))")


_OVER = re.compile(r"\s*(?:([=\-~^\"#*+`:.'_])\1{2,}[ \t]*\n)?")
_ALONE = re.compile(r"\s*(\S[^\n]{1,79})\n[ \t]*\n\s*(\S[^\n]*(?:\n[ \t]*\S[^\n]*){0,20})")
_ENDED = re.compile(r"[.!?…。！？]")  # of a sentence
_NO_TITLE = re.compile(  # a sentence, an entry of a list or a table, code, a speaker's line, a greeting
    r"\W|.*[.,:!?…。、，；：！？]$|.*(?:[@|\t<>{}=;]|://|:\s)|\d+[.)]\s"
    r"|(?:dear|hello|hi|hey|good|to whom|hallo|moin|liebe[rs]?|sehr|guten)\b"
    r"|(?:ch[eè]re?|bonjour|salut|hola|querid[oa]|estimad[oa]|ciao|car[oa])\b",
    re.IGNORECASE,
)
_WORDS = 12  # of a title
_NAMED = (".txt", ".text", ".rst")


def plain_fields(text: str, headings: tuple[Heading, ...] = (), name: str = "") -> Fields:
    """Return the fields of the header; without one, a title from the first heading or, in prose, from a lone line 1."""
    fields = fields_of(mail_header(text))
    if fields != Fields():
        return fields
    over = _OVER.match(text)
    if headings and over and headings[0].start == over.end():
        return Fields(headings[0].text)
    return Fields(_title_line(text) if name.lower().endswith(_NAMED) else None)


def _title_line(text: str) -> str | None:
    """Return a short line 1 that is not a sentence, greeting, entry or date and stands before a paragraph of sentences."""
    match = _ALONE.match(text)
    if match is None or not _ENDED.search(match[2]):
        return None
    line = match[1].strip()
    is_name = not line[0].islower() and any(map(str.isalpha, line)) and len(line.split()) <= _WORDS
    return line if is_name and not _NO_TITLE.match(line) and iso_date(line) is None else None


def plain_headings(text: str) -> tuple[Heading, ...]:
    """Find lines that are underlined by a row of one mark, at least as long; levels in the order the marks first occur."""
    marks: list[str] = []
    headings = []
    for match in _UNDERLINED.finditer(text):
        title, mark = match[1].rstrip(), match[2]
        if len(match[3]) + 1 < len(title) or not any(map(str.isalnum, title)):
            continue
        if mark not in marks:
            marks.append(mark)
        headings.append(Heading(marks.index(mark) + 1, title, match.start(1)))
    return tuple(headings)


_FRONT = re.compile(r"---[ \t]*\n(.{0,64000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.{0,8000}?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)  # matching takes quadratic time
_ATX = re.compile(r" {0,3}(#{1,6})(?![^ \t])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_BLOCK = re.compile(r" {0,3}(?:[-*+>|]|\d+[.)])(?:\s|$)| {4}|\t")


def markdown_fields(text: str, headings: tuple[Heading, ...]) -> Fields:
    """Return the fields of the front matter; without a title there, the first heading of level 1."""
    front = _front(text)
    fields = fields_of(_toml(front[1]) if front.re is _TOML else _yaml(front[1])) if front else Fields()
    first = next((heading.text for heading in headings if heading.level == 1), None)
    return fields if fields.title else fields._replace(title=first)


def markdown_headings(text: str) -> tuple[Heading, ...]:
    """Find # and underlined headings outside front matter and fenced code."""
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
    """Strip the closing number signs of a heading; "" if nothing else is left."""
    title = written.rstrip(" \t")
    unclosed = title.rstrip("#")
    words = (unclosed if unclosed[-1:] in (" ", "\t") else title).strip()
    return words if words.strip("#") else ""


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
    try:
        return tomllib.loads(front)
    except (ValueError, RecursionError):
        return {}
