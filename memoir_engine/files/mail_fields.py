"""The header of a message: subject, people and date as lines to read, and how every field of it is parsed.

Invariant: a value is one line without control characters; a field that cannot be parsed is told as it stands. Fields are
cut before they are parsed: the parser of the standard library takes time by the square of their length, and may raise
anything on a hostile one. Source: RFC 5322 §3.6, RFC 2047.
"""

from __future__ import annotations

import email.policy
import re
from datetime import UTC, datetime
from email.headerregistry import HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from functools import lru_cache
from typing import Any, NamedTuple

from memoir_engine.files.dates import iso_date
from memoir_engine.files.metadata import one_line

SHOWN = ("Subject", "From", "To", "Cc", "Date")
_LONGEST = 10_000  # characters
_LONGEST_OF_A_PART = 2_000  # of the fields that every part of thousands may have
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]+")
_UNKNOWN_ZONE = re.compile(r"-0000\b")
_known = HeaderRegistry()
_plain = HeaderRegistry(default_class=UnstructuredHeader, use_default_map=False)


class Letterhead(NamedTuple):
    """author: name and address. dated: ISO 8601 with the zone it was sent in, where the field names one."""

    subject: str | None
    author: str | None
    dated: str | None
    lines: tuple[str, ...]
    warnings: tuple[str, ...]


def letterhead(message: EmailMessage) -> Letterhead:
    fields = {name: value for name in SHOWN if (value := _field(message, name))}
    warnings = tuple(f"{name} is not wholly legible" for name, value in fields.items() if "\ufffd" in value)
    lines = tuple(f"{name}: {value}" for name, value in fields.items())
    return Letterhead(fields.get("Subject"), fields.get("From"), _moment(message), lines, warnings)


def _field(message: EmailMessage, name: str) -> str | None:
    value = message.get(name)
    return None if value is None else as_line(str(value))


def as_line(value: str) -> str | None:
    """None where nothing is left."""
    return one_line(_CONTROLS.sub(" ", value))


def _moment(message: EmailMessage) -> str | None:
    value = message.get("Date")
    moment = getattr(value, "datetime", None)
    if not isinstance(moment, datetime):
        return iso_date(str(value)) if value else None
    if moment.tzinfo is None and _UNKNOWN_ZONE.search(_source(message, "date")):
        moment = moment.replace(tzinfo=UTC)  # RFC 5322 §3.3: universal time from a place that is not told
    return moment.isoformat()


def _source(message: EmailMessage, name: str) -> str:
    return next((str(value) for key, value in message.raw_items() if key.lower() == name), "")


@lru_cache(maxsize=64)  # each is asked for several times
def _parsed(name: str, value: str) -> Any:
    short = _legible(value[: _LONGEST_OF_A_PART if name.lower().startswith("content-") else _LONGEST])
    try:
        return _known(name, short)
    except MemoryError:
        raise
    except Exception:  # IndexError, AttributeError, RecursionError and more, by what the field holds
        return _plain(name, short.replace("=?", "= ?"))  # no encoded words: they may be what it stumbled over


def _legible(value: str) -> str:
    """Bytes beyond ASCII, which the parser keeps as lone surrogates, as UTF-8 or else Windows-1252."""
    if value.isascii():
        return value
    data = value.encode("utf-8", "surrogateescape")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


POLICY = email.policy.default.clone(header_factory=_parsed)
