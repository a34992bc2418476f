"""Texts that describe a fact: period, status and origins.

Invariant: a stated date is shown as stated, in the memory's time zone; a recorded moment in the viewer's.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from memoir_engine import FactOrigin, FactView
from ui import engine, figures
from ui import wording_facts as texts

FORMS = {"year": "%Y", "month": "%B %Y", "day": "%Y-%m-%d", "instant": "%Y-%m-%d"}

PEOPLE = ("user", "human")
JUST_BEFORE = timedelta(microseconds=1)


def day(when: datetime) -> str:
    return when.astimezone(figures.zone()).strftime("%Y-%m-%d")


def dated(when: datetime | None, precision: str | None) -> str:
    """Format a date to its stated precision."""
    if when is None:
        return ""
    zone = engine.memory().config.zone if precision in ("year", "month", "day") else figures.zone()
    return when.astimezone(zone).strftime(FORMS.get(precision or "day", "%Y-%m-%d"))


def since(fact: FactView) -> str:
    """Format the start; empty if the fact was already over when it was said."""
    if fact.valid_from is None and fact.end_said and fact.valid_to and fact.said_at and fact.valid_to <= fact.said_at:
        return ""
    return dated(fact.valid_from, fact.valid_from_precision) or day(fact.said_at or fact.recorded_at)


def until(fact: FactView) -> str:
    """Format the end; a stated end includes that whole day, month or year."""
    if fact.valid_to is not None:
        return dated(fact.valid_to - (JUST_BEFORE if fact.end_said else timedelta()), fact.valid_to_precision)
    return day(fact.retired_at) if fact.status == "outdated" and fact.retired_at else ""


def period(fact: FactView) -> str:
    begin, end = since(fact), until(fact)
    if not begin:
        return texts.UNTIL.format(until=end)
    if begin == end:
        return begin
    return texts.FROM_TO.format(since=begin, until=end) if end else texts.SINCE.format(since=begin)


def describe(fact: FactView) -> str:
    return texts.BELIEVED.format(state=texts.STATUSES[fact.status], period=period(fact))


def origins(fact: FactView) -> tuple[FactOrigin, ...]:
    """Return the places where the fact was said, each once: two overlapping cuts may both contain it."""
    return tuple({(one.conversation_id, one.message, one.start, one.end): one for one in reversed(fact.origins)}.values())[::-1]


def place(origin: FactOrigin, whose: str | None) -> str:
    who = origin.speaker or (whose if origin.role in PEOPLE else None) or origin.role
    return texts.SAID_BY.format(who=who, message=origin.message, conversation=origin.conversation_id)
