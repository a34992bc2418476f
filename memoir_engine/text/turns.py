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
from memoir_engine.text.messages import Message, parsed

_PERSON = frozenset(("user", "human"))
_PLAIN = frozenset(("user", "assistant", "system", "human", "ai", "tool"))
_OWN = frozenset(("role", "content", "id", "at", "name"))


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
    """Messages in any shape that the engine reads: role and content, LangChain's records, or read ones.

    Raises MessageRefused (E801) naming the place of the first that is none, or whose time has no zone.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise MessageRefused(where="messages", problem="it must be a list of messages")
    return [_read(message, index) for index, message in enumerate(messages)]


def _read(message: Any, index: int) -> Utterance:
    if isinstance(message, Utterance):
        return message
    if isinstance(message, dict) and message.keys() <= _OWN:
        role, content, at = message.get("role"), message.get("content"), message.get("at")
        if role in _PLAIN and isinstance(content, str) and (at is None or _is_aware(at)):
            given = message.get("id")
            return Utterance(str(index) if given is None else str(given), role, content, at, message.get("name"))
    if not isinstance(message, Message):
        message = parsed(_plain(message, index), f"messages[{index}]")
    return Utterance(message.id or str(index), message.speaker, message.text, message.said_at, message.name)


def _plain(message: Any, index: int) -> Any:
    """Times as text, as records have them."""
    at = message.get("at") if isinstance(message, dict) else None
    if not isinstance(at, datetime):
        return message
    if not _is_aware(at):
        raise MessageRefused(where=f"messages[{index}]", problem="its time has no zone")
    return {**message, "at": at.isoformat()}


def _is_aware(at: Any) -> bool:
    return isinstance(at, datetime) and at.tzinfo is not None and at.utcoffset() is not None
