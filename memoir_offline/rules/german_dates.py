"""Find the dates a German sentence names, and since when and until when it holds.

Invariant: an impossible date gives none; a birthday limits nothing. Pure: the day is an argument.
Source: TIMEM "Temporal Context Understanding".
"""

from __future__ import annotations

import re
from datetime import date

from memoir_offline.rules.date_spans import (
    SEASONS,
    Reader,
    day_alone,
    day_of,
    held,
    mentions_of,
    month_of,
    near_day,
    near_month,
    season_of,
    weekday_before,
    weekday_of,
    year_of,
)
from memoir_offline.rules.dates import Mention, Span, shifted

_MONTHS = "jan feb mär apr mai jun jul aug sep okt nov dez".split()
_NAMES = "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
_MONTH = rf"(?P<month>{_NAMES})"
_WEEKDAYS = "montag dienstag mittwoch donnerstag freitag samstag sonntag".split()
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"
_SEASON = {"frühling": "spring", "frühjahr": "spring", "sommer": "summer", "herbst": "autumn", "winter": "winter"}
_YEAR = r"(?P<year>(?:1[89]|20)\d\d)"
_COUNTS = dict(zip("ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(), range(1, 13), strict=True))
_COUNT = r"(?P<count>\d{1,2}|eine[mnr]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|ein paar)"
_UNIT = r"(?P<unit>tag|woche|monat|jahr)(?:en|n|e)?"
_UNITS = {"tag": "day", "woche": "week", "monat": "month", "jahr": "year", "wochenende": "weekend"}
_SIDE = r"(?P<side>letzte[nmsr]?|vergangene[nmsr]?|diese[nmsr]?|kommende[nmsr]?|nächste[nmsr]?)"
_DAYS = {"vorgestern": -2, "gestern": -1, "heute": 0, "morgen": 1, "übermorgen": 2}


def _month_number(match: re.Match[str]) -> int:
    return _MONTHS.index(match["month"].casefold()[:3]) + 1


def _steps(match: re.Match[str]) -> int:
    return {"l": -1, "v": -1, "d": 0}.get(match["side"].casefold()[0], 1)


def _counted(word: str) -> int:
    low = word.casefold()
    return (
        int(low)
        if low.isdigit()
        else 3
        if low == "ein paar"
        else next((n for key, n in _COUNTS.items() if low.startswith(key)), 1)
    )


def _named_day(match: re.Match[str], said_on: date, past: bool) -> Span:
    return shifted(said_on, "day", _DAYS[match["word"].casefold()])


def _ago(match: re.Match[str], said_on: date, past: bool) -> Span:
    return shifted(said_on, _UNITS[match["unit"].casefold()], -_counted(match["count"]))


def _ahead(match: re.Match[str], said_on: date, past: bool) -> Span | None:
    return None if past else shifted(said_on, _UNITS[match["unit"].casefold()], _counted(match["count"]))


def _beside(match: re.Match[str], said_on: date, past: bool) -> Span:
    return shifted(said_on, _UNITS[match["unit"].casefold()], _steps(match))


def _beside_weekday(match: re.Match[str], said_on: date, past: bool) -> Span:
    at, steps = _WEEKDAYS.index(match["weekday"].casefold()), _steps(match)
    if steps < 0:
        return weekday_before(said_on, at)
    return (
        weekday_of(said_on, at, 1)
        if match["side"].casefold().startswith("n")
        else shifted(said_on, "day", (at - said_on.weekday()) % 7)
    )


def _beside_month(match: re.Match[str], said_on: date, past: bool) -> Span:
    number, steps = _month_number(match), _steps(match)
    if steps < 0:
        return month_of(said_on.year - (number >= said_on.month), number)
    return month_of(said_on.year + (number < said_on.month or (steps > 0 and number == said_on.month)), number)


def _season(match: re.Match[str], said_on: date, past: bool) -> Span:
    if match.groupdict().get("year"):
        return season_of(int(match["year"]), SEASONS[_SEASON[match["season"].casefold()]])
    first, steps = SEASONS[_SEASON[match["season"].casefold()]], _steps(match) if match["side"] else -1 if past else 0
    spans = [season_of(year, first) for year in range(said_on.year - 2, said_on.year + 3)]
    if steps < 0:
        return [span for span in spans if span[1] < said_on or span[0] <= said_on and not match["side"]][-1]
    return next(span for span in spans if (span[0] > said_on if steps > 0 else span[1] >= said_on))


def _full_day(match: re.Match[str], said_on: date, past: bool) -> Span:
    month = int(match["number"]) if "number" in match.groupdict() else _month_number(match)
    if match["year"]:
        return day_of(int(match["year"]), month, int(match["day"]))
    return near_day(said_on, month, int(match["day"]), past)


def _month(match: re.Match[str], said_on: date, past: bool) -> Span:
    if match["year"]:
        return month_of(int(match["year"]), _month_number(match))
    return near_month(said_on, _month_number(match), past)


def _day_alone(match: re.Match[str], said_on: date, past: bool) -> Span:
    return day_alone(said_on, int(match["day"]), past)


def _year(match: re.Match[str], said_on: date, past: bool) -> Span:
    return year_of(int(match["year"]))


def _weekday(match: re.Match[str], said_on: date, past: bool) -> Span:
    at = _WEEKDAYS.index(match["weekday"].casefold())
    return shifted(said_on, "day", -((said_on.weekday() - at) % 7) if past else (at - said_on.weekday()) % 7)


_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])\."
_READERS = tuple(
    Reader(re.compile(rf"\b{pattern}", re.IGNORECASE), read)
    for pattern, read in (
        (rf"{_DAY}(?P<number>1[0-2]|0?[1-9])\.(?:{_YEAR}\b)?", _full_day),
        (rf"{_DAY}\s?{_MONTH}\b(?:\s{_YEAR}\b)?", _full_day),
        (rf"(?:im|seit|ab|bis|anfang|mitte|ende|vom|zum)\s(?:anfang |mitte |ende )?{_MONTH}\b(?:\s{_YEAR}\b)?", _month),
        (rf"{_SIDE}\s(?:{_MONTH})\b", _beside_month),
        (rf"{_SIDE}\s{_WEEKDAY}\b", _beside_weekday),
        (rf"{_SIDE}\s(?P<unit>wochenende|tag|woche|monat|jahr)\b", _beside),
        (rf"(?:(?:im|seit)\s)?(?:{_SIDE}\s)(?P<season>frühling|frühjahr|sommer|herbst|winter)\b", _season),
        (rf"(?:im|seit)\s(?P<side>(?!))?(?P<season>frühling|frühjahr|sommer|herbst|winter)\b(?:\s{_YEAR}\b)?", _season),
        (rf"(?:vor|seit)\s{_COUNT}\s{_UNIT}\b", _ago),
        (rf"in\s{_COUNT}\s{_UNIT}\b", _ahead),
        (r"(?<!jeden )(?<!guten )(?P<word>vorgestern|übermorgen|gestern|heute|morgen)\b(?! früh auf)", _named_day),
        (rf"(?:seit|in|ab|bis|von|jahr|ende|anfang|sommer|herbst|winter|frühjahr)\s{_YEAR}\b", _year),
        (rf"(?:am|bis|ab|seit)\s(?:kommenden\s)?{_WEEKDAY}\b(?!s)", _weekday),
        (rf"(?:am|zum|den|der|vom)\s{_DAY}(?!\s?(?:\d|{_NAMES}))", _day_alone),
    )
)
_PAST = re.compile(
    r"\b(?:war|hatte|wurde|ging|kam|fuhr|gestern|vorgestern|seit|vor (?:\d|ein|zwei|drei))\b"
    r"|\b(?:habe|hab|hat|haben|bin|ist|sind)\b.{0,80}\b(?:\w*ge\w{2,}(?:t|en)|\w+iert|(?:be|ver|er)\w{3,}(?:t|en))\b",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"\b(?:verschoben|verlegt|umgebucht|ausweichen|rückt|findet|gebucht|geplant|angemeldet|vereinbart|termin|werde|wird|will|möchte)\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"\bbis\s(?:zum\s|ende\s|anfang\s|mitte\s)*$", re.IGNORECASE)
_YEARLY = re.compile(r"\b(?:geburtstag|jahrestag|hochzeitstag|namenstag)", re.IGNORECASE)


def mentions(text: str, said_on: date) -> list[Mention]:
    """Return the dates in the order of the text, never overlapping. said_on: the day it was said, in the speaker's zone."""
    return mentions_of(text, said_on, bool(_PAST.search(text) and not _AHEAD.search(text)), _READERS)


def validity(text: str, said_on: date) -> tuple[str, str]:
    """(since, until), each "" where the text says nothing of it: "bis Freitag" ends it, any other date begins it."""
    if _YEARLY.search(text):
        return "", ""
    begins_with_until = re.compile(r"bis\b", re.IGNORECASE)
    return held(
        mentions(text, said_on),
        lambda mention: bool(_UNTIL.search(text[: mention.start]) or begins_with_until.match(text[mention.start : mention.end])),
    )
