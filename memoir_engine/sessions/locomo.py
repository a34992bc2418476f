"""LoCoMo's conversations: two persons over many sessions, each session with its date.

Times stand there without a zone and for a session as a whole: they are taken as UTC, and a message gets its session's time.
Pure. Source: SESSION 6.3.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from memoir_engine.sessions.reading import Incoming, Told, incoming

FORMAT = "locomo"
NOTE = "its times have no zone and are taken as UTC; messages of one session are a second apart"

_SESSION = re.compile(r"session_(0|[1-9][0-9]{0,8})")


def is_it(data: object) -> bool:
    first = data[0] if isinstance(data, list) and data else data
    talk = first.get("conversation") if isinstance(first, dict) else None
    return isinstance(talk, dict) and "speaker_a" in talk and any(_SESSION.fullmatch(name) for name in talk)


def read(data: Any) -> tuple[Incoming, ...]:
    listed = data if isinstance(data, list) else [data]
    return tuple(_sample(one, f"[{at}]." if isinstance(data, list) else "") for at, one in enumerate(listed))


def _sample(data: Any, where: str) -> Incoming:
    talk = data.get("conversation") if isinstance(data, dict) else None
    if not isinstance(talk, dict):
        return incoming(FORMAT, [Told(where.strip(".") or "sample", None, "it has no conversation")])
    numbers = sorted(int(found[1]) for name in talk if (found := _SESSION.fullmatch(name)))
    told = [one for number in numbers for one in _session(talk, number, where)]
    return incoming(FORMAT, told, session_id=data.get("sample_id"), title=_title(talk), notes=(NOTE,))


def _session(talk: dict[str, Any], number: int, where: str) -> list[Told]:
    said = talk[f"session_{number}"]
    place = f"{where}conversation.session_{number}"
    if not isinstance(said, list):
        return [Told(place, None, "it is no list of messages")]
    began = _time(talk.get(f"session_{number}_date_time"))
    return [_message(one, f"{place}[{at}]", _later(began, at)) for at, one in enumerate(said)]


def _later(began: datetime | None, seconds: int) -> datetime | None:
    try:
        return began and began + timedelta(seconds=seconds)
    except OverflowError:  # the last day of the calendar
        return began


def _message(message: object, where: str, at: datetime | None) -> Told:
    if not isinstance(message, dict) or not isinstance(message.get("speaker"), str):
        return Told(where, None, "it has no speaker")
    data: dict[str, Any] = {"content": message.get("text"), "id": message.get("dia_id"), "name": message["speaker"]}
    if message.get("blip_caption"):
        data["additional_kwargs"] = {"picture": message["blip_caption"]}
    return Told(where, {"type": "human", "data": data, **({"at": at.isoformat()} if at else {})})


def _title(talk: dict[str, Any]) -> str:
    return f"{talk.get('speaker_a')} and {talk.get('speaker_b')}"


def _time(value: object) -> datetime | None:
    """As `1:56 pm on 8 May, 2023`."""
    if not isinstance(value, str):
        return None
    try:
        return datetime.strptime(value.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None
