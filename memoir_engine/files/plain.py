"""Plain text: fields of a mail-like header block, headings that are underlined as in reStructuredText.

Invariant: the text is kept as it is, header included; only offsets are added.
Source: DESIGN §8 (files.read).
"""

from __future__ import annotations

import re

from memoir_engine.files.metadata import Fields, fields_of, mail_header
from memoir_engine.results import Heading

_UNDERLINED = re.compile(r"(?:^|\n)(?=(\S[^\n]{0,199})\n([=\-~^\"#*+`:.'_])(\2{2,})[ \t]*(?:\n|\Z))")


def plain_fields(text: str) -> Fields:
    return fields_of(mail_header(text))


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
