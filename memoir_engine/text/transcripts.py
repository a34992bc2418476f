"""Read pasted conversations: JSON messages, or lines like "Ana: Hello.", with times if there are any.

Times before the lines are read as messengers write them: [12/05/2024, 10:30], 13.05.24, 9:05 - , 10:30. The order of day and
month is the same in all lines of one text, and is inferred: from a number above 12, from full stops, from AM and PM, from the
order of the lines, else from the country of the zone. If it stays unclear, times are left out with a warning.
Invariant: every line that is not blank becomes part of a message, in order; messages keep their number, empty ones included; an
invalid one is refused by its place; no instruction in a text is followed. Pure but for a warning.
Source: CHUNK 2.1, 3.4, 3.5, 6.5; TIMEM "Memory Extraction"; API "Facts" (user_id); spec README, small print on times.
"""

from __future__ import annotations

import json
import re
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from memoir_engine.core.errors import FormatUnknown, MessageRefused
from memoir_engine.text.messages import TIMES, Message, as_record, parse_message, parse_time

_PERSON = frozenset(("user", "human"))
_ROLES = frozenset(("user", "assistant", "system", "human", "ai", "tool", "developer"))


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message. id: the caller's, else its index as text. at: aware, None if not known."""

    id: str
    role: str
    text: str
    at: datetime | None = None
    name: str | None = None

    @property
    def is_person(self) -> bool:
        return self.role in _PERSON


def utterances(messages: Sequence[Any]) -> list[Utterance]:
    """Read messages in any supported shape: role and content, LangChain's messages or records, or messages of a session.

    Their time may stand in `at`, `ts`, `created_at` or `timestamp`, as an aware datetime or in ISO 8601.
    Raises MessageRefused (E801) naming the place of the first invalid one, or one whose time has no zone.
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
        message = parse_message(_plain(message, index), f"messages[{index}]")
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
    at = value if isinstance(value, datetime) else parse_time(value)
    if at is None or at.tzinfo is None or at.utcoffset() is None:
        problem = (
            "its time has no zone"
            if isinstance(value, datetime)
            else f"its time {value!r:.60} is not a valid timestamp, or has no zone"
        )
        raise MessageRefused(where=f"messages[{index}]", problem=problem)
    return at


def _plain(message: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Return the message with its time as records have it."""
    at = _time(message, index)
    return {**message, **({} if at is None else {"at": at.isoformat()})}


_CLOCK = r"\d\d?:\d\d(?::\d\d)?"
_HALF = r"(?:[ \u00a0\u202f]?[AaPp]\.?[Mm]\.?)?"
WRITTEN = (
    rf"\d{{4}}-\d\d-\d\d[T ,]+{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?"
    rf"|\d{{1,4}}[./-]\d\d?[./-]\d{{2,4}}[, ]{{1,2}}{_CLOCK}{_HALF}|{_CLOCK}{_HALF}"
)
MARKS = "\ufeff\u200e\u200f\u202a\u202c \t"  # what messengers put before a line, to be seen by nobody
_DATED = re.compile(
    rf"(?P<a>\d{{1,4}})(?P<sign>[./-])(?P<b>\d\d?)[./-](?P<c>\d{{2,4}})[, ]+(?P<clock>{_CLOCK})"
    r"[ \u00a0\u202f]?(?P<half>[AaPp])?.*"
)
_UNITED_STATES = frozenset(
    f"America/{city}" for city in ("New_York", "Chicago", "Denver", "Los_Angeles", "Phoenix", "Detroit", "Anchorage", "Boise")
) | {"Pacific/Honolulu"}
_UNCLEAR = "The times of this conversation are left out: whether {example} is of {one} or {other} is not told by any line of it."


def parse_times(written: Sequence[str | None], zone: tzinfo) -> list[datetime | None]:
    """Parse the written time of each line. zone: of times without one. A time of day without a day gives None."""
    dated = [None if one is None else _DATED.fullmatch(one) for one in written]
    numeric = [hit for hit in dated if hit]
    day_first = _day_first(numeric, zone)
    if day_first is None and numeric:
        warnings.warn(_unclear(numeric[0]), UserWarning, stacklevel=3)
    return [
        _of_iso(one, zone) if hit is None else None if day_first is None else _of(hit, zone, day_first=day_first)
        for one, hit in zip(written, dated, strict=True)
    ]


def _day_first(dated: Sequence[re.Match[str]], zone: tzinfo) -> bool | None:
    """None where both orders fit."""
    orders = [first for first in (True, False) if all(_of(hit, zone, day_first=first) for hit in dated)]
    if len(orders) != 2:
        return orders[0] if orders else True
    if any(hit["sign"] == "." for hit in dated):
        return True
    if any(hit["half"] for hit in dated):
        return False
    if all(_of(hit, zone, day_first=True) == _of(hit, zone, day_first=False) for hit in dated):
        return True
    fits = [first for first in orders if _rises([_of(hit, zone, day_first=first) for hit in dated])]
    return fits[0] if len(fits) == 1 else _day_first_in(str(getattr(zone, "key", "")))


def _day_first_in(zone: str) -> bool | None:
    """Guess the order from the zone's name; None for UTC and for the Americas outside the United States."""
    if zone in _UNITED_STATES:
        return False
    return True if zone.partition("/")[0] in ("Europe", "Asia", "Africa", "Australia", "Atlantic", "Indian") else None


def _rises(times: Sequence[datetime | None]) -> bool:
    known = [one for one in times if one is not None]
    return all(one <= other for one, other in zip(known, known[1:], strict=False))


def _of(hit: re.Match[str], zone: tzinfo, *, day_first: bool) -> datetime | None:
    a, b, c = int(hit["a"]), int(hit["b"]), int(hit["c"])
    if len(hit["a"]) == 4:
        year, month, day = a, b, c
    else:
        year, month, day = (c if c > 99 else 2000 + c), *((b, a) if day_first else (a, b))
    hour, minute, second = (int(one) for one in f"{hit['clock']}:0".split(":")[:3])
    if hit["half"]:
        hour = hour % 12 + (12 if hit["half"] in "Pp" else 0)
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=zone)
    except ValueError:
        return None


def _of_iso(written: str | None, zone: tzinfo) -> datetime | None:
    try:
        at = datetime.fromisoformat(re.sub(r"[T ,]+", "T", written, count=1)) if written else None
    except ValueError:
        return None
    return at if at is None or at.tzinfo else at.replace(tzinfo=zone)


def _unclear(hit: re.Match[str]) -> str:
    one, other = (
        f"{day} {_MONTHS[month - 1]}" for day, month in ((int(hit["a"]), int(hit["b"])), (int(hit["b"]), int(hit["a"])))
    )
    return _UNCLEAR.format(example=hit[0].split(",")[0], one=one, other=other)


_MONTHS = "January February March April May June July August September October November December".split()


_NO_NAMES = frozenset("user human me you myself i ich moi yo 私 自分".split())


def is_label_of(person: str, label: str) -> bool:
    """Return True if a label means the person: a user id, the part of an address before the @, or a word like "me"."""
    said, own = _plain_label(label), _plain_label(person)
    return said in _NO_NAMES or said in (own, own.partition("@")[0])


def _plain_label(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


_ASSISTANTS = frozenset("assistant ai bot chatgpt gpt claude gemini copilot model agent memoir".split())
_SYSTEMS = frozenset(("system", "developer"))
_LINE = re.compile(
    rf"(?:[\[(]?(?P<at>{WRITTEN})[\])]?[ \t]*+(?:[-–|][ \t]*+)?)?"
    r"(?:\*\*)?(?P<name>[^\W\d_][\w .'’\-]{0,38}?)(?:\*\*)?[ \t]*(?:[:：](?:\*\*)?(?:[ \t]+|$)|：(?:\*\*)?)(?P<text>.*)$"
)
_NOTICE = re.compile(rf"[\[(]?(?P<at>{WRITTEN})(?:[\])]|[ \t]+[-–|])[ \t]*+(?P<text>\S.*)$")  # of the messenger itself
_LEAST = 2  # messages that lines must make before they are taken for a conversation


def read_transcript(text: str, *, zone: tzinfo = UTC) -> list[Utterance]:
    """Read a pasted conversation. zone: of times written without one; it decides 5/4/2024 if the lines do not.

    Unclear times are left out, with a UserWarning. Raises FormatUnknown (E802), MessageRefused (E801).
    """
    begins = text.lstrip("\ufeff \t\r\n")
    if begins[:1] in ("[", "{"):
        found = _json(begins)
        if found is not None:
            return found
    made = _lines(text, zone)
    if len(made) < _LEAST:
        raise FormatUnknown(problem="no two lines of it begin with a name and a colon, and it is no JSON")
    return made


def _json(text: str) -> list[Utterance] | None:
    """Read JSON messages; None if it is not JSON: a transcript may begin with a bracket, too."""
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(data, dict):
        data = data.get("messages")
    if not isinstance(data, list):
        raise FormatUnknown(problem="it holds no list of messages")
    return utterances(data)


def _lines(text: str, zone: tzinfo) -> list[Utterance]:
    said: list[tuple[str | None, str | None, list[str]]] = []  # who, when as it is written, lines; nobody in a notice
    for line in text.splitlines():
        bare = line.strip().strip(MARKS)
        found = _LINE.match(bare)
        notice = None if found else _NOTICE.match(bare)
        if found:
            said.append((found["name"].strip(), found["at"], [found["text"]]))
        elif notice and _is_dated(notice["at"]):
            said.append((None, notice["at"], [notice["text"]]))
        elif said:
            said[-1][2].append(line.rstrip())
        elif bare:
            said.append(("", None, [bare]))
    times = parse_times([at for _, at, _ in said], zone)
    return [
        Utterance(str(index), "system" if name is None else _role(name), "\n".join(lines).strip(), at, name or None)
        for index, ((name, _, lines), at) in enumerate(zip(said, times, strict=True))
    ]


def _is_dated(written: str) -> bool:
    """Return True if the time has a day in figures: a notice of the messenger is then a line without a speaker."""
    return "/" in written[:5] or "." in written[:5]


def _role(name: str) -> str:
    word = name.casefold()
    return "assistant" if word in _ASSISTANTS else "system" if word in _SYSTEMS else "user"
