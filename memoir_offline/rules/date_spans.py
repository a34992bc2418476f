"""Days that words of a calendar mean, and what they say of the time in which a statement holds, for any language.

Invariant: `first <= last`; an impossible date gives none; nothing ends before it begins. Weeks begin on Monday. Pure.
Source: TIMEM "Temporal Context Understanding"; spec README (small print on times).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import NamedTuple

from memoir_offline.rules.dates import Mention, Span, shifted

HALF_A_YEAR = 183
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


class Reader(NamedTuple):
    """read: (match, the day it was said, whether it is past) → the days; None for no date, ValueError for no such day."""

    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], date, bool], Span | None]


def day_of(year: int, month: int, day: int) -> Span:
    return shifted(date(year, month, day), "day", 0)


def month_of(year: int, month: int) -> Span:
    return shifted(date(year, month, 1), "month", 0)


def year_of(year: int) -> Span:
    return shifted(date(year, 1, 1), "year", 0)


def season_of(year: int, first: int) -> Span:
    """first: the month a season begins in; winter goes into the next year."""
    begin = date(year, first, 1)
    return begin, shifted(begin, "month", 2)[1], "season"


def near_day(said_on: date, month: int, day: int, past: bool) -> Span:
    """Return a day without its year: the last one for what is past, else the nearest."""
    found = date(said_on.year, month, day)
    if past and found > said_on:
        found = date(said_on.year - 1, month, day)
    elif not past and (said_on - found).days > HALF_A_YEAR:
        found = date(said_on.year + 1, month, day)
    return shifted(found, "day", 0)


def near_month(said_on: date, month: int, past: bool) -> Span:
    return month_of(said_on.year - (month > said_on.month) if past else said_on.year + (month < said_on.month), month)


def day_alone(said_on: date, day: int, past: bool) -> Span:
    """Return the 23rd: of this month, or of the next where that day is over and nothing past is told."""
    if not past and day < said_on.day:
        following = shifted(said_on, "month", 1)[0]
        return day_of(following.year, following.month, day)
    return day_of(said_on.year, said_on.month, day)


def weekday_before(said_on: date, weekday: int) -> Span:
    return shifted(said_on, "day", -(((said_on.weekday() - weekday - 1) % 7) + 1))


def weekday_of(said_on: date, weekday: int, week: int) -> Span:
    """week: 0 for the week of that day, 1 for the next one."""
    return shifted(said_on, "day", 7 * week + weekday - said_on.weekday())


def mentions_of(text: str, said_on: date, past: bool, readers: Iterable[Reader]) -> list[Mention]:
    """Return dates in the order of the text, the longer of two that overlap."""
    found = []
    for pattern, read in readers:
        for match in pattern.finditer(text):
            try:
                span = read(match, said_on, past)
            except (ValueError, OverflowError):
                continue
            if span is not None:
                found.append(Mention(match.start(), match.end(), *span))
    disjoint: list[Mention] = []
    for mention in sorted(found, key=lambda each: (each.start, each.start - each.end)):
        if not disjoint or mention.start >= disjoint[-1].end:
            disjoint.append(mention)
    return disjoint


def held(dates: Iterable[Mention], ends: Callable[[Mention], bool]) -> tuple[str, str]:
    """(since, until) as ISO dates, each "" where nothing is said of it. ends: whether a date is one until which it holds."""
    listed = list(dates)
    until = next(filter(ends, listed), None)
    since = next((mention for mention in listed if mention is not until and not ends(mention)), None)
    if since and until and until.last < since.first:
        until = None
    return as_iso(since), as_iso(until)


def as_iso(mention: Mention | None) -> str:
    """Return the first day as precise as it was said: a season by its first month."""
    if mention is None:
        return ""
    length = {"year": 4, "month": 7, "season": 7}.get(mention.precision, 10)
    return mention.first.isoformat()[:length]


def before(said_on: date, days: int) -> Span:
    return shifted(said_on + timedelta(days=days), "day", 0)
