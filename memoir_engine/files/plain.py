"""Plain text: fields of a mail-like header block, headings that are underlined as in reStructuredText, a title in line 1.

Invariant: the text is kept as it is, header included; only offsets are added. Rather no title than a wrong one.
Source: DESIGN §8 (files.read).
"""

from __future__ import annotations

import re

from memoir_engine.files.dates import iso_date
from memoir_engine.files.metadata import Fields, fields_of, mail_header
from memoir_engine.results import Heading

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
    """What its header says; without one, the heading it begins with, or in a file of prose a line 1 by itself."""
    fields = fields_of(mail_header(text))
    if fields != Fields():
        return fields
    over = _OVER.match(text)
    if headings and over and headings[0].start == over.end():
        return Fields(headings[0].text)
    return Fields(_alone(text) if name.lower().endswith(_NAMED) else None)


def _alone(text: str) -> str | None:
    """A short line 1 that is no sentence, greeting, entry or date, before a paragraph of sentences."""
    found = _ALONE.match(text)
    if found is None or not _ENDED.search(found[2]):
        return None
    line = found[1].strip()
    is_name = not line[0].islower() and any(map(str.isalpha, line)) and len(line.split()) <= _WORDS
    return line if is_name and not _NO_TITLE.match(line) and iso_date(line) is None else None


def plain_headings(text: str) -> tuple[Heading, ...]:
    """A line and below it one of at least its length of a single mark; levels in the order the marks first occur."""
    marks: list[str] = []
    headings = []
    for found in _UNDERLINED.finditer(text):
        title = found[1].rstrip()
        if len(found[3]) + 1 < len(title) or not any(map(str.isalnum, title)):
            continue
        if found[2] not in marks:
            marks.append(found[2])
        headings.append(Heading(marks.index(found[2]) + 1, title, found.start(1)))
    return tuple(headings)
