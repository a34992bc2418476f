"""Read e-mail: the header as lines, then the text; forwarded messages as sections with headings; attachments by name.

Of the alternatives of a text the plain one is taken, else HTML. Attachments are named in place and not read: each is a
document with an author and a date of its own. For the same reason a mailbox of several messages is refused with the advice
to split it: one source has one author and one date, wrong for all messages but one.
Invariants:
- nothing is fetched; depth and number of parts are limited;
- a broken message is read as far as possible, and a warning says what was repaired;
- a charset that is stated and fits is used; else the bytes decide, as for a plain text file;
- a header value is one line without control characters; a field that cannot be parsed is kept as written. Fields are cut
  before parsing: the parser of the standard library takes quadratic time, and may raise anything on a hostile one.
Source: RFC 5322, RFC 2045, RFC 2046, RFC 2047; DESIGN §8 (files.read).
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
from memoir_engine.readers.charset import canonical_encoding, decode, without_surrogates
from memoir_engine.readers.document import Document, Flow, iso_date, one_line
from memoir_engine.readers.html import read_html

SHOWN = ("Subject", "From", "To", "Cc", "Date")
_LONGEST = 10_000  # characters
_LONGEST_OF_A_PART = 2_000  # of fields that each of thousands of parts may have
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]+")
_UNKNOWN_ZONE = re.compile(r"-0000\b")
_known = HeaderRegistry()
_plain = HeaderRegistry(default_class=UnstructuredHeader, use_default_map=False)


class Letterhead(NamedTuple):
    """The header of a message. author: name and address. dated: ISO 8601 with the sender's zone, if stated."""

    subject: str | None
    author: str | None
    dated: str | None
    lines: tuple[str, ...]
    warnings: tuple[str, ...]


def letterhead(message: EmailMessage) -> Letterhead:
    """Read subject, people and date from the header of a message."""
    fields = {name: value for name in SHOWN if name in message and (value := as_line(str(message[name])))}
    warnings = tuple(f"{name} is not wholly legible" for name, value in fields.items() if "\ufffd" in value)
    lines = tuple(f"{name}: {value}" for name, value in fields.items())
    return Letterhead(fields.get("Subject"), fields.get("From"), _moment(message), lines, warnings)


def as_line(value: str) -> str | None:
    """Return a value as one line without control characters; None if it is empty."""
    return one_line(_CONTROLS.sub(" ", value))


def _moment(message: EmailMessage) -> str | None:
    value = message.get("Date")
    moment = getattr(value, "datetime", None)
    if not isinstance(moment, datetime):
        return iso_date(str(value)) if value else None
    source = next((str(value) for key, value in message.raw_items() if key.lower() == "date"), "")
    if moment.tzinfo is None and _UNKNOWN_ZONE.search(source):
        moment = moment.replace(tzinfo=UTC)  # RFC 5322 §3.3: universal time from an unknown place
    return moment.isoformat()


@lru_cache(maxsize=64)  # each is read several times
def _parsed(name: str, value: str) -> Any:
    short = _legible(value[: _LONGEST_OF_A_PART if name.lower().startswith("content-") else _LONGEST])
    try:
        return _known(name, short)
    except MemoryError:
        raise
    except Exception:  # IndexError, AttributeError, RecursionError and more, by what the field holds
        return _plain(name, short.replace("=?", "= ?"))  # without encoded words: they may have caused it


def _legible(value: str) -> str:
    """Decode bytes beyond ASCII, which the parser keeps as lone surrogates, as UTF-8 or else Windows-1252."""
    if value.isascii():
        return value
    data = value.encode("utf-8", "surrogateescape")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


POLICY = email.policy.default.clone(header_factory=_parsed)


_BROKEN_BASE64 = (InvalidBase64CharactersDefect, InvalidBase64LengthDefect, InvalidBase64PaddingDefect)
_REPAIRS = {
    NoBoundaryInMultipartDefect: "it does not say what parts it from the next; the parts were told apart by their first lines",
    StartBoundaryNotFoundDefect: "what it says parts it is not found; the parts were told apart by their first lines",
    CloseBoundaryNotFoundDefect: "it ends in the middle; its last part may be cut short",
}
_SLOW = ("punycode", "idna")  # encodings of host names, in time by the square of the length
_BLANK_WITHIN = re.compile(rb"\S[ \t]+\S")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")
_BASE64_LINE = re.compile(rb"[A-Za-z0-9+/]{4,}={0,2}")


class PartText(NamedTuple):
    text: str
    warnings: tuple[str, ...] = ()


def text_of(part: EmailMessage, name: str) -> PartText:
    """Decode the text of a part. Raises TextInvalid (E205) if it holds NUL characters."""
    data, broken = content_of(part)
    charset = part.get_content_charset() or ""
    stated = _stated(data, charset)
    if stated is not None:
        return _checked(stated, broken, name)
    unfit = (f"its charset {charset!r} is unknown or does not fit",) if charset and charset not in ("us-ascii", "utf-8") else ()
    try:
        decoded = decode(data, name)
    except TextInvalid:
        return _checked(data.decode("utf-8", "replace"), (*broken, *unfit, "some of its characters are not legible"), name)
    return _checked(decoded.text, (*broken, *unfit, *decoded.warnings), name)


def content_of(part: EmailMessage) -> tuple[bytes, tuple[str, ...]]:
    """Return the bytes of a part without inner parts, transfer encoding undone, and what was repaired."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return b"", ()
    if any(isinstance(defect, _BROKEN_BASE64) for defect in part.defects):
        del part["Content-Transfer-Encoding"]  # with it, the bytes as received are not accessible
        source = part.get_payload(decode=True)
        warning = "its base64 is broken; it was decoded as far as it goes"
        return _decode_broken_base64(source if isinstance(source, bytes) else b""), (warning,)
    return data, ()


def structural_warnings(part: EmailMessage) -> tuple[str, ...]:
    return tuple(text for kind, text in _REPAIRS.items() if any(isinstance(defect, kind) for defect in part.defects))


def size_of(count: int) -> str:
    """Format a number of bytes for people."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1000:.0f} kB" if count < 999_500 else f"{count / 1e6:.1f} MB"


def nul_characters(name: str) -> TextInvalid:
    return TextInvalid(name=name, problem="the message holds NUL characters", advice="Save its text as a file of its own.")


def _checked(text: str, warnings: tuple[str, ...], name: str) -> PartText:
    if "\x00" in text:
        raise nul_characters(name)
    text, halves = without_surrogates(text)
    return PartText(text.removeprefix("\ufeff"), (*warnings, *halves))


def _stated(data: bytes, charset: str) -> str | None:
    if not charset or charset in _SLOW:
        return None
    if charset in ("us-ascii", "ascii") and not data.isascii():
        return None  # a stray label: the bytes may as well be UTF-8
    if charset.startswith(("utf-16", "utf-32")) and b"\x00" not in data:
        return None  # any bytes fit it, but hardly a text without one blank or line break
    for encoding in dict.fromkeys((canonical_encoding(charset), charset)):
        try:
            return data.decode(encoding)
        except (LookupError, ValueError):
            continue
    return None


def _decode_broken_base64(source: bytes) -> bytes:
    """Decode base64 leniently; keep a mailing list's plain footer after it, and text that never was base64."""
    if not _BLANK_WITHIN.search(source):
        return _decode_base64(source)
    lines = [line.strip() for line in source.splitlines()]
    encoded = list(takewhile(_BASE64_LINE.fullmatch, lines))
    if 2 * sum(map(len, encoded)) < len(source):
        return source
    return _decode_base64(b"".join(encoded)) + b"\n\n" + b"\n".join(lines[len(encoded) :])


def _decode_base64(encoded: bytes) -> bytes:
    pure = _NOT_BASE64.sub(b"", encoded)
    if len(pure) % 4 == 1:
        pure = pure[:-1]  # a single character encodes no byte
    return base64.b64decode(pure + b"=" * (-len(pure) % 4))


MAX_DEPTH = 30  # a message forwarded ten times is three parts deep each time
MAX_PARTS = 5_000
_MOST_LISTED = 20  # warnings, and names in one
_POSTMARK = re.compile(rb"(?:\A|\n\r?\n)From \S+ .{0,100}\d{4}.{0,20}\r?\n(?=[A-Za-z-]+:)")
_BOUNDARY = re.compile(rb"^--([\w'()+,./:=?-]{1,70})[ \t\r]*$", re.MULTILINE)
_SEALED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_Leaf = tuple[Literal["plain", "html", "message", "attachment"], EmailMessage]


@dataclass
class _Output:
    """The text and warnings of a message, as far as it has been read."""

    name: str
    flow: Flow = field(default_factory=Flow)
    warnings: dict[str, None] = field(default_factory=dict)  # in order, each once
    attachments: list[str] = field(default_factory=list)
    parts: int = 0
    has_words: bool = False

    def warn(self, *warnings: str) -> None:
        self.warnings.update(dict.fromkeys(warnings))


def read_mail(data: bytes, name: str) -> Document:
    """Read one message. Raises FileUnreadable (E203), NothingToIngest (E201), TextInvalid (E205)."""
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    count = sum(1 for _ in _POSTMARK.finditer(data)) if data.startswith(b"From ") else 1
    if count > 1:
        problem = f"it is a mailbox of {count} messages; save each of them as an .eml file of its own"
        raise FileUnreadable(name=name, kind="EML", problem=problem)
    output = _Output(name)
    try:
        message = email.message_from_bytes(data, EmailMessage, policy=POLICY)
        head = _write(output, message, 0)
    except RecursionError as deep:
        raise _too_deep(name) from deep
    if not (output.has_words or output.attachments or head.subject):
        raise NothingToIngest(name=name)
    flow, warnings = output.flow, _warnings(output)
    return Document("eml", flow.text, head.subject, head.author, head.dated, tuple(flow.headings), warnings=warnings)


def _too_deep(name: str) -> FileUnreadable:
    problem = f"its parts are nested more than {MAX_DEPTH} deep, which no honest message does"
    return FileUnreadable(name=name, kind="EML", problem=problem)


def _warnings(output: _Output) -> tuple[str, ...]:
    warnings = list(output.warnings)
    left = len(warnings) - _MOST_LISTED
    if left > 0:
        warnings[_MOST_LISTED:] = [f"{left} more of this kind"]
    if output.attachments:
        count = len(output.attachments)
        names = ", ".join(output.attachments[:_MOST_LISTED]) + (", …" if count > _MOST_LISTED else "")
        warnings.append(f"{count} attachment(s) are named in the text but were not read: {names}")
    return tuple(warnings)


def _write(output: _Output, message: EmailMessage, depth: int, *, level: int = 0) -> Letterhead:
    """Write a message and those inside it. level: 0 for the outermost, 1 for one forwarded in it, and so on."""
    head = letterhead(message)
    output.warn(*head.warnings)
    if level:
        output.flow.heading(level, f"Forwarded message: {head.subject}" if head.subject else "Forwarded message")
    for line in head.lines:
        output.flow.add(line)
        output.flow.break_line()
    output.flow.break_block()
    for kind, part in _leaves(output, message, depth):
        output.parts += 1
        if output.parts > MAX_PARTS:
            problem = f"it has more than {MAX_PARTS} parts, which no honest message has"
            raise FileUnreadable(name=output.name, kind="EML", problem=problem)
        if kind == "message":
            _write(output, part, depth + 1, level=level + 1)
        elif kind == "attachment":
            _name_attachment(output, part)
        else:
            _write_words(output, part, kind, level)
    return head


def _write_words(output: _Output, part: EmailMessage, kind: str, level: int) -> None:
    if kind == "html":
        page = _page(output, part)
        output.flow.insert(page.text, page.headings, deeper=level)
        output.has_words |= bool(page.text)
        return
    words = text_of(part, output.name)
    output.warn(*words.warnings)
    if words.text.strip():
        output.flow.insert(words.text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))
        output.has_words = True


def _page(output: _Output, part: EmailMessage) -> Document:
    if part.get_content_charset():
        words = text_of(part, output.name)
        output.warn(*words.warnings)
        return read_html(words.text.encode(), encoding="utf-8")  # the part's charset overrides the page's
    data, broken = content_of(part)
    if b"\x00" in data:
        raise nul_characters(output.name)
    output.warn(*broken)
    return read_html(data)


def _name_attachment(output: _Output, part: EmailMessage) -> None:
    name = as_line((part.get_filename() or "").replace("\\", "/").rpartition("/")[2]) or part.get_content_type()
    size = len(content_of(part)[0])
    output.attachments.append(name)
    output.flow.break_line()
    output.flow.add(f"Attachment: {name}, {size_of(size)}" if size else f"Attachment: {name}")
    output.flow.break_line()


def _leaves(output: _Output, part: EmailMessage, depth: int) -> Iterator[_Leaf]:
    """Yield the texts, messages and attachments of a part to write, in order."""
    if depth > MAX_DEPTH:
        raise _too_deep(output.name)
    kind = part.get_content_type()
    if kind in _SEALED:
        raise FileUnreadable(name=output.name, kind="EML", problem="it is encrypted, or signed in a way that hides its text")
    output.warn(*structural_warnings(part))
    if kind == "multipart/alternative" and part.is_multipart():
        yield from _best(output, part, depth)
    elif part.get_content_maintype() == "multipart":
        parts = _inner(part) or _split_by_boundary(part)
        for inner in parts:
            yield from _leaves(output, inner, depth + 1)
        if not parts:
            yield "plain", part
    elif kind == "message/rfc822" and _inner(part) and not _is_encoded(part):
        yield "message", _inner(part)[0]
    elif kind in ("text/plain", "text/html") and part.get_content_disposition() != "attachment":
        yield ("html" if kind == "text/html" else "plain"), part
    else:
        yield "attachment", part


def _best(output: _Output, part: EmailMessage, depth: int) -> Iterator[_Leaf]:
    """Yield the first alternative with plain words, else the last with HTML; of the others messages and attachments only."""
    options = [list(_leaves(output, inner, depth + 1)) for inner in _inner(part)]
    plain = [n for n, option in enumerate(options) if any(_is_plain(output, leaf) for leaf in option)]
    html = [n for n, option in enumerate(options) if any(kind == "html" for kind, _ in option)]
    chosen = (plain or html[-1:] or [0])[0]
    for n, option in enumerate(options):
        yield from option if n == chosen else (leaf for leaf in option if _is_enclosed(leaf))


def _is_plain(output: _Output, leaf: _Leaf) -> bool:
    try:
        return leaf[0] == "plain" and bool(text_of(leaf[1], output.name).text.strip())
    except TextInvalid:
        return True  # raised when it is written


def _is_enclosed(leaf: _Leaf) -> bool:
    return leaf[0] == "message" or (leaf[0] == "attachment" and leaf[1].get_content_disposition() == "attachment")


def _is_encoded(part: EmailMessage) -> bool:
    """Report a transfer encoding, which RFC 2046 §5.2.1 forbids for a message and the parser does not undo."""
    return str(part.get("Content-Transfer-Encoding", "")).strip().lower() in ("base64", "quoted-printable")


def _inner(part: EmailMessage) -> list[EmailMessage]:
    payload = part.get_payload()
    return [inner for inner in payload if isinstance(inner, EmailMessage)] if isinstance(payload, list) else []


def _split_by_boundary(part: EmailMessage) -> list[EmailMessage]:
    """Split a part whose boundary is missing or wrong, by the first line that looks like one."""
    body = part.get_payload(decode=True)
    boundary = _BOUNDARY.search(body) if isinstance(body, bytes) else None
    if boundary is None:
        return []
    head = b'Content-Type: %s; boundary="%s"\n\n' % (part.get_content_type().encode(), boundary[1])
    return _inner(email.message_from_bytes(head + boundary.string, EmailMessage, policy=POLICY))
