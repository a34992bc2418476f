"""Find the dates that a sentence names, and from them since when and until when it holds.

Invariants:
- `text[m.start:m.end]` is the mention; `first <= last`; an impossible date gives none; a duration is not a date;
- validity is in ISO dates as precise as the text, or ""; nothing ends before it begins; a birthday does not limit validity.
Weeks begin on Monday, seasons are those of the northern hemisphere. "last Friday" is the Friday before the day it was said,
"next Friday" the one of the week after; a bare weekday or month is past after a past tense or "since", else ahead; so is what
something was moved to or booked for.
Pure: the day is an argument.
Source: TIMEM "Temporal Context Understanding"; spec README (small print on times).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

from memoir_engine.text.clauses import is_past, looks_ahead

Precision = Literal["day", "week", "month", "season", "year"]


@dataclass(frozen=True, slots=True)
class Mention:
    """`first` and `last` are days, both included; `start` and `end` are characters of the text."""

    start: int
    end: int
    first: date
    last: date
    precision: Precision


Span = tuple[date, date, Precision]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_MONTH = (
    r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
)
_DAY_NAME = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
_COUNT = r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple(?: of)?|a few|several)"
_NUMBERS = dict(zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True))
_YEAR = r"(?P<year>(?:1[89]|20)\d\d)"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_UNIT = r"(?P<unit>day|week|month|year|weekend)s?"
_ORDINALS = dict(
    zip(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth"
        " sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth"
        " twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first".split(),
        range(1, 32),
        strict=True,
    )
)
_ORDINAL = rf"(?P<day>{'|'.join(one.replace('-', '[- ]') for one in reversed(_ORDINALS))})"
_LEAD = r"(?P<lead>in|on|since|from|between|until|till|up to|by|during|of|early|late|mid|end of|beginning of)"
_A_YEAR = r"(?:1[89]|20)\d\d"
_SIDE = r"(?P<side>last|past|this|next|coming)"


# the same in the present, but with a date told of what is done: "quit my job in December"
_DONE = re.compile(
    r"\b(?:I|we|you|he|she|they)\s+(?:\w+ly\s+|just\s+|also\s+|then\s+)?(?:put|set|quit|cut|shut|beat|bet|hit|hurt|wed)\b",
    re.IGNORECASE,
)
_LARGE = re.compile(r"\b(?:Sat|Wed)\b")  # days, not what somebody did
_OF_NOW = re.compile(  # "I'm getting married on 12 May", "I've got tickets for 4 March": of what is or will be
    r"(?:\b(?:am|is|are)|['’](?:m|re|s))\s+(?:\w+ly\s+|still\s+|now\s+|not\s+|finally\s+)?(?:getting|being)\s+\w+"
    r"|\b(?:I|we|you|they)\s+get\s+\w+ed\b|\bget(?:s)?\s+paid\b|(?:\b(?:have|has)|['’](?:ve|s))\s+got\b",
    re.IGNORECASE,
)
_SHIFT = (  # what is moved to a day is still to come, though the verb is past: "got pushed back to 21 February"
    r"(?:(?:moved|pushed|shifted|rescheduled|rebooked|brought (?:\w+ ){0,3}forward)\b(?:(?!\bto\b)[^.;!?]){0,40}?\bto"
    r"|(?:postponed|put (?:\w+ ){0,3}(?:off|back)|pushed|delayed|deferred|adjourned)\b[^.;!?]{0,40}?\b(?:to|until|till))"
)
_AHEAD = re.compile(
    rf"\b{_SHIFT}\s+(?:the\s+)?$"
    r"|\b(?:booked|scheduled|planned|arranged|reserved|pencilled in|set|fixed|due|rebooked)\b[^.;!?]{0,40}?\bfor\s+(?:the\s+)?$",
    re.IGNORECASE,
)
LOOKED_BACK = 80  # signs before a day in which what is moved to it stands
_COUNTED = re.compile(rf"\b(?:\d+|{'|'.join(_NUMBERS)})\b", re.IGNORECASE)
_SINCE = re.compile(r"\bsince\s+(?:the\s+)?$", re.IGNORECASE)
_OTHER_WORDS = ("sun", "sat", "wed")  # name a day only if capitalised

Reader = Callable[[re.Match[str], date, bool], Span | None]
_READERS: list[tuple[re.Pattern[str], Reader]] = []


def reads(*patterns: str) -> Callable[[Reader], Reader]:
    """Register a reader of dates: (match, the day it was said, whether it is past) → the days, None if it is no date.

    A reader raises ValueError or OverflowError for the 31st of February, or a year that no calendar has.
    """

    def register(reader: Reader) -> Reader:
        _READERS.extend((re.compile(rf"\b{pattern}\b", re.IGNORECASE), reader) for pattern in patterns)
        return reader

    return register


def mentions(text: str, said_on: date) -> list[Mention]:
    """Return the dates in the order of the text, never overlapping. said_on: the day it was said, in the speaker's zone."""
    disjoint: list[Mention] = []
    for mention in sorted(_all_mentions(text, said_on), key=lambda m: (m.start, m.start - m.end)):
        if not disjoint or mention.start >= disjoint[-1].end:
            disjoint.append(mention)
    return disjoint


def _all_mentions(text: str, said_on: date) -> Iterator[Mention]:
    past = is_past(_OF_NOW.sub(" ", _LARGE.sub(" ", text))) or bool(not looks_ahead(text) and _DONE.search(text))
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            start = match.end("lead") if "lead" in pattern.groupindex else match.start()
            start += len(text[start:]) - len(text[start:].lstrip())
            was = not _AHEAD.search(text[max(0, start - LOOKED_BACK) : start]) and (past or bool(_SINCE.search(text[:start])))
            try:
                span = read(match, said_on, was)
            except (ValueError, OverflowError):
                continue
            if span is not None:
                yield Mention(start, match.end(), *span)


@reads(
    r"(?:(?:the )?day (?:before yesterday|after tomorrow)|yesterday|tomorrow|today|tonight|last night"
    r"|this (?:morning|afternoon|evening))"
)
def relative_day(match: re.Match[str], said_on: date, past: bool) -> Span:
    text = match.group().lower()
    shift = {"day before yesterday": -2, "day after tomorrow": 2, "yesterday": -1, "last night": -1, "tomorrow": 1}
    return _day_span(said_on, next((days for name, days in shift.items() if name in text), 0))


@reads(rf"{_COUNT} {_UNIT} ago")
def ago(match: re.Match[str], said_on: date, past: bool) -> Span:
    return shifted(said_on, match["unit"].lower(), -_count(match["count"]))


@reads(rf"(?P<in>)?{_COUNT} {_UNIT} from now", rf"(?P<in>in) {_COUNT} {_UNIT}(?!['’])")
def ahead(match: re.Match[str], said_on: date, past: bool) -> Span | None:
    """ "lost five kilos in two months", "drinks two coffees in a day": how long it takes is no date."""
    takes = _COUNTED.search(match.string, 0, match.start()) and match["count"].lower() in ("a", "an", "one")
    if match["in"] and (past or (takes and not looks_ahead(match.string))):
        return None
    return shifted(said_on, match["unit"].lower(), _count(match["count"]))


@reads(rf"(?:the )?{_SIDE} {_UNIT}")
def neighbouring_unit(match: re.Match[str], said_on: date, past: bool) -> Span | None:
    unit = match["unit"].lower()
    if unit == "day":
        return None
    if match["side"].lower() == "past" and unit == "year":
        return shifted(said_on, "year", -1)
    return shifted(said_on, unit, _steps(match))


@reads(rf"(?:the )?{_SIDE} {_DAY_NAME}")
def neighbouring_weekday(match: re.Match[str], said_on: date, past: bool) -> Span | None:
    if match["weekday"] in _OTHER_WORDS:
        return None
    at = _DAYS.index(match["weekday"].lower()[:3])
    if _steps(match) < 0:
        return _day_span(said_on, -(((said_on.weekday() - at - 1) % 7) + 1))
    if match["side"].lower() == "next":
        return _day_span(said_on, 7 - said_on.weekday() + at)
    return _day_span(said_on, (at - said_on.weekday()) % 7)


@reads(rf"{_SIDE} {_MONTH}")
def neighbouring_month(match: re.Match[str], said_on: date, past: bool) -> Span:
    number, steps = _month(match), _steps(match)
    if steps < 0:
        return _month_span(said_on.year - (number >= said_on.month), number)
    return _month_span(said_on.year + (steps > 0 and number <= said_on.month), number)


@reads(rf"(?:the )?{_SIDE} (?P<season>spring|summer|autumn|fall|winter)")
def neighbouring_season(match: re.Match[str], said_on: date, past: bool) -> Span:
    first, steps = _SEASONS[match["season"].lower()], _steps(match)
    spans: list[Span] = []
    for year in range(said_on.year - 2, said_on.year + 3):
        last = _month_span(year + (first + 1) // 12, (first + 1) % 12 + 1)[1]
        spans.append((date(year, first, 1), last, "season"))
    if steps < 0:
        return [span for span in spans if span[1] < said_on][-1]
    return next(span for span in spans if (span[0] > said_on if steps > 0 else span[1] >= said_on))


@reads(r"(?P<year>(?:1[89]|20)\d\d)-(?P<number>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])")
def iso_day(match: re.Match[str], said_on: date, past: bool) -> Span:
    return _day_span(date(int(match["year"]), int(match["number"]), int(match["day"])), 0)


@reads(r"(?P<year>(?:1[89]|20)\d\d)-(?P<number>0[1-9]|1[0-2])(?!-?\d)")
def iso_month(match: re.Match[str], said_on: date, past: bool) -> Span:
    return _month_span(int(match["year"]), int(match["number"]))


@reads(
    rf"(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?",
    rf"(?:the )?{_ORDINAL} of {_MONTH}(?:,? {_YEAR})?",
    rf"{_MONTH} (?:the )?{_ORDINAL}(?:,? {_YEAR})?",
    rf"{_MONTH} (?:the )?{_DAY}(?!\d)(?:,? {_YEAR})?",
)
def day_of_month(match: re.Match[str], said_on: date, past: bool) -> Span:
    """Resolve a day of a month, in the named year or the nearest one on the side of the tense."""
    number = _ORDINALS.get(match["day"].lower().replace(" ", "-")) or int(match["day"])
    if match["year"]:
        return _day_span(date(int(match["year"]), _month(match), number), 0)
    day = date(said_on.year, _month(match), number)
    if past and day > said_on:
        day = date(said_on.year - 1, _month(match), number)
    elif not past and (said_on - day).days > 183:
        day = date(said_on.year + 1, _month(match), number)
    return _day_span(day, 0)


@reads(
    rf"{_LEAD} {_MONTH}(?: (?:of )?{_YEAR})?",
    rf"{_MONTH} {_YEAR}",
    rf"(?P<lead>{_SHIFT}) {_MONTH}(?: (?:of )?{_YEAR})?",
    rf"(?:from|between) [^.;!?]{{3,30}} (?P<lead>to|and|through) {_MONTH}(?: (?:of )?{_YEAR})?",
)
def month(match: re.Match[str], said_on: date, past: bool) -> Span:
    number = _month(match)
    if match["year"]:
        return _month_span(int(match["year"]), number)
    return _month_span(said_on.year - (number > said_on.month) if past else said_on.year + (number < said_on.month), number)


@reads(
    rf"{_LEAD} {_YEAR}",
    rf"{_YEAR}(?=\s?(?:[-–—]|to)\s?{_A_YEAR}\b)",
    rf"{_A_YEAR}\s?(?P<lead>[-–—]|to|and|through)\s?{_YEAR}",
)
def year(match: re.Match[str], said_on: date, past: bool) -> Span:
    return _year_span(int(match["year"]))


@reads(rf"{_LEAD} {_DAY_NAME}(?!s)", rf"(?P<lead>{_SHIFT}) {_DAY_NAME}(?!s)")
def weekday(match: re.Match[str], said_on: date, past: bool) -> Span | None:
    """ "on Friday" of what is neither past nor ahead is every Friday: no date."""
    every = not past and match["lead"].lower() == "on" and not looks_ahead(match.string)
    if every or match["lead"].lower() in ("in", "of") or match["weekday"] in _OTHER_WORDS:
        return None
    at = _DAYS.index(match["weekday"].lower()[:3])
    return _day_span(said_on, -((said_on.weekday() - at) % 7) if past else (at - said_on.weekday()) % 7)


def _day_span(said_on: date, days: int) -> Span:
    day = said_on + timedelta(days=days)
    return day, day, "day"


def _month_span(year: int, month: int) -> Span:
    after = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), after - timedelta(days=1), "month"


def _year_span(year: int) -> Span:
    return date(year, 1, 1), date(year, 12, 31), "year"


def shifted(said_on: date, unit: str, by: int) -> Span:
    """Return the unit that is `by` units before (below 0) or after the day."""
    if unit == "day":
        return _day_span(said_on, by)
    if unit == "month":
        months = said_on.year * 12 + said_on.month - 1 + by
        return _month_span(months // 12, months % 12 + 1)
    if unit == "year":
        return _year_span(said_on.year + by)
    monday = said_on + timedelta(weeks=by, days=-said_on.weekday())
    if unit == "weekend":
        return monday + timedelta(days=5), monday + timedelta(days=6), "day"
    return monday, monday + timedelta(days=6), "week"


def _month(match: re.Match[str]) -> int:
    return _MONTHS.index(match["month"].lower()[:3]) + 1


def _count(word: str) -> int:
    word = word.lower()
    if word.isdigit():
        return int(word)
    return 2 if "couple" in word else 3 if word in ("a few", "several") else _NUMBERS.get(word, 1)


def _steps(match: re.Match[str]) -> int:
    return {"last": -1, "past": -1, "this": 0}.get(match["side"].lower(), 1)


_END = r"\s+(?:the\s+)?(?:very\s+)?(?:(?:end|beginning|middle) of\s+)?(?:the\s+)?$"
_UNTIL = re.compile(rf"\b(?:until|till|up to){_END}", re.IGNORECASE)
_BY = re.compile(rf"\bby{_END}", re.IGNORECASE)
_TO = re.compile(rf"\b(?:(?:from|since)\s+[^.;!?]{{3,30}}\s+(?:to|through)|between\s+[^.;!?]{{3,30}}\s+and){_END}", re.IGNORECASE)
_DASH = re.compile(r"\d\s?(?:[-–—]|to)\s?$", re.IGNORECASE)
_NAMED_YEAR = re.compile(r"\d{4}")
_YEARLY = re.compile(r"\b(?:birthdays?|b-?day|anniversar(?:y|ies)|name[- ]day)\b", re.IGNORECASE)


def validity(text: str, said_on: date) -> tuple[str, str]:
    """(since, until), each "" where the text says nothing of it. said_on: the day it was said, in the speaker's zone.

    "until Friday" and "to 2015" behind "from 2010" end it; "by Friday" ends what is still to be done; any other date begins it.
    Several beginnings: the first that is named.
    """
    if _YEARLY.search(text):
        return "", ""
    dates = mentions(text, said_on)
    moved = [mention for mention in dates if _AHEAD.search(text[max(0, mention.start - LOOKED_BACK) : mention.start])]
    ending = [one for one in dates if one not in moved and any(end.search(text[: one.start]) for end in (_UNTIL, _TO, _DASH))]
    due = [mention for mention in dates if _BY.search(text[: mention.start])]
    begins = next((mention for mention in (*moved, *dates) if mention not in ending and mention not in due), None)
    ends = next(iter(ending if is_past(text) else (*ending, *due)), None)
    if begins and ends and ends.last < begins.first:
        if _TO.search(text[: ends.start]) and not _NAMED_YEAR.search(text[begins.start : begins.end]):
            # "from May to July 2020": the beginning has the year of the end
            year = ends.first.year - (begins.first.month > ends.first.month)
            begins = replace(begins, first=begins.first.replace(year=year, day=min(begins.first.day, 28)))
        ends = None if ends.last < begins.first else ends
    return _as_iso(begins), _as_iso(ends)


def _as_iso(mention: Mention | None) -> str:
    """Return the first day as ISO date: a week by its first day, a season by its first month; "" for None."""
    if mention is None:
        return ""
    length = {"year": 4, "month": 7, "season": 7}.get(mention.precision, 10)
    return mention.first.isoformat()[:length]
