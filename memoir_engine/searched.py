"""What a search is given, looked at once, at the border.

Source: MEMOLLA F-03-03, E004; DESIGN §11.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING, get_args

from memoir_engine import given
from memoir_engine.errors import InvalidSetting, QuestionEmpty, TopKInvalid

if TYPE_CHECKING:
    from memoir_engine.search.ranking import Asked
    from memoir_engine.store.sifting import Sieve

MOST_FOUND = 1_000
QUERY_CHARS = 10_000
MOST_SHARE = 1e300  # a number beyond is refused like this one
Day = str | date
Sources = Iterable[int] | None
Kinds = Iterable[str] | None

_ISO = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")


def asked(query: object, top_k: object, alpha: object, fanout: object, candidates: object = False) -> Asked:
    from memoir_engine.search.fusion import check
    from memoir_engine.search.ranking import Asked

    words = given.text("query", query)
    if not words.strip():
        raise QuestionEmpty()
    if len(words) > QUERY_CHARS:
        problem = f"it is {len(words)} characters long"
        raise InvalidSetting(name="query", value="…", problem=problem, advice=f"Shorten it to {QUERY_CHARS} characters.")
    if isinstance(top_k, int) and not isinstance(top_k, bool) and top_k <= 0:
        raise TopKInvalid()
    most, wide = given.whole("top_k", top_k, least=1), given.whole("fanout", fanout, least=1)
    if most > MOST_FOUND:
        raise InvalidSetting(name="top_k", value=most, problem=f"it is more than {MOST_FOUND}", advice="Ask for fewer.")
    share = _share(alpha)
    check(most, share, wide)
    return Asked(words, most, share, min(wide, MOST_FOUND), everything=given.flag("candidates", candidates))


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        advice = "Give a number from 0 (words only) to 1 (vectors only); the default is 0.5."
        raise InvalidSetting(name="alpha", value=value, problem="it is no number", advice=advice)
    return float(value) if abs(value) <= MOST_SHARE else MOST_SHARE


def sieve(sources: Sources, kinds: Kinds, since: Day | None, until: Day | None) -> Sieve:
    from memoir_engine.store.sifting import Sieve

    first, last = _day("since", since), _day("until", until)
    if last is not None:
        last += {4: "-12-31", 7: "-31"}.get(len(last), "")
    if first is not None and last is not None and first > last:
        advice = "Give the earlier one as since; both days are included."
        raise InvalidSetting(name="since", value=since, problem=f"it is later than until, {until!s}", advice=advice)
    return Sieve(
        sources=None if sources is None else given.sources(sources),
        kinds=None if kinds is None else _kinds(kinds),
        since=first,
        until=last,
    )


def _kinds(value: object) -> tuple[str, ...]:
    from memoir_engine.files.document import Kind
    from memoir_engine.store.sifting import CONVERSATION

    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        advice = "Give kinds such as ('pdf', 'conversation'), or leave it out."
        raise InvalidSetting(name="kinds", value=value, problem="it must be a list of kinds", advice=advice)
    found = tuple(given.text("kinds", each) for each in value)
    known = (CONVERSATION, *get_args(Kind))
    advice = f"Known are {', '.join(known)}; leave it out to search all."
    if not found:
        raise InvalidSetting(name="kinds", value=value, problem="there is no kind in it", advice=advice)
    for each in found:
        if each not in known:
            raise InvalidSetting(name="kinds", value=each, problem="there is no such kind", advice=advice)
    return found


def _day(name: str, value: object) -> str | None:
    """A year, a month or a day, ISO 8601."""
    if value is None:
        return None
    told = value.isoformat()[:10] if isinstance(value, date) else value
    if not isinstance(told, str) or not _ISO.fullmatch(told) or not _is_day(told):
        advice = "Give a date, or a text such as '2024', '2024-05' or '2024-05-17'."
        raise InvalidSetting(name=name, value=value, problem="it is no date", advice=advice)
    return told


def _is_day(told: str) -> bool:
    """Whether the calendar has it; a year or a month by its first day."""
    try:
        date.fromisoformat(told + "-01-01"[: 10 - len(told)])
    except ValueError:
        return False
    return True
