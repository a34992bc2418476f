"""The words of one part of a message: transfer encoding undone, then its charset.

Invariant: whatever is broken, what can be read is read, and a warning says what was mended. A charset that is stated and
fits is taken as it is; else the bytes decide, as for a plain text file.
Source: RFC 2045 §6.
"""

from __future__ import annotations

import base64
import re
from email.errors import (
    CloseBoundaryNotFoundDefect,
    InvalidBase64CharactersDefect,
    InvalidBase64LengthDefect,
    InvalidBase64PaddingDefect,
    NoBoundaryInMultipartDefect,
    StartBoundaryNotFoundDefect,
)
from email.message import EmailMessage
from itertools import takewhile
from typing import NamedTuple

from memoir_engine.errors import TextInvalid
from memoir_engine.files.decode import decode, meant, without_surrogates

_BROKEN_BASE64 = (InvalidBase64CharactersDefect, InvalidBase64LengthDefect, InvalidBase64PaddingDefect)
_MENDED = {
    NoBoundaryInMultipartDefect: "it does not say what parts it from the next; the parts were told apart by their first lines",
    StartBoundaryNotFoundDefect: "what it says parts it is not found; the parts were told apart by their first lines",
    CloseBoundaryNotFoundDefect: "it ends in the middle; its last part may be cut short",
}
_SLOW = ("punycode", "idna")  # encodings of host names, in time by the square of the length
_BLANK_WITHIN = re.compile(rb"\S[ \t]+\S")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")
_BASE64_LINE = re.compile(rb"[A-Za-z0-9+/]{4,}={0,2}")


class Words(NamedTuple):
    text: str
    warnings: tuple[str, ...] = ()


def words_of(part: EmailMessage, name: str) -> Words:
    """Raises TextInvalid (E205) where there are NUL characters in it."""
    data, broken = content_of(part)
    charset = part.get_content_charset() or ""
    stated = _stated(data, charset)
    if stated is not None:
        return _checked(stated, broken, name)
    unfit = (f"its charset {charset!r} is unknown or does not fit",) if charset and charset not in ("us-ascii", "utf-8") else ()
    try:
        found = decode(data, name)
    except TextInvalid:
        return _checked(data.decode("utf-8", "replace"), (*broken, *unfit, "some of its characters are not legible"), name)
    return _checked(found.text, (*broken, *unfit, *found.warnings), name)


def content_of(part: EmailMessage) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of a part that holds no others, and what was mended. Those of an attachment tell its size."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return b"", ()
    if any(isinstance(defect, _BROKEN_BASE64) for defect in part.defects):
        del part["Content-Transfer-Encoding"]  # only without it are the bytes given as they came
        source = part.get_payload(decode=True)
        return _as_far_as_it_goes(source if isinstance(source, bytes) else b""), (
            "its base64 is broken; it was decoded as far as it goes",
        )
    return data, ()


def structural_warnings(part: EmailMessage) -> tuple[str, ...]:
    return tuple(told for defect, told in _MENDED.items() if any(isinstance(known, defect) for known in part.defects))


def size_of(count: int) -> str:
    """Bytes as people write them."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1000:.0f} kB" if count < 999_500 else f"{count / 1e6:.1f} MB"


def nul_characters(name: str) -> TextInvalid:
    return TextInvalid(name=name, problem="the message holds NUL characters", advice="Save its text as a file of its own.")


def _checked(text: str, warnings: tuple[str, ...], name: str) -> Words:
    if "\x00" in text:
        raise nul_characters(name)
    text, halves = without_surrogates(text)
    return Words(text.removeprefix("\ufeff"), (*warnings, *halves))


def _stated(data: bytes, charset: str) -> str | None:
    if not charset or charset in _SLOW:
        return None
    if charset in ("us-ascii", "ascii") and not data.isascii():
        return None  # a stray label: the bytes may as well be UTF-8
    if charset.startswith(("utf-16", "utf-32")) and b"\x00" not in data:
        return None  # any bytes fit it, but hardly a text without one blank or line break
    for encoding in dict.fromkeys((meant(charset), charset)):
        try:
            return data.decode(encoding)
        except (LookupError, ValueError):
            continue
    return None


def _as_far_as_it_goes(source: bytes) -> bytes:
    """A list's footer in clear after the base64 is kept; text that never was base64 stays as it stands."""
    if not _BLANK_WITHIN.search(source):
        return _lenient(source)
    lines = [line.strip() for line in source.splitlines()]
    encoded = list(takewhile(_BASE64_LINE.fullmatch, lines))
    if 2 * sum(map(len, encoded)) < len(source):
        return source
    return _lenient(b"".join(encoded)) + b"\n\n" + b"\n".join(lines[len(encoded) :])


def _lenient(encoded: bytes) -> bytes:
    pure = _NOT_BASE64.sub(b"", encoded)
    if len(pure) % 4 == 1:
        pure = pure[:-1]  # a single sign holds no byte
    return base64.b64decode(pure + b"=" * (-len(pure) % 4))
