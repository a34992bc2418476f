"""Find the dates that a sentence names, and from them since when and until when it holds.

Invariants:
- `text[m.start:m.end]` is the mention; `first <= last`; an impossible date gives none; a duration is not a date;
- validity is in ISO dates as precise as the text, or ""; nothing ends before it begins; a birthday does not limit validity.
Weeks begin on Monday, seasons are those of the northern hemisphere. "last Friday" is the Friday before the day it was said,
"next Friday" the one of the week after; a bare weekday or month is past after a past tense or "since", else ahead.
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
_COUNT = (
    r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|a couple(?: of)?|a few|several)"
)
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


def mentions(text: str, said: date) -> list[Mention]:
    """Return the dates in the order of the text, never overlapping. said: the day it was said, in the speaker's zone."""
    found: list[Mention] = []
    for mention in sorted(_all(text, said), key=lambda m: (m.start, m.start - m.end)):
        if not found or mention.start >= found[-1].end:
            found.append(mention)
    return found


# the same in the present, but with a date told of what is done: "quit my job in December"
_DONE = re.compile(
    r"\b(?:I|we|you|he|she|they)\s+(?:\w+ly\s+|just\s+|also\s+|then\s+)?(?:put|set|quit|cut|shut|beat|bet|hit|hurt|wed)\b",
    re.IGNORECASE,
)
_LARGE = re.compile(r"\b(?:Sat|Wed)\b")  # days, not what somebody did
_COUNTED = re.compile(rf"\b(?:\d+|{'|'.join(_NUMBERS)})\b", re.IGNORECASE)
_SINCE = re.compile(r"\bsince\s+(?:the\s+)?$", re.IGNORECASE)


def _all(text: str, said: date) -> Iterator[Mention]:
    past = is_past(_LARGE.sub(" ", text)) or bool(not looks_ahead(text) and _DONE.search(text))
    for pattern, read in _RULES:
        for found in pattern.finditer(text):
            start = _start(found)
            try:
                span = read(found, said, past or bool(_SINCE.search(text[:start])))
            except (ValueError, OverflowError):  # the 31st of February, a year no calendar has
                continue
            if span is not None:
                yield Mention(start, found.end(), *span)


def _start(found: re.Match[str]) -> int:
    """Return the offset of the date after its preposition."""
    start = found.end("lead") if "lead" in found.re.groupindex else found.start()
    return start + len(found.string[start:]) - len(found.string[start:].lstrip())


def _today(found: re.Match[str], said: date, past: bool) -> Span:
    words = found.group().lower()
    shift = {"day before yesterday": -2, "day after tomorrow": 2, "yesterday": -1, "last night": -1, "tomorrow": 1}
    return _days(said, next((by for name, by in shift.items() if name in words), 0))


def _ago(found: re.Match[str], said: date, past: bool) -> Span:
    return _shifted(said, found["unit"].lower(), -_count(found["count"]))


def _ahead(found: re.Match[str], said: date, past: bool) -> Span | None:
    """ "lost five kilos in two months", "drinks two coffees in a day": how long it takes is no date."""
    takes = _COUNTED.search(found.string, 0, found.start()) and found["count"].lower() in ("a", "an", "one")
    if found["in"] and (past or (takes and not looks_ahead(found.string))):
        return None
    return _shifted(said, found["unit"].lower(), _count(found["count"]))


def _side_of_unit(found: re.Match[str], said: date, past: bool) -> Span | None:
    unit = found["unit"].lower()
    if unit == "day":
        return None
    if found["side"].lower() == "past" and unit == "year":
        return _shifted(said, "year", -1)
    return _shifted(said, unit, _steps(found["side"]))


def _side_of_weekday(found: re.Match[str], said: date, past: bool) -> Span | None:
    if _is_other_word(found["weekday"]):
        return None
    at, steps = _DAYS.index(found["weekday"].lower()[:3]), _steps(found["side"])
    if steps < 0:
        return _days(said, -(((said.weekday() - at - 1) % 7) + 1))
    if found["side"].lower() == "next":
        return _days(said, 7 - said.weekday() + at)
    return _days(said, (at - said.weekday()) % 7)


def _side_of_month(found: re.Match[str], said: date, past: bool) -> Span:
    month, steps = _month(found), _steps(found["side"])
    year = said.year
    if steps < 0:
        year -= 1 if month >= said.month else 0
    elif steps > 0:
        year += 1 if month <= said.month else 0
    return _of_month(year, month)


def _side_of_season(found: re.Match[str], said: date, past: bool) -> Span:
    first = _SEASONS[found["season"].lower()]
    steps = _steps(found["side"])
    spans = [_season(year, first) for year in range(said.year - 2, said.year + 3)]
    if steps < 0:
        return [span for span in spans if span[1] < said][-1]
    return next(span for span in spans if (span[0] > said if steps > 0 else span[1] >= said))


def _weekday(found: re.Match[str], said: date, past: bool) -> Span | None:
    """ "on Friday" of what is neither past nor ahead is every Friday: no date."""
    every = not past and found["lead"].lower() == "on" and not looks_ahead(found.string)
    if every or found["lead"].lower() in ("in", "of") or _is_other_word(found["weekday"]):
        return None
    at = _DAYS.index(found["weekday"].lower()[:3])
    return _days(said, -((said.weekday() - at) % 7)) if past else _days(said, (at - said.weekday()) % 7)


def _is_other_word(weekday: str) -> bool:
    """Report a word that names a day only if capitalised: sun, sat, wed."""
    return weekday in ("sun", "sat", "wed")


def _iso(found: re.Match[str], said: date, past: bool) -> Span:
    day = date(int(found["year"]), int(found["number"]), int(found["day"]))
    return day, day, "day"


def _dated(found: re.Match[str], said: date, past: bool) -> Span:
    """Resolve a day of a month, in the named year or the nearest one on the side of the tense."""
    number = _ORDINALS.get(found["day"].lower().replace(" ", "-")) or int(found["day"])
    if found["year"]:
        day = date(int(found["year"]), _month(found), number)
    else:
        day = date(said.year, _month(found), number)
        if past and day > said:
            day = date(said.year - 1, _month(found), number)
        elif not past and (said - day).days > 183:
            day = date(said.year + 1, _month(found), number)
    return day, day, "day"


def _in_month(found: re.Match[str], said: date, past: bool) -> Span:
    month = _month(found)
    if found["year"]:
        return _of_month(int(found["year"]), month)
    later = 0 if month >= said.month else 1
    return _of_month(said.year - (1 if month > said.month else 0) if past else said.year + later, month)


def _in_year(found: re.Match[str], said: date, past: bool) -> Span:
    year = int(found["year"])
    return date(year, 1, 1), date(year, 12, 31), "year"


def _days(said: date, by: int) -> Span:
    day = said + timedelta(days=by)
    return day, day, "day"


def _shifted(said: date, unit: str, by: int) -> Span:
    monday = said - timedelta(days=said.weekday())
    if unit == "day":
        return _days(said, by)
    if unit == "week":
        first = monday + timedelta(weeks=by)
        return first, first + timedelta(days=6), "week"
    if unit == "weekend":
        first = monday + timedelta(weeks=by, days=5)
        return first, first + timedelta(days=1), "day"
    if unit == "month":
        months = said.year * 12 + said.month - 1 + by
        return _of_month(months // 12, months % 12 + 1)
    return date(said.year + by, 1, 1), date(said.year + by, 12, 31), "year"


def _of_month(year: int, month: int) -> Span:
    after = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), after - timedelta(days=1), "month"


def _season(year: int, first: int) -> Span:
    last = _of_month(year + (first + 1) // 12, (first + 1) % 12 + 1)[1]
    return date(year, first, 1), last, "season"


def _month(found: re.Match[str]) -> int:
    return _MONTHS.index(found["month"].lower()[:3]) + 1


def _count(word: str) -> int:
    word = word.lower()
    if word.isdigit():
        return int(word)
    return 2 if "couple" in word else 3 if word in ("a few", "several") else _NUMBERS.get(word, 1)


def _steps(side: str) -> int:
    return {"last": -1, "past": -1, "this": 0}.get(side.lower(), 1)


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}\b", re.IGNORECASE)


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date, bool], Span | None]], ...] = (
    (
        _rule(
            r"(?:(?:the )?day (?:before yesterday|after tomorrow)|yesterday|tomorrow|today|tonight|last night"
            r"|this (?:morning|afternoon|evening))"
        ),
        _today,
    ),
    (_rule(rf"{_COUNT} {_UNIT} ago"), _ago),
    (_rule(rf"(?P<in>)?{_COUNT} {_UNIT} from now"), _ahead),
    (_rule(rf"(?P<in>in) {_COUNT} {_UNIT}(?!['’])"), _ahead),
    (_rule(rf"(?:the )?{_SIDE} {_UNIT}"), _side_of_unit),
    (_rule(rf"(?:the )?{_SIDE} {_DAY_NAME}"), _side_of_weekday),
    (_rule(rf"{_SIDE} {_MONTH}"), _side_of_month),
    (_rule(rf"(?:the )?{_SIDE} (?P<season>spring|summer|autumn|fall|winter)"), _side_of_season),
    (_rule(r"(?P<year>(?:1[89]|20)\d\d)-(?P<number>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])"), _iso),
    (_rule(rf"(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?"), _dated),
    (_rule(rf"(?:the )?{_ORDINAL} of {_MONTH}(?:,? {_YEAR})?"), _dated),
    (_rule(rf"{_MONTH} (?:the )?{_ORDINAL}(?:,? {_YEAR})?"), _dated),
    (_rule(rf"{_MONTH} (?:the )?{_DAY}(?!\d)(?:,? {_YEAR})?"), _dated),
    (_rule(rf"{_LEAD} {_MONTH}(?: (?:of )?{_YEAR})?"), _in_month),
    (_rule(rf"{_MONTH} {_YEAR}"), _in_month),
    (_rule(rf"{_LEAD} {_YEAR}"), _in_year),
    (_rule(rf"{_YEAR}(?=\s?(?:[-–—]|to)\s?{_A_YEAR}\b)"), _in_year),
    (_rule(rf"{_A_YEAR}\s?(?P<lead>[-–—]|to|and|through)\s?{_YEAR}"), _in_year),
    (_rule(rf"(?:from|between) [^.;!?]{{3,30}} (?P<lead>to|and|through) {_MONTH}(?: (?:of )?{_YEAR})?"), _in_month),
    (_rule(rf"{_LEAD} {_DAY_NAME}(?!s)"), _weekday),
)


_END = r"\s+(?:the\s+)?(?:very\s+)?(?:(?:end|beginning|middle) of\s+)?(?:the\s+)?$"
_UNTIL = re.compile(rf"\b(?:until|till|up to){_END}", re.IGNORECASE)
_BY = re.compile(rf"\bby{_END}", re.IGNORECASE)
_TO = re.compile(rf"\b(?:(?:from|since)\s+[^.;!?]{{3,30}}\s+(?:to|through)|between\s+[^.;!?]{{3,30}}\s+and){_END}", re.IGNORECASE)
_DASH = re.compile(r"\d\s?(?:[-–—]|to)\s?$", re.IGNORECASE)
_NAMED_YEAR = re.compile(r"\d{4}")
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
    """Give the beginning the year of the end: "from May to July 2020"."""
    if not _TO.search(text[: ends.start]) or _NAMED_YEAR.search(text[begins.start : begins.end]):
        return begins
    year = ends.first.year - (begins.first.month > ends.first.month)
    return replace(begins, first=begins.first.replace(year=year, day=min(begins.first.day, 28)))


def _ends(before: str) -> bool:
    return any(one.search(before) for one in (_UNTIL, _TO, _DASH))


def _written(mention: Mention | None) -> str:
    """Return the first day as ISO date: a week by its first day, a season by its first month."""
    if mention is None:
        return ""
    length = {"year": 4, "month": 7, "season": 7}.get(mention.precision, 10)
    return mention.first.isoformat()[:length]
