"""Since when and until when a sentence holds, by the dates it names.

Invariant: ISO dates of the precision that the text has, or "". What ends does not end before it begins. A date that is what the
sentence tells, a birthday, says nothing of when it holds. Pure: the day is given.
Source: TIMEM "Temporal Context Understanding"; spec README (small print on times).
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from memoir_engine.text.verbs import is_past
from memoir_engine.text.when import Mention, mentions

_END = r"\s+(?:the\s+)?(?:very\s+)?(?:(?:end|beginning|middle) of\s+)?(?:the\s+)?$"
_UNTIL = re.compile(rf"\b(?:until|till|up to){_END}", re.IGNORECASE)
_BY = re.compile(rf"\bby{_END}", re.IGNORECASE)
_TO = re.compile(rf"\b(?:(?:from|since)\s+[^.;!?]{{3,30}}\s+(?:to|through)|between\s+[^.;!?]{{3,30}}\s+and){_END}", re.IGNORECASE)
_DASH = re.compile(r"\d\s?(?:[-–—]|to)\s?$", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")
_YEARLY = re.compile(r"\b(?:birthdays?|b-?day|anniversar(?:y|ies)|name[- ]day)\b", re.IGNORECASE)


def validity(text: str, said: date) -> tuple[str, str]:
    """(since, until), each "" where the text says nothing of it. said: the day it was said, in the speaker's zone.

    "until Friday" and "to 2015" behind "from 2010" end it; "by Friday" ends what is still to be done; any other date begins it.
    Several beginnings: the first that is named.
    """
    if _YEARLY.search(text):
        return "", ""
    found = mentions(text, said)
    ending = [one for one in found if _ends(text[: one.start])]
    due = [one for one in found if _BY.search(text[: one.start])]
    begins = next((one for one in found if one not in ending and one not in due), None)
    ends = next(iter(ending if is_past(text) else (*ending, *due)), None)
    if begins and ends and ends.last < begins.first:
        begins = _of_that_year(begins, ends, text)
        ends = None if ends.last < begins.first else ends
    return _written(begins), _written(ends)


def _of_that_year(begins: Mention, ends: Mention, text: str) -> Mention:
    """ "from May to July 2020": the year stands behind the end only."""
    if not _TO.search(text[: ends.start]) or _YEAR.search(text[begins.start : begins.end]):
        return begins
    year = ends.first.year - (begins.first.month > ends.first.month)
    return replace(begins, first=begins.first.replace(year=year, day=min(begins.first.day, 28)))


def _ends(before: str) -> bool:
    return any(one.search(before) for one in (_UNTIL, _TO, _DASH))


def _written(mention: Mention | None) -> str:
    """A week begins with its first day, a season with its first month."""
    if mention is None:
        return ""
    length = {"year": 4, "month": 7, "season": 7}.get(mention.precision, 10)
    return mention.first.isoformat()[:length]
