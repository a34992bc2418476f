"""E-mail: the header as lines to read, then the text; forwarded messages as sections with headings; attachments by name.

Of the alternatives of a text the plain one is taken, else HTML as the HTML reader reads it. Attachments are named where
they stand and not read: each is a document of its own, with an author and a date of its own. For the same reason a mailbox
of several messages is refused with the advice to split it: as one source it could have only one author and one date, which
would be wrong for all messages but one.
Invariant: nothing is fetched; of a broken message what can be read is read, with a warning; depth and number of parts are
limited. Source: RFC 5322, RFC 2045, RFC 2046; DESIGN §8 (files.read).
"""

from __future__ import annotations

import base64
import email
import email.policy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.errors import (
    CloseBoundaryNotFoundDefect,
    InvalidBase64CharactersDefect,
    InvalidBase64LengthDefect,
    InvalidBase64PaddingDefect,
    NoBoundaryInMultipartDefect,
    StartBoundaryNotFoundDefect,
)
from email.headerregistry import HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from functools import lru_cache
from itertools import takewhile
from typing import Any, Literal, NamedTuple

from memoir_engine.core.errors import FileUnreadable, NothingToIngest, TextInvalid
from memoir_engine.readers.charset import decode, meant, without_surrogates
from memoir_engine.readers.document import Document, Flow, iso_date, one_line
from memoir_engine.readers.html import read_html

# === mail_fields: The header of a message: subject, people and date as lines to read, and how every field of it is
# parsed.
#
# Invariant: a value is one line without control characters; a field that cannot be parsed is told as it stands. Fields
# are
# cut before they are parsed: the parser of the standard library takes time by the square of their length, and may raise
# anything on a hostile one. Source: RFC 5322 §3.6, RFC 2047.


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


# === mail_parts: The words of one part of a message: transfer encoding undone, then its charset.
#
# Invariant: whatever is broken, what can be read is read, and a warning says what was mended. A charset that is stated
# and
# fits is taken as it is; else the bytes decide, as for a plain text file.
# Source: RFC 2045 §6.


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


# === mail


MAX_DEPTH = 30  # a message forwarded ten times is three parts deep each time
MAX_PARTS = 5_000
_TOLD = 20  # warnings, and names in one
_POSTMARK = re.compile(rb"(?:\A|\n\r?\n)From \S+ .{0,100}\d{4}.{0,20}\r?\n(?=[A-Za-z-]+:)")
_FIRST_PARTING = re.compile(rb"^--([\w'()+,./:=?-]{1,70})[ \t\r]*$", re.MULTILINE)
_SEALED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_Leaf = tuple[Literal["plain", "html", "message", "attachment"], EmailMessage]


@dataclass
class _Told:
    """What has been written so far."""

    name: str
    flow: Flow = field(default_factory=Flow)
    warnings: dict[str, None] = field(default_factory=dict)  # in order, each once
    attachments: list[str] = field(default_factory=list)
    parts: int = 0
    has_words: bool = False

    def warn(self, *warnings: str) -> None:
        self.warnings.update(dict.fromkeys(warnings))


def read_mail(data: bytes, name: str) -> Document:
    """Raises FileUnreadable (E203), NothingToIngest (E201), TextInvalid (E205)."""
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    _check_single(data, name)
    told = _Told(name)
    try:
        message = email.message_from_bytes(data, EmailMessage, policy=POLICY)
        head = _write(told, message, 0)
    except RecursionError as deep:
        raise _too_deep(name) from deep
    if not (told.has_words or told.attachments or head.subject):
        raise NothingToIngest(name=name)
    warnings = _warnings(told)
    return Document("eml", told.flow.text, head.subject, head.author, head.dated, tuple(told.flow.headings), warnings=warnings)


def _check_single(data: bytes, name: str) -> None:
    if not data.startswith(b"From "):
        return
    count = sum(1 for _ in _POSTMARK.finditer(data))
    if count > 1:
        problem = f"it is a mailbox of {count} messages; save each of them as an .eml file of its own"
        raise FileUnreadable(name=name, kind="EML", problem=problem)


def _too_deep(name: str) -> FileUnreadable:
    problem = f"its parts are nested more than {MAX_DEPTH} deep, which no honest message does"
    return FileUnreadable(name=name, kind="EML", problem=problem)


def _warnings(told: _Told) -> tuple[str, ...]:
    warnings = list(told.warnings)
    left = len(warnings) - _TOLD
    if left > 0:
        warnings[_TOLD:] = [f"{left} more of this kind"]
    if told.attachments:
        count = len(told.attachments)
        names = ", ".join(told.attachments[:_TOLD]) + (", …" if count > _TOLD else "")
        warnings.append(f"{count} attachment(s) are named in the text but were not read: {names}")
    return tuple(warnings)


def _write(told: _Told, message: EmailMessage, depth: int, *, level: int = 0) -> Letterhead:
    """A message with those it holds; level: 0 for the outermost, 1 for one forwarded in it, and so on."""
    head = letterhead(message)
    told.warn(*head.warnings)
    if level:
        told.flow.heading(level, f"Forwarded message: {head.subject}" if head.subject else "Forwarded message")
    for line in head.lines:
        told.flow.add(line)
        told.flow.break_line()
    told.flow.break_block()
    for kind, part in _leaves(told, message, depth):
        told.parts += 1
        if told.parts > MAX_PARTS:
            problem = f"it has more than {MAX_PARTS} parts, which no honest message has"
            raise FileUnreadable(name=told.name, kind="EML", problem=problem)
        if kind == "message":
            _write(told, part, depth + 1, level=level + 1)
        elif kind == "attachment":
            _name_attachment(told, part)
        else:
            _write_words(told, part, kind, level)
    return head


def _write_words(told: _Told, part: EmailMessage, kind: str, level: int) -> None:
    if kind == "html":
        page = _page(told, part)
        told.flow.insert(page.text, page.headings, deeper=level)
        told.has_words |= bool(page.text)
        return
    words = words_of(part, told.name)
    told.warn(*words.warnings)
    if words.text.strip():
        told.flow.insert(words.text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))
        told.has_words = True


def _page(told: _Told, part: EmailMessage) -> Document:
    if part.get_content_charset():
        words = words_of(part, told.name)
        told.warn(*words.warnings)
        return read_html(words.text.encode(), encoding="utf-8")  # what the part states counts, not what the page says
    data, broken = content_of(part)
    if b"\x00" in data:
        raise nul_characters(told.name)
    told.warn(*broken)
    return read_html(data)


def _name_attachment(told: _Told, part: EmailMessage) -> None:
    name = as_line((part.get_filename() or "").replace("\\", "/").rpartition("/")[2]) or part.get_content_type()
    size = len(content_of(part)[0])
    told.attachments.append(name)
    told.flow.break_line()
    told.flow.add(f"Attachment: {name}, {size_of(size)}" if size else f"Attachment: {name}")
    told.flow.break_line()


def _leaves(told: _Told, part: EmailMessage, depth: int) -> Iterator[_Leaf]:
    """What is to be told of a part, in order."""
    if depth > MAX_DEPTH:
        raise _too_deep(told.name)
    kind = part.get_content_type()
    if kind in _SEALED:
        raise FileUnreadable(name=told.name, kind="EML", problem="it is encrypted, or signed in a way that hides its text")
    told.warn(*structural_warnings(part))
    if kind == "multipart/alternative" and part.is_multipart():
        yield from _best(told, part, depth)
    elif part.get_content_maintype() == "multipart":
        parts = _inner(part) or _told_apart(part)
        for inner in parts:
            yield from _leaves(told, inner, depth + 1)
        if not parts:
            yield "plain", part
    elif kind == "message/rfc822" and _inner(part) and not _is_encoded(part):
        yield "message", _inner(part)[0]
    elif kind in ("text/plain", "text/html") and part.get_content_disposition() != "attachment":
        yield ("html" if kind == "text/html" else "plain"), part
    else:
        yield "attachment", part


def _best(told: _Told, part: EmailMessage, depth: int) -> Iterator[_Leaf]:
    """The first alternative with plain words, else the last with HTML; of the others only what is in no other."""
    options = [list(_leaves(told, inner, depth + 1)) for inner in _inner(part)]
    plain = [n for n, option in enumerate(options) if any(_is_plain(told, leaf) for leaf in option)]
    html = [n for n, option in enumerate(options) if any(kind == "html" for kind, _ in option)]
    chosen = (plain or html[-1:] or [0])[0]
    for n, option in enumerate(options):
        yield from option if n == chosen else (leaf for leaf in option if _is_enclosed(leaf))


def _is_plain(told: _Told, leaf: _Leaf) -> bool:
    try:
        return leaf[0] == "plain" and bool(words_of(leaf[1], told.name).text.strip())
    except TextInvalid:
        return True  # it is told when it is written


def _is_enclosed(leaf: _Leaf) -> bool:
    return leaf[0] == "message" or (leaf[0] == "attachment" and leaf[1].get_content_disposition() == "attachment")


def _is_encoded(part: EmailMessage) -> bool:
    """Forbidden for a message (RFC 2046 §5.2.1), and the parser does not undo it: what it found is not the message."""
    return str(part.get("Content-Transfer-Encoding", "")).strip().lower() in ("base64", "quoted-printable")


def _inner(part: EmailMessage) -> list[EmailMessage]:
    held = part.get_payload()
    return [inner for inner in held if isinstance(inner, EmailMessage)] if isinstance(held, list) else []


def _told_apart(part: EmailMessage) -> list[EmailMessage]:
    """The parts of a message whose boundary is not stated or wrong, by the first line that looks like one."""
    body = part.get_payload(decode=True)
    found = _FIRST_PARTING.search(body) if isinstance(body, bytes) else None
    if found is None:
        return []
    head = b'Content-Type: %s; boundary="%s"\n\n' % (part.get_content_type().encode(), found[1])
    return _inner(email.message_from_bytes(head + found.string, EmailMessage, policy=POLICY))
