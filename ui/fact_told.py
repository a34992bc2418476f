"""A fact in words: since when, in which state, where it was said."""

from __future__ import annotations

from datetime import UTC, datetime

from memoir_engine import FactOrigin, FactView
from ui import figures
from ui import wording_facts as said

FORMS = {"year": "%Y", "month": "%B %Y", "day": "%Y-%m-%d", "instant": "%Y-%m-%d"}

PEOPLE = ("user", "human")


def day(when: datetime) -> str:
    return when.astimezone(figures.zone()).strftime("%Y-%m-%d")


def dated(when: datetime | None, precision: str | None) -> str:
    """As precisely as it was said; a date that was said is the same in every zone."""
    if when is None:
        return ""
    return when.astimezone(UTC if precision != "instant" else figures.zone()).strftime(FORMS.get(precision or "day", "%Y-%m-%d"))


def since(fact: FactView) -> str:
    return dated(fact.valid_from, fact.valid_from_precision) or day(fact.said_at or fact.recorded_at)


def until(fact: FactView) -> str:
    if fact.valid_to is not None:
        return dated(fact.valid_to, fact.valid_to_precision)
    return day(fact.retired_at) if fact.status == "outdated" and fact.retired_at else ""


def period(fact: FactView) -> str:
    end = until(fact)
    return said.FROM_TO.format(since=since(fact), until=end) if end else said.SINCE.format(since=since(fact))


def told(fact: FactView) -> str:
    return said.BELIEVED.format(state=said.STATUSES[fact.status], period=period(fact))


def place(origin: FactOrigin, whose: str | None) -> str:
    who = origin.speaker or (whose if origin.role in PEOPLE else None) or origin.role
    return said.SAID_BY.format(who=who, message=origin.message, conversation=origin.conversation_id)
