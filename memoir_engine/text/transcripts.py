"""Read pasted conversations: JSON messages, or lines like "Ana: Hello.", with times if there are any.

Times before the lines are read as messengers write them: [12/05/2024, 10:30], 13.05.24, 9:05 - , 10:30, 2024年5月13日 10:30; LINE
writes the day once, above its lines. The order of day and
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
from itertools import pairwise
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
            number, name = message.get("id"), message.get("name")
            return Utterance(str(index if number is None else number), role, content, _time(message, index), name)
        at = _time(message, index)
        message = parse_message({**message, **({} if at is None else {"at": at.isoformat()})}, f"messages[{index}]")
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


_CLOCK = r"\d\d?:\d\d(?::\d\d)?"
_HALVES = "午前|午後"
_HALF = r"(?:[ \u00a0\u202f]?[AaPp]\.?[Mm]\.?)?"
_KANJI_DAY = r"\d{4}年\d\d?月\d\d?日(?:[ \u3000]*[(（]?[月火水木金土日](?:曜日?)?[)）]?)?"
WRITTEN = (
    rf"{_KANJI_DAY}[, \u3000]*(?:{_HALVES})?(?:{_CLOCK}|\d\d?時\d\d?分?)|"
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


def _parse_times(written: Sequence[str | None], zone: tzinfo) -> list[datetime | None]:
    """Parse the written time of each line. zone: of times without one. A time of day without a day gives None."""
    written = [None if text is None else _in_figures(text) for text in written]
    dated = [None if text is None else _DATED.fullmatch(text) for text in written]
    numeric = [hit for hit in dated if hit]
    day_first = _is_day_first(numeric, zone)
    if day_first is None and numeric:
        example, orders = numeric[0], (("a", "b"), ("b", "a"))
        one, other = (f"{int(example[day])} {_MONTHS[int(example[month]) - 1]}" for day, month in orders)
        message = _UNCLEAR.format(example=example[0].split(",")[0], one=one, other=other)
        warnings.warn(message, UserWarning, stacklevel=3)
    return [
        _of_iso(text, zone) if hit is None else None if day_first is None else _of(hit, zone, day_first=day_first)
        for text, hit in zip(written, dated, strict=True)
    ]


def _is_day_first(dated: Sequence[re.Match[str]], zone: tzinfo) -> bool | None:
    """Return the order of day and month in these times; None where both orders fit."""
    orders = [first for first in (True, False) if all(_of(hit, zone, day_first=first) for hit in dated)]
    if len(orders) != 2:
        return orders[0] if orders else True
    if any(hit["sign"] == "." for hit in dated):
        return True
    if any(hit["half"] for hit in dated):
        return False
    if all(_of(hit, zone, day_first=True) == _of(hit, zone, day_first=False) for hit in dated):
        return True
    fits = []
    for first in orders:
        times = [time for time in (_of(hit, zone, day_first=first) for hit in dated) if time is not None]
        if all(time <= following for time, following in pairwise(times)):
            fits.append(first)
    return fits[0] if len(fits) == 1 else _is_day_first_in(str(getattr(zone, "key", "")))


def _is_day_first_in(zone: str) -> bool | None:
    """Guess the order from the zone's name; None for UTC and for the Americas outside the United States."""
    if zone in _UNITED_STATES:
        return False
    return True if zone.partition("/")[0] in ("Europe", "Asia", "Africa", "Australia", "Atlantic", "Indian") else None


def _of(hit: re.Match[str], zone: tzinfo, *, day_first: bool) -> datetime | None:
    a, b, c = int(hit["a"]), int(hit["b"]), int(hit["c"])
    if len(hit["a"]) == 4:
        year, month, day = a, b, c
    else:
        year, month, day = (c if c > 99 else 2000 + c), *((b, a) if day_first else (a, b))
    hour, minute, second = (int(part) for part in f"{hit['clock']}:0".split(":")[:3])
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


_IN_KANJI = re.compile(
    rf"(?P<year>\d{{4}})年(?P<month>\d\d?)月(?P<day>\d\d?)日[^\d午]*(?P<half>{_HALVES})?(?P<hour>\d\d?)(?:時|:)(?P<rest>\d\d?(?::\d\d)?)分?"
)


def _in_figures(written: str) -> str:
    """Return a time like 2024年5月13日 午後3:05 as 2024-05-13 15:05; any other unchanged."""
    hit = _IN_KANJI.fullmatch(written)
    if hit is None:
        return written
    hour = int(hit["hour"]) % 12 + 12 * (hit["half"] == "午後") if hit["half"] else int(hit["hour"])
    minute, _, second = hit["rest"].partition(":")
    return f"{hit['year']}-{int(hit['month']):02}-{int(hit['day']):02} {hour:02}:{int(minute):02}:{second or '00'}"


_MONTHS = "January February March April May June July August September October November December".split()


_NO_NAMES = frozenset(
    """user human me you myself i ich moi yo nutzer nutzerin benutzer 私 わたし 僕 ぼく 俺 自分 あなた ユーザー
    ユーザ 利用者 人間""".split()
)


def is_label_of(person: str, label: str) -> bool:
    """Return True if a label means the person: a user id, the part of an address before the @, or a word like "me"."""
    label, own = _plain_label(label), _plain_label(person)
    return label in _NO_NAMES or label in (own, own.partition("@")[0])


def _plain_label(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


_ASSISTANTS = frozenset(
    """assistant ai bot chatbot chatgpt gpt claude gemini copilot model agent memoir assistent assistentin ki
    アシスタント ボット チャットボット aiアシスタント 人工知能 チャットgpt クロード ジェミニ コパイロット
    エージェント 助手""".split()
)
_SYSTEMS = frozenset(("system", "developer", "システム", "開発者"))
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
        messages = _json(begins)
        if messages is not None:
            return messages
    messages = _read_line_export(text, zone) if begins.startswith("[LINE]") else read_lines(text, zone)
    if len(messages) < _LEAST:
        raise FormatUnknown(problem="no two lines of it begin with a name and a colon, and it is not valid JSON")
    return messages


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


def read_lines(text: str, zone: tzinfo) -> list[Utterance]:
    """Read lines like "Ana: Hello."; a notice of the messenger itself, dated by a day in figures, is the system's."""
    messages: list[tuple[str | None, str | None, list[str]]] = []  # name, written time, lines; no name in a notice
    for line in text.splitlines():
        bare = line.strip().strip(MARKS)
        spoken = _LINE.match(bare)
        notice = None if spoken else _NOTICE.match(bare)
        if spoken:
            messages.append((spoken["name"].strip(), spoken["at"], [spoken["text"]]))
        elif notice and any(sign in notice["at"][:5] for sign in "/.年"):
            messages.append((None, notice["at"], [notice["text"]]))
        elif messages:
            messages[-1][2].append(line.rstrip())
        elif bare:
            messages.append(("", None, [bare]))
    times = _parse_times([at for _, at, _ in messages], zone)
    return [
        Utterance(str(index), _role_of(name), "\n".join(lines).strip(), at, name or None)
        for index, ((name, _, lines), at) in enumerate(zip(messages, times, strict=True))
    ]


_LINE_DAY = re.compile(r"(?P<year>\d{4})[/.](?P<month>\d\d?)[/.](?P<day>\d\d?)[ ]?(?:\([^)]{1,4}\)|[月火水木金土日]曜日)")
_LINE_SAID = re.compile(rf"(?P<at>(?:{_HALVES})?\d\d?:\d\d)\t(?:(?P<name>[^\t]+)\t)?(?P<text>.*)")


def _read_line_export(text: str, zone: tzinfo) -> list[Utterance]:
    """Read what LINE exports: the day above the lines, then time, name and text between tabs; what has no name is a notice."""
    utterances: list[tuple[str | None, str | None, list[str]]] = [(None, None, [])]
    day = ""
    for line in text.strip(MARKS).splitlines():
        dated = _LINE_DAY.fullmatch(line.strip())
        spoken = _LINE_SAID.fullmatch(line)
        if dated:
            day = f"{dated['year']}年{dated['month']}月{dated['day']}日"
        elif spoken and day:
            utterances.append((spoken["name"], f"{day} {spoken['at']}", [spoken["text"]]))
        elif line.strip() or len(utterances) > 1:
            utterances[-1][2].append(line.rstrip())
    times = _parse_times([at for _, at, _ in utterances], zone)
    return [
        Utterance(str(index), _role_of(name), _unquoted("\n".join(lines).strip()), at, name)
        for index, ((name, _, lines), at) in enumerate(zip(utterances, times, strict=True))
    ]


def _unquoted(text: str) -> str:
    """Return a message without the marks that LINE puts around several lines."""
    return text[1:-1] if "\n" in text and text[0] == text[-1] == '"' else text


def _role_of(name: str | None) -> str:
    """Return the role of a speaker; a notice has no name."""
    word = "system" if name is None else _plain_label(name)
    return "assistant" if word in _ASSISTANTS else "system" if word in _SYSTEMS else "user"
