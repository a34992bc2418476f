"""Find the dates a Japanese sentence names, and since when and until when it holds.

Eras (令和, 平成, 昭和), numerals in kanji, days and months counted from the day it was said (再来週, 三ヶ月前) and plain dates.
Invariant: an impossible date gives none; 誕生日 and 記念日 limit nothing. Pure: the day is an argument.
Source: TIMEM "Temporal Context Understanding".
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date

from memoir_offline.rules.date_spans import (
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

_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911}
_DIGITS = {sign: value for value, sign in enumerate("〇一二三四五六七八九")}
_N = r"(?:\d{1,3}|[一二三四五六七八九十]{1,3})"
_SIDES = {"先々": -2, "先": -1, "前": -1, "昨": -1, "この前": -1, "今": 0, "今度": 1, "来": 1, "次": 1, "翌": 1, "再来": 2}
_YEARS = {"一昨年": -2, "おととし": -2, "去年": -1, "昨年": -1, "今年": 0, "本年": 0, "来年": 1, "再来年": 2}
_DAYS = {
    "一昨日": -2,
    "おととい": -2,
    "昨日": -1,
    "昨夜": -1,
    "昨晩": -1,
    "ゆうべ": -1,
    "今日": 0,
    "本日": 0,
    "今朝": 0,
    "今夜": 0,
    "今晩": 0,
}
_DAYS |= {"明日": 1, "明後日": 2, "あさって": 2}
_SEASON = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_YEAR_WORDS = "|".join(sorted(_YEARS, key=len, reverse=True))
_NOT_A_DAY = r"(?!間|以上|ほど|おき|ごと|連続|坊主|目)"
_UNITS = {"日": "day", "週": "week", "月": "month", "年": "year"}


def number(written: str) -> int:
    """Read a number below 100 in figures or kanji: 十六 → 16."""
    if written.isdigit():
        return int(written)
    if "十" in written:
        tens, _, ones = written.partition("十")
        return _DIGITS.get(tens, 1) * 10 + _DIGITS.get(ones, 0)
    return int("".join(str(_DIGITS[sign]) for sign in written))


def _within(year: int, match: re.Match[str]) -> Span:
    """Return the day, month, season or year of a match with the groups month, day and season."""
    if match["season"]:
        return season_of(year, _SEASON[match["season"]])
    if match["day"]:
        return day_of(year, number(match["month"]), number(match["day"]))
    return month_of(year, number(match["month"])) if match["month"] else year_of(year)


_REST = rf"(?:の?(?P<season>[春夏秋冬])(?!休)|の?(?P<month>{_N})月(?:(?P<day>{_N})日)?)?"


def _era(match: re.Match[str], said_on: date, past: bool) -> Span:
    count = 1 if match["count"] == "元" else number(match["count"])
    return _within(_ERAS[match["era"]] + count, match)


def _full(match: re.Match[str], said_on: date, past: bool) -> Span:
    return _within(int(match["year"]), match)


def _relative_year(match: re.Match[str], said_on: date, past: bool) -> Span:
    return _within(said_on.year + _YEARS[match["word"]], match)


def _figures(match: re.Match[str], said_on: date, past: bool) -> Span:
    month, day = int(match["month"]), int(match["day"])
    return day_of(int(match["year"]), month, day) if match["year"] else near_day(said_on, month, day, past)


def _month_day(match: re.Match[str], said_on: date, past: bool) -> Span:
    month = number(match["month"])
    return near_day(said_on, month, number(match["day"]), past) if match["day"] else near_month(said_on, month, past)


def _day_alone(match: re.Match[str], said_on: date, past: bool) -> Span:
    return day_alone(said_on, number(match["day"]), past)


def _relative_month(match: re.Match[str], said_on: date, past: bool) -> Span:
    span = shifted(said_on, "month", _SIDES[match["side"]])
    return day_of(span[0].year, span[0].month, number(match["day"])) if match["day"] else span


def _relative_week(match: re.Match[str], said_on: date, past: bool) -> Span:
    if not match["weekday"]:
        return shifted(said_on, "week", _SIDES[match["side"]])
    return weekday_of(said_on, "月火水木金土日".index(match["weekday"]), _SIDES[match["side"]])


def _weekday(match: re.Match[str], said_on: date, past: bool) -> Span:
    at = "月火水木金土日".index(match["weekday"])
    if match["side"] in ("この前", "前"):
        return weekday_before(said_on, at)
    return shifted(said_on, "day", (at - said_on.weekday() - 1) % 7 + 1)


def _counted(match: re.Match[str], said_on: date, past: bool) -> Span:
    unit = _UNITS[match["unit"][-1]] if match["unit"] != "週間" else "week"
    count = {"半": 6, "数": 3}.get(match["count"], 0) or number(match["count"])
    if match["count"] == "半":
        unit = "month"
    return shifted(said_on, unit, count * (-1 if match["side"][0] in "前以" else 1))


def _named_day(match: re.Match[str], said_on: date, past: bool) -> Span:
    return shifted(said_on, "day", _DAYS[match[0]])


def _weekend(match: re.Match[str], said_on: date, past: bool) -> Span:
    return shifted(said_on, "weekend", _SIDES[match["side"]])


_READERS = tuple(
    Reader(re.compile(pattern), read)
    for pattern, read in (
        (rf"(?P<era>令和|平成|昭和|大正)(?P<count>元|{_N})年{_REST}", _era),
        (rf"(?P<year>(?:1[89]|20)\d\d)年(?!代|間|以上){_REST}", _full),
        (r"(?:(?P<year>(?:1[89]|20)\d\d)[/.-])(?P<month>1[0-2]|0?[1-9])[/.-](?P<day>3[01]|[12]\d|0?[1-9])(?!\d)", _figures),
        (r"(?<![\d/])(?P<year>(?!))?(?P<month>1[0-2]|0?[1-9])/(?P<day>3[01]|[12]\d|0?[1-9])(?![\d/])", _figures),
        (rf"(?P<word>{_YEAR_WORDS}){_REST}", _relative_year),
        (rf"(?<![ヶか\d々])(?P<month>{_N})月(?:(?P<day>{_N})日{_NOT_A_DAY})?", _month_day),
        (rf"(?<![月前\d一二三四五六七八九十数])(?P<day>{_N})日(?=[のにはがで、]|まで|から|$)(?!間)", _day_alone),
        (rf"(?P<side>先々|先|今|来|再来|翌)月(?:の?(?P<day>{_N})日)?", _relative_month),
        (r"(?P<side>先々|先|今|来|再来|翌)週(?!末)(?:の?(?P<weekday>[月火水木金土日])曜日?)?", _relative_week),
        (r"(?P<side>先|今|再来|来)週末", _weekend),
        (r"(?P<side>この前|今度|次|前)の?(?P<weekday>[月火水木金土日])曜日?", _weekday),
        (
            rf"(?P<count>{_N}|半|数)(?P<unit>日|週間|[ヶかカヵ]?月|年)(?P<side>ほど前|くらい前|ぐらい前|前|以前|後)(?!後)",
            _counted,
        ),
        ("|".join(sorted(_DAYS, key=len, reverse=True)), _named_day),
    )
)
_PAST = re.compile(
    r"(?:た|だった|でした|ました)(?:[。、!！.けがのんよねしら]|$)|から(?:ずっと|住|働|勤|通|続|飼)|以来|て、?(?:今|いま|現在)[はもで]"
)
_AHEAD = re.compile(
    "予約|申し込|決ま|決め|延期|変更|予定|ことに|回[すし]|延ばし|ずらし|(?:日|曜日?|月|週|に)に(?:な|変|移|し(?:た|ま))"
)
_UNTIL = re.compile(r"(?:[のいっぱい末頃ごろ]{0,4})(?:まで|迄)")
_YEARLY = re.compile("誕生日|記念日|命日|バースデー")


def mentions(text: str, said_on: date) -> list[Mention]:
    """Return the dates in the order of the text, never overlapping. said_on: the day it was said, in the speaker's zone."""
    plain = "".join(
        unicodedata.normalize("NFKC", sign) if len(unicodedata.normalize("NFKC", sign)) == 1 else sign for sign in text
    )
    return mentions_of(plain, said_on, bool(_PAST.search(plain) and not _AHEAD.search(plain)), _READERS)


def validity(text: str, said_on: date) -> tuple[str, str]:
    """(since, until), each "" where the text says nothing of it: 金曜まで ends it, any other date begins it."""
    if _YEARLY.search(text):
        return "", ""
    return held(mentions(text, said_on), lambda mention: bool(_UNTIL.match(text, mention.end)))
