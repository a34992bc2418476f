"""Times before the lines of a pasted conversation, as messengers write them: [12/05/2024, 10:30], 13.05.24, 9:05 - , 10:30.

Invariant: whether the day or the month comes first is the same in all lines of one text, and is concluded: from a number above
12, from full stops, from AM and PM, from the order of the lines, else from the country whose time it is. Where nothing tells,
there is no time, and a warning says so. Pure but for the warning. Source: CHUNK 2.1; spec README, small print on times.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from datetime import datetime, tzinfo

_CLOCK = r"\d\d?:\d\d(?::\d\d)?"
_HALF = r"(?:[ \u00a0\u202f]?[AaPp]\.?[Mm]\.?)?"
WRITTEN = (
    rf"\d{{4}}-\d\d-\d\d[T ,]+{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?"
    rf"|\d{{1,4}}[./-]\d\d?[./-]\d{{2,4}}[, ]{{1,2}}{_CLOCK}{_HALF}|{_CLOCK}{_HALF}"
)
MARKS = "\ufeff\u200e\u200f\u202a\u202c \t"  # what messengers put before a line, to be seen by nobody
_DATED = re.compile(
    rf"(?P<a>\d{{1,4}})(?P<sign>[./-])(?P<b>\d\d?)[./-](?P<c>\d{{2,4}})[, ]+(?P<clock>{_CLOCK})"
    r"[ \u00a0\u202f]?(?P<half>[AaPp])?.*"
)
_UNITED_STATES = frozenset(
    f"America/{city}" for city in ("New_York", "Chicago", "Denver", "Los_Angeles", "Phoenix", "Detroit", "Anchorage", "Boise")
) | {"Pacific/Honolulu"}
_UNCLEAR = "The times of this conversation are left out: whether {example} is of {one} or {other} is not told by any line of it."


def moments(written: Sequence[str | None], zone: tzinfo) -> list[datetime | None]:
    """Of each line, as it was written. zone: of times without one. A time of day without a day is none."""
    dated = [None if one is None else _DATED.fullmatch(one) for one in written]
    numeric = [hit for hit in dated if hit]
    day_first = _day_first(numeric, zone)
    if day_first is None and numeric:
        warnings.warn(_unclear(numeric[0]), UserWarning, stacklevel=3)
    return [
        _of_iso(one, zone) if hit is None else None if day_first is None else _of(hit, zone, day_first=day_first)
        for one, hit in zip(written, dated, strict=True)
    ]


def _day_first(dated: Sequence[re.Match[str]], zone: tzinfo) -> bool | None:
    """None where both orders fit."""
    orders = [first for first in (True, False) if all(_of(hit, zone, day_first=first) for hit in dated)]
    if len(orders) != 2:
        return orders[0] if orders else True
    if any(hit["sign"] == "." for hit in dated):
        return True
    if any(hit["half"] for hit in dated):
        return False
    if all(_of(hit, zone, day_first=True) == _of(hit, zone, day_first=False) for hit in dated):
        return True
    fits = [first for first in orders if _rises([_of(hit, zone, day_first=first) for hit in dated])]
    return fits[0] if len(fits) == 1 else _day_first_in(str(getattr(zone, "key", "")))


def _day_first_in(zone: str) -> bool | None:
    """zone: by its name; of UTC and of the two Americas beside the United States no habit is known."""
    if zone in _UNITED_STATES:
        return False
    return True if zone.partition("/")[0] in ("Europe", "Asia", "Africa", "Australia", "Atlantic", "Indian") else None


def _rises(times: Sequence[datetime | None]) -> bool:
    known = [one for one in times if one is not None]
    return all(one <= other for one, other in zip(known, known[1:], strict=False))


def _of(hit: re.Match[str], zone: tzinfo, *, day_first: bool) -> datetime | None:
    a, b, c = int(hit["a"]), int(hit["b"]), int(hit["c"])
    if len(hit["a"]) == 4:
        year, month, day = a, b, c
    else:
        year, month, day = (c if c > 99 else 2000 + c), *((b, a) if day_first else (a, b))
    hour, minute, second = (int(one) for one in f"{hit['clock']}:0".split(":")[:3])
    if hit["half"]:
        hour = hour % 12 + (12 if hit["half"] in "Pp" else 0)
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=zone)
    except ValueError:
        return None


def _of_iso(written: str | None, zone: tzinfo) -> datetime | None:
    try:
        at = datetime.fromisoformat(re.sub(r"[T ,]+", "T", written, count=1)) if written else None
    except ValueError:
        return None
    return at if at is None or at.tzinfo else at.replace(tzinfo=zone)


def _unclear(hit: re.Match[str]) -> str:
    one, other = (
        f"{day} {_MONTHS[month - 1]}" for day, month in ((int(hit["a"]), int(hit["b"])), (int(hit["b"]), int(hit["a"])))
    )
    return _UNCLEAR.format(example=hit[0].split(",")[0], one=one, other=other)


_MONTHS = "January February March April May June July August September October November December".split()
