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
    found = _FORM.fullmatch(written.strip()) if written else None
    if found is None:
        return None
    year, month, day, hour, minute, second = (None if part is None else int(part) for part in found.groups())
    try:
        first = datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=zone)
        return DateRange(first.astimezone(UTC), _after(first, month, day, hour).astimezone(UTC), _precision(month, day, hour))
    except (ValueError, OverflowError):
        return None


_SIGNS = {"year": 4, "month": 7, "day": 10}


def format_date(at: datetime | None, precision: str | None, zone: tzinfo) -> str:
    """Write the date in the zone, with its precision; "" for none."""
    return "" if at is None else at.astimezone(zone).isoformat(timespec="minutes")[: _SIGNS.get(precision or "", 16)]


def _after(first: datetime, month: int | None, day: int | None, hour: int | None) -> datetime:
    if hour is not None:
        return first + timedelta(minutes=1)
    if day is not None:
        return first + timedelta(days=1)
    if month is None or month == 12:
        return first.replace(year=first.year + 1, month=1)
    return first.replace(month=month + 1)


def _precision(month: int | None, day: int | None, hour: int | None) -> Precision:
    if hour is not None:
        return "instant"
    return "day" if day is not None else "month" if month is not None else "year"
