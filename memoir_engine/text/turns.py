"""The messages of a conversation as cutting sees them: who, when, and the words.

Invariant: messages keep their order and number, empty ones included; what is no message is refused by its place.
Source: CHUNK 3.4, 3.5, 6.5; spec README, small print on times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memoir_engine.errors import MessageRefused
from memoir_engine.text.messages import TIMES, Message, as_record, moment, parsed

_PERSON = frozenset(("user", "human"))
_ROLES = frozenset(("user", "assistant", "system", "human", "ai", "tool", "developer"))


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message. id: the caller's, else its index as text. at: aware, None where it is not known."""

    id: str
    role: str
    text: str
    at: datetime | None = None
    name: str | None = None

    @property
    def is_person(self) -> bool:
        return self.role in _PERSON


def utterances(messages: Sequence[Any]) -> list[Utterance]:
    """Messages in any shape that the engine reads: role and content, LangChain's messages or records, or messages of a session.

    Their time may stand in `at`, `ts`, `created_at` or `timestamp`, as an aware datetime or in ISO 8601.
    Raises MessageRefused (E801) naming the place of the first that is none, or whose time has no zone.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise MessageRefused(where="messages", problem="it must be a list of messages")
    return [_read(message, index) for index, message in enumerate(messages)]


def _read(message: Any, index: int) -> Utterance:
    if isinstance(message, Utterance):
        return message
    if not isinstance(message, dict):
        message = as_record(message)
    if isinstance(message, dict):
        role, content = message.get("role"), message.get("content")
        if "type" not in message and role in _ROLES and isinstance(content, str):
            given, name = message.get("id"), message.get("name")
            return Utterance(str(index) if given is None else str(given), role, content, _time(message, index), name)
        message = parsed(_plain(message, index), f"messages[{index}]")
    if isinstance(message, Message):
        return Utterance(message.id or str(index), message.speaker, message.text, message.said_at, message.name)
    if not isinstance(getattr(message, "text", None), str) or not isinstance(getattr(message, "role", None), str):
        raise MessageRefused(where=f"messages[{index}]", problem=f"it is {type(message).__name__}, not a record")
    at = message.created_at if hasattr(message, "created_at") else None
    return Utterance(message.id or str(index), message.role, message.text, at, message.name)


def _time(message: Mapping[str, Any], index: int) -> datetime | None:
    value = next((message[name] for name in TIMES if message.get(name) is not None), None)
    if value is None:
        return None
    at = value if isinstance(value, datetime) else moment(value)
    if at is None or at.tzinfo is None or at.utcoffset() is None:
        problem = "its time has no zone" if isinstance(value, datetime) else f"its time {value!r:.60} is none, or has no zone"
        raise MessageRefused(where=f"messages[{index}]", problem=problem)
    return at


def _plain(message: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Its time as records have it."""
    at = _time(message, index)
    return {**message, **({} if at is None else {"at": at.isoformat()})}
