"""Validate public arguments: type, range, and whether every database can store them.

Invariant: a valid argument can be stored as it is; an invalid one is refused by its name before a run's row is written.
An id outside the range of rows is reported like the id of a missing row.
Source: MEMOIR 7.6, 7.7; DESIGN §11.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from operator import index
from typing import Any, NoReturn

from memoir_engine.core.errors import (
    ActionNotFound,
    CategoryNotFound,
    ChunkNotFound,
    FactContentInvalid,
    InvalidSetting,
    MemoirError,
    QuestionEmpty,
    RunNotFound,
    SamplingPlanNotFound,
    SourceNotFound,
)
from memoir_engine.core.run import ALL_ROLES, Actor

MOST_ID = 2**63 - 1
MOST_ROWS = 1_000_000  # held in memory together
MOST_SECONDS = 10.0**9
ID_CHARS = 64  # of a run or an action: ours have 26
MOST_BITS = 1024  # of any number: Python refuses to write down those of thousands of digits
FIELD_CHARS = 200  # of a person's name
REASON_CHARS = 4_000  # of what a person says of a change, as of what they sign
QUERY_CHARS = 10_000
CONTENT_CHARS = 1000  # of a fact: TIMEM "Memory Content Limit"
PICTURES, DELETE = 0x2400, "\x7f"  # where Unicode begins to draw the controls of ASCII; the one that stands apart
CONTROLS = re.compile(
    "[\x01-\x08\x0a-\x1f\x7f-\x9f"  # of a terminal; NUL is refused by the database
    "\u202a-\u202e\u2066-\u2069"  # that turn the direction of what follows
    "\u2028\u2029"  # that end a line
    "\u200b\u2060-\u2064\ufeff]"  # that cannot be seen; joiners are left, which scripts and emoji need
)
_UNSEEN = ("Cf", "Cc", "Zs", "Zl", "Zp")
_DEFAULT = "Leave it out for the default."


def text(name: str, value: object) -> str:
    """Return a text that can be stored: no NUL characters, no halves of surrogate pairs."""
    value = raw_text(name, value)
    if problem := _unwritable(value):
        refuse(name, value, problem, "Remove it and try again.")
    return value


def raw_text(name: str, value: object, advice: str = "Give a str.") -> str:
    """Return a text of any characters: it is only counted or cut, or checked later, where the place of a bad one is known."""
    return value if isinstance(value, str) else refuse(name, value, "it must be a text", advice)


def marked(name: str) -> str:
    """Return the name with each control character as a mark: the picture that Unicode has of it, or its number in brackets.

    `"\\u202egpj.exe.txt"` would be shown as "txt.exe.jpg", and an escape sequence would clear a terminal. A name is kept with its
    marks, so that every door shows them and two names that differ stay two; texts keep their characters, which spans count.
    A name of nothing but white space stays what it is: it is refused as empty.
    Source: Unicode UAX #9 (directional formatting), UTR #36 §2 (visual spoofing).
    """
    return name if not name.strip() else CONTROLS.sub(lambda found: _mark(found[0]), name)


def _mark(control: str) -> str:
    if control == DELETE:
        return "\u2421"
    return chr(PICTURES + ord(control)) if control < " " else f"[U+{ord(control):04X}]"


def query(name: str, value: object) -> str:
    """Return the words to search by. Raises QuestionEmpty, InvalidSetting."""
    words = text(name, value)
    if not words.strip():
        raise QuestionEmpty()
    if len(words) > QUERY_CHARS:
        refuse(name, "…", f"it is {len(words)} characters long", f"Shorten it to {QUERY_CHARS} characters.")
    return words


def fact_content(value: object) -> str:
    """Return the words of a fact, on one line; marks that nobody sees are no words. Raises FactContentInvalid, InvalidSetting."""
    words = " ".join(text("content", value).split())
    if all(unicodedata.category(character) in _UNSEEN for character in words):
        words = ""
    if not 1 <= len(words) <= CONTENT_CHARS:
        raise FactContentInvalid(limit=CONTENT_CHARS, count=len(words))
    return words


def reason(value: object) -> str | None:
    """Return the optional reason for a change."""
    if value is None:
        return None
    words = text("reason", value)
    if len(words) > REASON_CHARS:
        refuse("reason", "…", f"it is {len(words)} characters long", f"Shorten it to {REASON_CHARS} characters.")
    return words


def erasure_reason(value: object) -> str:
    """Return the reason of an erasure, which cannot go without one."""
    return (reason(value) or "").strip() or refuse("reason", "", "it is empty", "Say why: it stands on the tombstone.")


def raw_bytes(name: str, value: object) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    refuse(name, value, "it must be the bytes of a file", "Read the file with open(…, 'rb'); a text is ingest_text's.")


def flag(name: str, value: object) -> bool:
    return value if isinstance(value, bool) else refuse(name, value, "it must be True or False", _DEFAULT)


def whole(name: str, value: object, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        refuse(name, value, f"it must be a whole number of {least} or more", _DEFAULT)
    return value if _writable(value) else refuse(name, value, "it has too many digits", _DEFAULT)


def function(name: str, value: object) -> Any:
    """Return a callable of one argument."""
    return value if callable(value) else refuse(name, value, "it cannot be called", "Give a function of one argument, or none.")


def seconds(name: str, value: object) -> float:
    """Return a finite time span."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_SECONDS:
        refuse(name, value, "it must be a number of seconds", "Leave it out to wait as long as it takes.")
    return float(value)


def limit(value: object) -> int:
    """Return the maximum number of rows to read."""
    count = whole("limit", value, least=1)
    if count > MOST_ROWS:
        refuse("limit", count, f"it is more than {MOST_ROWS} rows at once", "Read on from the last of them, page by page.")
    return count


def number(name: str, value: object) -> int:
    """Return an id, or a number that counts rows."""
    try:
        row_id = None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]  # refused by a TypeError
    except TypeError:
        row_id = None
    if row_id is None or not _writable(row_id):
        refuse(name, value, "it must be a whole number", "Ids are the numbers that results carry, e.g. result.source_id.")
    return row_id


def cursor(name: str, value: object) -> int:
    """Return the number to read on from, clamped to the range of row numbers."""
    return max(-MOST_ID, min(number(name, value), MOST_ID))


def items(name: str, value: object, problem: str, advice: str) -> tuple[Any, ...]:
    """Return the items of any iterable but a text."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        refuse(name, value, problem, advice)
    return tuple(value)


def texts(name: str, value: object) -> tuple[str, ...]:
    return tuple(text(name, item) for item in items(name, value, "it must be a list of texts", "Give a list, even of one."))


def moment(name: str, value: object) -> int | datetime:
    """Return the number of an audit event, or an aware time given as a datetime or in ISO 8601."""
    advice = "Give a seq of audit.events(), or a datetime with a time zone, e.g. datetime.now(UTC)."
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            refuse(name, value, "not a valid timestamp", advice)
    if isinstance(value, datetime):
        return aware(name, value, advice)
    if isinstance(value, bool) or not isinstance(value, int):
        refuse(name, value, "it must be a whole number or a time", advice)
    if not _writable(value):
        refuse(name, value, "it has too many digits", advice)
    return value if value >= 0 else refuse(name, value, "events are counted from 1, and 0 is before the first", advice)


def aware(name: str, value: datetime, advice: str, *, written: str | None = None) -> datetime:
    """Return a time that has a zone, in UTC. written: the text it was read from."""
    if value.tzinfo is None or value.utcoffset() is None:
        refuse(name, value if written is None else written, "the time has no time zone", advice)
    try:
        return value.astimezone(UTC)
    except OverflowError:  # less than a day from the ends of the calendar
        return value.replace(tzinfo=UTC)


def expiry(name: str, value: object, now: datetime) -> datetime | None:
    """Return the time at which something ends, in UTC; None for never. It lies ahead."""
    if value is None:
        return None
    advice = "Give a time with its zone that lies ahead, such as '2027-01-31T00:00:00Z', or leave it out."
    written = value if isinstance(value, str) else None
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        moment = None
    if not isinstance(moment, datetime):
        refuse(name, value, "not a valid time", advice)
    until = aware(name, moment, advice, written=written)
    return until if until > now else refuse(name, str(value), "it is over", advice)


def head(name: str, value: object) -> str:
    """Return a chain head. A mistyped one is no sign of tampering, so a malformed head is refused, never compared."""
    noted = text(name, value).strip().lower()
    if not re.fullmatch("[0-9a-f]{64}", noted):
        refuse(name, noted, "not a valid chain head: expected 64 hexadecimal characters", "audit.head().hash is one.")
    return noted


def source(value: object) -> int:
    return _row(value, "source_id", SourceNotFound)


def category(value: object) -> int:
    return _row(value, "category_id", CategoryNotFound)


def chunk(value: object) -> int:
    return _row(value, "chunk_id", ChunkNotFound)


def plan(value: object) -> int:
    return _row(value, "plan", SamplingPlanNotFound)


def call(value: object) -> int:
    call_id = number("call_id", value)
    if not 0 < call_id <= MOST_ID:
        raise RunNotFound(run_id=f"of call {call_id}")
    return call_id


def run(value: object) -> str:
    """Return a run's id; raise RunNotFound for a text that cannot be one."""
    run_id = raw_text("run_id", value, "Results carry it: result.run_id.")
    if len(run_id) > ID_CHARS or _unwritable(run_id):
        raise RunNotFound(run_id=run_id if len(run_id) <= ID_CHARS else f"{run_id[:ID_CHARS]}…")
    return run_id


def action(value: object, name: str = "action_id") -> str:
    """Return an action's id; raise ActionNotFound for a text that cannot be one."""
    action_id = text(name, value)
    if len(action_id) > ID_CHARS:
        raise ActionNotFound(action_id=f"{action_id[:ID_CHARS]}…")
    return action_id


def sources(value: object) -> tuple[int, ...]:
    """Return the sources a question is limited to; an empty list is refused."""
    advice = "Leave it out to ask all sources."
    source_ids = items("sources", value, "it must be a list of source ids", advice)
    if not source_ids:
        refuse("sources", value, "there is no source in it", advice)
    return tuple(number("sources", source_id) for source_id in source_ids)


def rows(name: str, value: object) -> tuple[int, ...]:
    """Return row numbers; a number without a row is allowed."""
    ids = items(name, value, "it must be a list of ids", "Give a list, even of one: results carry ids.")
    return tuple(number(name, row_id) for row_id in ids)


def fields(value: object) -> dict[str, str]:
    """Return a person's description of a source; the form checks the values."""
    if not isinstance(value, Mapping):
        refuse("fields", value, "it must be a dictionary, a preview or a text", "Give date, author, topic and description.")
    for name, content in value.items():
        if isinstance(content, int) and not _writable(content):
            refuse(f"fields[{name!r:.50}]", content, "it has too many digits", "Give a text.")
    return dict(value)


def metadata(value: object) -> dict[str, Any]:
    """Return the metadata as JSON reads it back, so that the kept and the stored value are equal."""
    advice = "Use a dictionary of texts, numbers, lists and dictionaries, with texts as keys."
    if not isinstance(value, dict):
        refuse("metadata", value, "it must be a dictionary", advice)
    try:
        problem = _unwritable_in(value)
        plain: dict[str, Any] = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as not_json:
        problem = str(not_json)
    return refuse("metadata", value, problem, advice) if problem else plain


def person(name: str, value: object) -> str:
    """Return the name of who acts, or whose data it is."""
    person_name = text(name, value)
    if not person_name.strip():
        refuse(name, person_name, "it is empty", "Give the name of who acts, or whose data it is.")
    if CONTROLS.search(person_name):
        refuse(name, marked(person_name), "it holds a character that cannot be seen", "Write the name without it.")
    if len(person_name) > FIELD_CHARS:
        refuse(name, person_name, f"it is {len(person_name)} characters long", f"Shorten it to {FIELD_CHARS} characters.")
    return person_name


def actor(name: object, user: object, roles: object) -> Actor:
    """Build the actor: who acts, whose data it is, and their roles."""
    owner, actor_name = None if user is None else person("user", user), person("actor", name)
    advice = f"Give a tuple of: {', '.join(sorted(ALL_ROLES))}."
    role_names = items("roles", roles, "it must be a list of roles", advice)
    unknown = [role for role in role_names if role not in list(ALL_ROLES)]
    if unknown:
        refuse("roles", list(role_names), f"there is no role {unknown[0]!r}", advice)
    return Actor(actor_name, frozenset(role_names), owner)


def _row(value: object, name: str, missing: type[MemoirError]) -> int:
    row_id = number(name, value)
    if not 0 < row_id <= MOST_ID:
        raise missing(**{name: row_id})
    return row_id


def _unwritable_in(value: object) -> str:
    """Return the first problem of a value and all that is in it; empty if there is none."""
    if isinstance(value, str):
        return _unwritable(value)
    parts = list(value) if isinstance(value, dict | list | tuple) else []
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                return f"the key {key!r} is not a text"
        parts += value.values()
    return next(filter(None, map(_unwritable_in, parts)), "")


def _unwritable(value: str) -> str:
    if "\x00" in value:
        return "it holds a NUL character"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "it holds half of a surrogate pair"
    return ""


def _writable(value: int) -> bool:
    return value.bit_length() <= MOST_BITS


def refuse(name: str, value: object, problem: str, advice: str) -> NoReturn:
    """Raise the InvalidSetting of an argument."""
    raise InvalidSetting(name=name, value=value, problem=problem, advice=advice)
