"""Validate the messages of callers: role, content, time and session.

Invariant: what passes can be stored by every database. A role unknown to models is kept by its name.
Source: MEMOLLA F-01; SESSION 6.4; DESIGN §11.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from memoir_engine.core import validation
from memoir_engine.core.errors import ConversationInputMissing, InvalidSetting, MessageRefused, RunNotFound
from memoir_engine.core.results import MessageRecord
from memoir_engine.text.messages import Message, parse_message, to_record

SESSION_CHARS = 200
ROLE_CHARS = 200
RUN_CHARS = 26
MOST_KEPT = 2**31 - 1  # messages of a session: every database counts so far
MOST_SECONDS = sys.float_info.max
_KINDS = {"user": "human", "human": "human", "assistant": "ai", "ai": "ai", "system": "system", "developer": "system"}
_USUAL = ("user", "assistant", "system")


def said(session_id: object, role: object, content: object, metadata: object, ts: object, number: str) -> tuple[str, Message]:
    """Session and message of `add_conversation`. number: the id it gets. Raises ConversationInputMissing, InvalidSetting."""
    if _is_blank(session_id) or _is_blank(content):
        raise ConversationInputMissing()
    text, who = validation.text("content", content), _role(role)
    kind = _KINDS.get(who.lower(), "chat")
    rest: dict[str, Any] = {} if metadata is None else {"metadata": validation.metadata(metadata)}
    if who not in _USUAL:
        rest["role"] = who
    return session(session_id), Message(kind, text, number, None, _time(ts), rest)


def session(value: object, name: str = "session_id") -> str:
    """The id of a session, by the name of the parameter. Raises InvalidSetting."""
    found = validation.text(name, value)
    if not found.strip():
        raise InvalidSetting(name=name, value=found, problem="it is empty", advice="Give the id of a session.")
    if len(found) > SESSION_CHARS:
        problem, advice = f"it is {len(found)} characters long", f"Shorten it to {SESSION_CHARS} characters."
        raise InvalidSetting(name=name, value=f"{found[:50]}…", problem=problem, advice=advice)
    return found


def messages(value: object) -> tuple[Message, ...]:
    """A turn. Raises MessageRefused naming the record, InvalidSetting."""
    if isinstance(value, str | bytes | dict | MessageRecord | Message) or not isinstance(value, Iterable):
        advice = "Give a list, even of one message."
        raise InvalidSetting(name="messages", value="…", problem="it must be a list of messages", advice=advice)
    return tuple(_message(one, f"messages[{number}]") for number, one in enumerate(value))


def heard(value: object) -> tuple[Message, ...]:
    """Validate messages that are only read: a tool's message need not name the call that it answers."""
    if isinstance(value, list | tuple):
        value = [_of_no_call(one) for one in value]
    return messages(value)


def most(value: object) -> int | None:
    if value is None:
        return None
    found = validation.whole("max_messages", value, least=1)
    if found > MOST_KEPT:
        advice = "Leave it out to keep all of them."
        raise InvalidSetting(name="max_messages", value=found, problem=f"it is more than {MOST_KEPT}", advice=advice)
    return found


def run(value: object) -> str | None:
    """The run that said it. Raises RunNotFound for what no run is called, InvalidSetting."""
    if value is None:
        return None
    found = validation.run(value)
    if len(found) > RUN_CHARS:
        raise RunNotFound(run_id=f"{found[:RUN_CHARS]}…")
    return found


def timeout(value: object) -> float | None:
    """Seconds."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MOST_SECONDS:
        advice = "Give seconds, e.g. 3600, or leave it out."
        raise InvalidSetting(
            name="session_timeout", value=value, problem="it must be a number above 0, with an end", advice=advice
        )
    return float(value)


def _message(value: object, where: str) -> Message:
    if isinstance(value, MessageRecord):
        return parse_message({**dict(value), "at": value.created_at.isoformat()}, where)
    if not isinstance(value, Message):
        return parse_message(value, where)
    if value.at is not None and value.at.tzinfo is None:
        raise MessageRefused(where=where, problem="its time has no zone")
    return parse_message(to_record(value), where)


def _of_no_call(value: object) -> object:
    if not isinstance(value, dict) or value.get("role") != "tool" or "type" in value or value.get("tool_call_id") is not None:
        return value
    return {**value, "type": "chat"}


def _is_blank(value: object) -> bool:
    return not isinstance(value, str) or not value.strip()


def _role(value: object) -> str:
    who = validation.text("role", value)
    if not who.strip():
        raise InvalidSetting(name="role", value=who, problem="it is empty", advice="Say who speaks, e.g. user or assistant.")
    if len(who) > ROLE_CHARS:
        problem, advice = f"it is {len(who)} characters long", f"Shorten it to {ROLE_CHARS} characters."
        raise InvalidSetting(name="role", value=f"{who[:50]}…", problem=problem, advice=advice)
    return who


def _time(ts: object) -> datetime | None:
    if ts is None:
        return None
    problem = "not a valid timestamp"
    try:
        found = validation.moment("ts", ts) if isinstance(ts, datetime | str) else None
        if isinstance(found, datetime):
            return found
    except InvalidSetting as wrong:
        problem = str(wrong.facts["problem"])
    advice = "Give a datetime with a time zone, e.g. datetime.now(UTC), or leave it out for now."
    raise InvalidSetting(name="ts", value=ts, problem=problem, advice=advice)
