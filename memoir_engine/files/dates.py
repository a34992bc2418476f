"""Dates as documents write them, as ISO 8601.

Invariant: as precise as the source, never more: "May 2019" is 2019-05, "2019" is 2019; an impossible date is no date.
Source: MEMOIR 2B (the date of a source).
"""

from __future__ import annotations

import re
from datetime import date, datetime

_MONTHS = "january february march april may june july august september october november december".split()
_ISO = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?![\d/.-])")
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?[ -]([A-Za-z]{3,9})\.?,?[ -](\d{4})\b")
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b")
_MONTH_ONLY = re.compile(r"([A-Za-z]{3,9})\.?,? (\d{4})\b")
_JAPANESE = re.compile(r"(\d{4})年(?:\s*(\d{1,2})月(?:\s*(\d{1,2})日)?)?")
_WEEKDAY = re.compile(r"(?i)(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,\s*")
_IN_NAME = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")


def iso_date(value: object) -> str | None:
    """None when it is no date, or one whose order of day and month cannot be known."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return _read(_WEEKDAY.sub("", str(value).strip(), count=1)) if value else None


def date_in_name(name: str) -> str | None:
    """The date that a file's name carries, as in 2014-11-13-why-we-use-https.md."""
    found = _IN_NAME.search(name)
    return _iso(*found.groups()) if found else None


def _read(words: str) -> str | None:
    for pattern in (_JAPANESE, _ISO):
        found = pattern.match(words)
        if found:
            return _iso(*found.groups())
    if found := _DAY_FIRST.match(words):
        return _iso(found[3], _month(found[2]), found[1])
    if found := _MONTH_FIRST.match(words):
        return _iso(found[3], _month(found[1]), found[2])
    if found := _MONTH_ONLY.match(words):
        return _iso(found[2], _month(found[1]), None)
    return None


def _month(name: str) -> str:
    """Its number, or 0: a beginning of three letters or more counts, and so does "Sept", but no "Marathon"."""
    return str(next((n for n, month in enumerate(_MONTHS, start=1) if month.startswith(name.lower())), 0))


def _iso(year: str, month: str | None, day: str | None) -> str | None:
    try:
        whole = date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    return whole.isoformat()[: 10 if day else 7 if month else 4]
