"""What every reader of a foreign form makes: records that are messages, or places with the reason why they are none.

Pure. Source: SESSION 6.3, 6.4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from memoir_engine.errors import MessageRefused
from memoir_engine.results import RefusedMessage
from memoir_engine.sessions.told import Incoming
from memoir_engine.text.messages import moment, parsed

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
            messages.append(parsed(one.record, one.where))
        except MessageRefused as wrong:
            refused.append(RefusedMessage(one.where, str(wrong.facts["problem"])))
    metadata = {"title": title.replace("\x00", "")} if isinstance(title, str) and title.strip() else None
    named = session_id if isinstance(session_id, str) and session_id.strip() else None
    return Incoming(form, tuple(messages), tuple(refused), named, metadata, notes)


def iso(value: object) -> dict[str, str]:
    """A record's time where it is one; a conversation's own clock may be missing."""
    found = moment(value)
    return {} if found is None else {"at": found.isoformat()}
