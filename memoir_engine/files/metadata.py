"""Title, author and date from the fields a document carries: front matter, a mail-like header, meta elements.

Invariant: a field that cannot be read is left out, never guessed; values are one line of text, cut at 500 characters.
Source: DESIGN §8 (files.read: title, author, date); MEMOIR 2B.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from memoir_engine.files.dates import iso_date

_TITLES = ("title", "subject", "headline")
_AUTHORS = ("author", "authors", "by", "from", "creator")
_DATES = ("date", "created", "published", "publish-date", "pubdate", "updated", "modified")
_PLACEHOLDER = re.compile(  # what programs write where nobody said anything
    r"\W*(?:untitled|anonymous|unspecified|unknown|un-?named|no title|title|author|document ?\d*|word document|untitled document"
    r"|powerpoint presentation|presentation ?\d*|microsoft word - .*|python-docx|(?:microsoft office |windows )?user)\W*",
    re.IGNORECASE,
)
_LONGEST = 500
_HEADER = 10_000  # characters in which a header is looked for
_HEAD = re.compile(r"\s*([A-Z][A-Za-z-]{1,30}):(?=\s|$)")
_ADDRESS = re.compile(r"\s*<[^<>]*>|\s*\([^()@]*@[^()]*\)|\s*[\w.+-]+@[\w.-]+")


class Fields(NamedTuple):
    title: str | None = None
    author: str | None = None
    dated: str | None = None


def fields_of(values: Mapping[str, Any]) -> Fields:
    """values: names in any case, to text, dates, or lists of them."""
    known = {str(name).lower().replace("_", "-"): value for name, value in values.items()}
    title = next(filter(None, (one_line(known.get(name)) for name in _TITLES)), None)
    author = next(filter(None, (_people(known.get(name)) for name in _AUTHORS)), None)
    dated = next(filter(None, (iso_date(known.get(name)) for name in _DATES)), None)
    return Fields(title, author, dated)


def mail_header(text: str) -> dict[str, str]:
    """Fields of a block "Name: value" at the start, at least two of them, with continuation lines; else nothing."""
    fields: dict[str, str] = {}
    name = ""
    for line in text.lstrip("\n")[:_HEADER].split("\n"):
        found = _HEAD.match(line) if line[:1].strip() else None
        if found:
            name = found[1]
            fields[name] = line[found.end() :].strip()
        elif name and line.strip() and line[0] in " \t":
            fields[name] += " " + line.strip()
        else:
            return fields if len(fields) > 1 and not line.strip() else {}
    return {}


def one_line(value: object) -> str | None:
    if isinstance(value, (list, tuple)):
        value = ", ".join(str(item) for item in value)
    return _words(value)[:_LONGEST] or None


def own_words(value: object) -> str | None:
    """A title or an author out of the properties of a file, unless it is what a program writes where nobody said one."""
    line = one_line(value)
    return None if line is None or _PLACEHOLDER.fullmatch(line) else line


def _words(value: object) -> str:
    return " ".join(str(value).split()) if value is not None else ""


def _people(value: object) -> str | None:
    """Names without their addresses, parted by commas."""
    if isinstance(value, Mapping):
        value = value.get("name")
    if isinstance(value, (list, tuple)):
        return one_line([name for name in map(_people, value) if name])
    words = _words(value)[:_HEADER]
    return one_line(_ADDRESS.sub("", words).strip(" ,") or words)
