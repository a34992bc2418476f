"""A conversation as a file: our JSON, which LangChain reads as it is, and what every reader of another form returns.

Invariants: `read(session_json(view, messages))` returns the very messages, with their times. Each record stands alone: an invalid
one is named, and the others are still read. Pure.
Source: SESSION 6.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from memoir_engine.core.errors import MessageRefused
from memoir_engine.core.results import RefusedMessage, SessionView
from memoir_engine.text.messages import Message, parse_message, parse_time, to_record

FORMAT = "memoir.session"
VERSION = 1


@dataclass(frozen=True)
class ParsedConversation:
    """Content of a file. refused: invalid records. session_id: of the session it was exported from, if it says so."""

    format: str
    messages: tuple[Message, ...]
    refused: tuple[RefusedMessage, ...] = ()
    session_id: str | None = None
    metadata: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        return len(self.messages) + len(self.refused)


def session_json(view: SessionView, messages: Iterable[Message]) -> str:
    """Return JSON with the session's id, times, metadata and messages in order, each with its time under `at`."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "session_id": view.session_id,
        "user": view.user,
        "created_at": _iso(view.created_at),
        "last_at": _iso(view.last_at),
        "metadata": view.metadata,
        "messages": [to_record(message) for message in messages],
    }
    return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)


def is_ours(data: object) -> bool:
    """Return True for the JSON of `session_json`, and for a plain list of messages."""
    return isinstance(data, list) or (isinstance(data, dict) and isinstance(data.get("messages"), list))


def read(data: Any) -> ParsedConversation:
    """Read JSON that `is_ours` accepts."""
    if isinstance(data, list):
        return _of(data, "messages")
    found = _of(data["messages"], FORMAT if data.get("format") == FORMAT else "messages")
    named, metadata = data.get("session_id"), data.get("metadata")
    return replace(
        found,
        session_id=named if isinstance(named, str) and named.strip() else None,
        metadata=metadata if isinstance(metadata, dict) else None,
    )


def missing_messages(messages: Sequence[Message], known: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages whose ids are not known; those without an id are compared, and counted, by content."""
    counts = Counter(map(_key, known))
    missing = []
    for message in messages:
        key = _key(message)
        if counts[key]:
            counts[key] -= 1
        else:
            missing.append(message)
    return tuple(missing)


def _of(records: Sequence[object], kind: str) -> ParsedConversation:
    messages, refused = [], []
    for number, record in enumerate(records):
        where = f"messages[{number}]"
        try:
            messages.append(parse_message(record, where))
        except MessageRefused as wrong:
            refused.append(RefusedMessage(where, str(wrong.facts["problem"])))
    return ParsedConversation(kind, tuple(messages), tuple(refused))


def _key(message: Message) -> str:
    if message.id is not None:
        return f"id {message.id}"
    return json.dumps([message.kind, message.name, message.content, message.rest], sort_keys=True)


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


@dataclass(frozen=True)
class ForeignRecord:
    """Message as LangChain writes it, or the problem with it. where: its place in the file."""

    where: str
    record: dict[str, Any] | None
    problem: str = ""


def parsed_conversation(
    form: str, told: Iterable[ForeignRecord], *, session_id: object = None, title: object = None, notes: tuple[str, ...] = ()
) -> ParsedConversation:
    messages, refused = [], []
    for one in told:
        if one.record is None:
            refused.append(RefusedMessage(one.where, one.problem))
            continue
        try:
            messages.append(parse_message(one.record, one.where))
        except MessageRefused as wrong:
            refused.append(RefusedMessage(one.where, str(wrong.facts["problem"])))
    metadata = {"title": title.replace("\x00", "")} if isinstance(title, str) and title.strip() else None
    named = session_id if isinstance(session_id, str) and session_id.strip() else None
    return ParsedConversation(form, tuple(messages), tuple(refused), named, metadata, notes)


def time_field(value: object) -> dict[str, str]:
    """Return the time as the field `at`, or nothing if it is missing or invalid."""
    found = parse_time(value)
    return {} if found is None else {"at": found.isoformat()}
