"""Dates of any precision, as intervals of time.

Invariant: `first < after`; "2023-05" in a zone is from the first moment of that May there until the first of June.
Source: spec README (small print on times): understood in the user's zone, stored in UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

from memoir_engine.core.results.facts import Precision

_FORM = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?)?)?", re.ASCII)


class DateRange(NamedTuple):
    """Interval from `first` until before `after`, both UTC."""

    first: datetime
    after: datetime
    precision: Precision


def parse_date_range(written: str | None, zone: tzinfo) -> DateRange | None:
    """Parse YYYY, YYYY-MM, YYYY-MM-DD, or a date with a time; None for anything else, and for dates that do not exist."""
    match = _FORM.fullmatch(written.strip()) if written else None
    if match is None:
        return None
    year, month, day, hour, minute, second = (None if part is None else int(part) for part in match.groups())
    precision: Precision
    precision = "instant" if hour is not None else "day" if day is not None else "month" if month is not None else "year"
    try:
        first = datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=zone)
        if precision in ("instant", "day"):
            after = first + (timedelta(minutes=1) if precision == "instant" else timedelta(days=1))
        elif month is None or month == 12:
            after = first.replace(year=first.year + 1, month=1)
        else:
            after = first.replace(month=month + 1)
        return DateRange(first.astimezone(UTC), after.astimezone(UTC), precision)
    except (ValueError, OverflowError):
        return None


_SIGNS = {"year": 4, "month": 7, "day": 10}
_JUST_BEFORE = timedelta(microseconds=1)


def format_date(at: datetime | None, precision: str | None, zone: tzinfo) -> str:
    """Write the date in the zone, with its precision; "" for none."""
    return "" if at is None else at.astimezone(zone).isoformat(timespec="minutes")[: _SIGNS.get(precision or "", 16)]


def format_end(until: datetime | None, precision: str | None, zone: tzinfo, *, is_stated: bool) -> str:
    """Write an end in the zone: a stated one as it was stated, since "until 2015" holds until 2016 begins."""
    is_whole = is_stated and precision in _SIGNS
    return format_date(until - _JUST_BEFORE if until is not None and is_whole else until, precision, zone)
