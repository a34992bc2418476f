"""Validate public arguments: type, range, and whether every database can store them.

Invariant: a valid argument can be stored as it is; an invalid one is refused by its name before a run's row is written.
An id outside the range of rows is reported like the id of a missing row.
Source: MEMOIR 7.6, 7.7; DESIGN §11.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from operator import index
from typing import Any, NoReturn

from memoir_engine.core.errors import (
    ActionNotFound,
    CategoryNotFound,
    ChunkNotFound,
    InvalidSetting,
    MemoirError,
    RunNotFound,
    SourceNotFound,
)
from memoir_engine.core.run import ALL_ROLES, Actor, Role

MOST_ID = 2**63 - 1
MOST_ROWS = 1_000_000  # that are held in memory together
MOST_SECONDS = 10.0**9
ID_CHARS = 64  # of a run or an action: ours have 26
MOST_BITS = 1024  # of any number: Python refuses to write down those of thousands of digits
FIELD_CHARS = 200  # of a name of a person
_HEAD = re.compile("[0-9a-f]{64}")


def text(name: str, value: object) -> str:
    """Return a text that can be stored: no NUL characters, no halves of surrogate pairs."""
    if not isinstance(value, str):
        _refuse(name, value, "it must be a text", "Give a str.")
    problem = _unwritable(value)
    if problem:
        _refuse(name, value, problem, "Remove it and try again.")
    return value


def raw_text(name: str, value: object) -> str:
    """Return a text whose characters are checked later, where the place of a bad one can be named."""
    return value if isinstance(value, str) else _refuse(name, value, "it must be a text", "Give a str; bytes are ingest_file's.")


def reason(value: object) -> str | None:
    """Return the optional reason for a change."""
    return None if value is None else text("reason", value)


def raw_words(name: str, value: object) -> str:
    """Return a text that is only counted or cut, whatever characters it holds."""
    return value if isinstance(value, str) else _refuse(name, value, "it must be a text", "Give a str.")


def raw_bytes(name: str, value: object) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    _refuse(name, value, "it must be the bytes of a file", "Read the file with open(…, 'rb'); a text is ingest_text's.")


def flag(name: str, value: object) -> bool:
    return value if isinstance(value, bool) else _refuse(name, value, "it must be True or False", "Leave it out for the default.")


def whole(name: str, value: object, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        _refuse(name, value, f"it must be a whole number of {least} or more", "Leave it out for the default.")
    return value if _writable(value) else _refuse(name, value, "it has too many digits", "Leave it out for the default.")


def function(name: str, value: object) -> Any:
    """Return a callable of one argument."""
    return value if callable(value) else _refuse(name, value, "it cannot be called", "Give a function of one argument, or none.")


def seconds(name: str, value: object) -> float:
    """Return a finite time span."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_SECONDS:
        _refuse(name, value, "it must be a number of seconds", "Leave it out to wait as long as it takes.")
    return float(value)


def limit(value: object) -> int:
    """Return the maximum number of rows to read."""
    found = whole("limit", value, least=1)
    if found > MOST_ROWS:
        _refuse("limit", found, f"it is more than {MOST_ROWS} rows at once", "Read on from the last of them, page by page.")
    return found


def number(name: str, value: object) -> int:
    """Return an id, or a number that counts rows."""
    try:
        found = index(value)  # type: ignore[arg-type]  # whatever is no number says so
        if not isinstance(value, bool) and _writable(found):
            return found
    except TypeError:
        pass
    _refuse(name, value, "it must be a whole number", "Ids are the numbers that results carry, e.g. result.source_id.")


def cursor(name: str, value: object) -> int:
    """Return the number to read on from, clamped to the range of row numbers."""
    return max(-MOST_ID, min(number(name, value), MOST_ID))


def texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        _refuse(name, value, "it must be a list of texts", "Give a list, even of one.")
    return tuple(text(name, each) for each in value)


def moment(name: str, value: object) -> int | datetime:
    """Return the number of an audit event, or an aware time given as a datetime or in ISO 8601."""
    advice = "Give a seq of audit.events(), or a datetime with a time zone, e.g. datetime.now(UTC)."
    if isinstance(value, str):
        value = _time(name, value, advice)
    if isinstance(value, datetime):
        if value.tzinfo is None or value.utcoffset() is None:
            _refuse(name, value, "the time has no time zone", advice)
        return _in_utc(value)
    if isinstance(value, bool) or not isinstance(value, int):
        _refuse(name, value, "it must be a whole number or a time", advice)
    if not _writable(value):
        _refuse(name, value, "it has too many digits", advice)
    return value if value >= 0 else _refuse(name, value, "events are counted from 1, and 0 is before the first", advice)


def head(name: str, value: object) -> str:
    """Return a chain head. A mistyped one is no sign of tampering, so a malformed head is refused, never compared."""
    noted = text(name, value).strip().lower()
    if not _HEAD.fullmatch(noted):
        _refuse(name, noted, "not a valid chain head: expected 64 hexadecimal characters", "audit.head().hash is one.")
    return noted


def source(value: object) -> int:
    return _row(value, "source_id", SourceNotFound)


def category(value: object) -> int:
    return _row(value, "category_id", CategoryNotFound)


def chunk(value: object) -> int:
    return _row(value, "chunk_id", ChunkNotFound)


def call(value: object) -> int:
    found = number("call_id", value)
    if not 0 < found <= MOST_ID:
        raise RunNotFound(run_id=f"of call {found}")
    return found


def run(value: object) -> str:
    """Return a run's id; raise RunNotFound for a text that cannot be one."""
    if isinstance(value, str) and (len(value) > ID_CHARS or _unwritable(value)):
        raise RunNotFound(run_id=value if len(value) <= ID_CHARS else f"{value[:ID_CHARS]}…")
    return value if isinstance(value, str) else _refuse("run_id", value, "it must be a text", "Results carry it: result.run_id.")


def action(value: object, name: str = "action_id") -> str:
    """Return an action's id; raise ActionNotFound for a text that cannot be one."""
    found = text(name, value)
    if len(found) > ID_CHARS:
        raise ActionNotFound(action_id=f"{found[:ID_CHARS]}…")
    return found


def sources(value: object) -> tuple[int, ...]:
    """Return the sources a question is limited to; an empty list is refused."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        _refuse("sources", value, "it must be a list of source ids", "Leave it out to ask all sources.")
    found = tuple(value)
    if not found:
        _refuse("sources", value, "there is no source in it", "Leave it out to ask all sources.")
    return tuple(number("sources", each) for each in found)


def rows(name: str, value: object) -> tuple[int, ...]:
    """Return row numbers; a number without a row is allowed."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        _refuse(name, value, "it must be a list of ids", "Give a list, even of one: results carry ids.")
    return tuple(number(name, each) for each in value)


def fields(value: object) -> dict[str, str]:
    """Return a person's description of a source; the form checks the values."""
    if not isinstance(value, Mapping):
        _refuse("fields", value, "it must be a dictionary, a preview or a text", "Give date, author, topic and description.")
    for name, said in value.items():
        if isinstance(said, int) and not _writable(said):
            _refuse(f"fields[{name!r:.50}]", said, "it has too many digits", "Give a text.")
    return dict(value)


def metadata(value: object) -> dict[str, Any]:
    """Return the metadata as JSON reads it back, so that the kept and the stored value are equal."""
    advice = "Use a dictionary of texts, numbers, lists and dictionaries, with texts as keys."
    if not isinstance(value, dict):
        _refuse("metadata", value, "it must be a dictionary", advice)
    try:
        problem = _unwritable_in(value)
        plain: dict[str, Any] = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as not_json:
        problem = str(not_json)
    if problem:
        _refuse("metadata", value, problem, advice)
    return plain


def person(name: str, value: object) -> str:
    return _person(name, value)


def actor(name: object, user: object, roles: object) -> Actor:
    """Build the actor: who acts, whose data it is, and their roles."""
    person = None if user is None else _person("user", user)
    return Actor(_person("actor", name), _roles(roles), person)


def _roles(value: object) -> frozenset[Role]:
    advice = f"Give a tuple of: {', '.join(sorted(ALL_ROLES))}."
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        _refuse("roles", value, "it must be a list of roles", advice)
    wanted = list(value)
    unknown = [each for each in wanted if each not in list(ALL_ROLES)]
    if unknown:
        _refuse("roles", wanted, f"there is no role {unknown[0]!r}", advice)
    return frozenset(wanted)


def _person(name: str, value: object) -> str:
    known = text(name, value)
    if not known.strip():
        _refuse(name, known, "it is empty", "Give the name of who acts, or whose data it is.")
    if len(known) > FIELD_CHARS:
        _refuse(name, known, f"it is {len(known)} characters long", f"Shorten it to {FIELD_CHARS} characters.")
    return known


def _time(name: str, value: str, advice: str) -> datetime:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        _refuse(name, value, "not a valid timestamp", advice)


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:  # less than a day from the ends of the calendar
        return value.replace(tzinfo=UTC)


def _row(value: object, name: str, missing: type[MemoirError]) -> int:
    found = number(name, value)
    if not 0 < found <= MOST_ID:
        raise missing(**{name: found})
    return found


def _unwritable_in(value: object) -> str:
    if isinstance(value, str):
        return _unwritable(value)
    if isinstance(value, dict):
        keys = next((f"the key {key!r} is not a text" for key in value if not isinstance(key, str)), "")
        return keys or _first(_unwritable_in(each) for pair in value.items() for each in pair)
    return _first(_unwritable_in(each) for each in value) if isinstance(value, list | tuple) else ""


def _first(problems: Iterable[str]) -> str:
    return next(filter(None, problems), "")


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


def _refuse(name: str, value: object, problem: str, advice: str) -> NoReturn:
    raise InvalidSetting(name=name, value=value, problem=problem, advice=advice)
