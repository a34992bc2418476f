"""What every reader of a foreign form makes: records that are messages, or places with the reason why they are none.

Pure. Source: SESSION 6.3, 6.4.
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

# === told: A session as a file: JSON whose `messages` LangChain reads as they are.
#
# Invariant: `read(told(view, messages))` gives the very messages, with their times. Each record stands by itself, so one
# that is
# wrong is named and the others are still looked at. Pure.
# Source: SESSION 6.


FORMAT = "memoir.session"
VERSION = 1


@dataclass(frozen=True)
class Incoming:
    """What a file holds. refused: records that are no messages; session_id: the one it was told from, where it says so."""

    format: str
    messages: tuple[Message, ...]
    refused: tuple[RefusedMessage, ...] = ()
    session_id: str | None = None
    metadata: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        return len(self.messages) + len(self.refused)


def told(view: SessionView, messages: Iterable[Message]) -> str:
    """JSON with the session's id, times and metadata, and its messages in order, each with its time under `at`."""
    said = {
        "format": FORMAT,
        "version": VERSION,
        "session_id": view.session_id,
        "user": view.user,
        "created_at": _iso(view.created_at),
        "last_at": _iso(view.last_at),
        "metadata": view.metadata,
        "messages": [to_record(one) for one in messages],
    }
    return json.dumps(said, ensure_ascii=False, indent=1, allow_nan=False)


def is_ours(data: object) -> bool:
    """Whether parsed JSON is what `told` writes, or a plain list of messages."""
    return isinstance(data, list) or (isinstance(data, dict) and isinstance(data.get("messages"), list))


def read(data: Any) -> Incoming:
    """Of what `is_ours` says yes to."""
    if isinstance(data, list):
        return _of(data, "messages")
    found = _of(data["messages"], FORMAT if data.get("format") == FORMAT else "messages")
    named, metadata = data.get("session_id"), data.get("metadata")
    return replace(
        found,
        session_id=named if isinstance(named, str) and named.strip() else None,
        metadata=metadata if isinstance(metadata, dict) else None,
    )


def lacking(messages: Sequence[Message], known: Iterable[Message]) -> tuple[Message, ...]:
    """Those whose ids are not among the known; of those without an id, the ones whose like is not, as often as it is."""
    there = Counter(_key(one) for one in known)
    left = []
    for one in messages:
        key = _key(one)
        if there[key]:
            there[key] -= 1
        else:
            left.append(one)
    return tuple(left)


def _of(records: Sequence[object], kind: str) -> Incoming:
    messages, refused = [], []
    for number, record in enumerate(records):
        where = f"messages[{number}]"
        try:
            messages.append(parse_message(record, where))
        except MessageRefused as wrong:
            refused.append(RefusedMessage(where, str(wrong.facts["problem"])))
    return Incoming(kind, tuple(messages), tuple(refused))


def _key(message: Message) -> str:
    if message.id is not None:
        return f"id {message.id}"
    return json.dumps([message.kind, message.name, message.content, message.rest], sort_keys=True)


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


# === reading


__all__ = ["Incoming", "Told", "incoming", "iso"]


@dataclass(frozen=True)
class Told:
    """A message as LangChain would write it, or why there is none. where: its place in the file."""

    where: str
    record: dict[str, Any] | None
    problem: str = ""


def incoming(
    form: str, told: Iterable[Told], *, session_id: object = None, title: object = None, notes: tuple[str, ...] = ()
) -> Incoming:
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
    return Incoming(form, tuple(messages), tuple(refused), named, metadata, notes)


def iso(value: object) -> dict[str, str]:
    """A record's time where it is one; a conversation's own clock may be missing."""
    found = parse_time(value)
    return {} if found is None else {"at": found.isoformat()}
