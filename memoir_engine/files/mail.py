"""E-mail: the header as lines to read, then the text; forwarded messages as sections with headings; attachments by name.

Of the alternatives of a text the plain one is taken, else HTML as the HTML reader reads it. Attachments are named where
they stand and not read: each is a document of its own, with an author and a date of its own. For the same reason a mailbox
of several messages is refused with the advice to split it: as one source it could have only one author and one date, which
would be wrong for all messages but one.
Invariant: nothing is fetched; of a broken message what can be read is read, with a warning; depth and number of parts are
limited. Source: RFC 5322, RFC 2045, RFC 2046; DESIGN §8 (files.read).
"""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Literal

from memoir_engine.errors import FileUnreadable, NothingToIngest, TextInvalid
from memoir_engine.files.document import Document
from memoir_engine.files.flow import Flow
from memoir_engine.files.html import read_html
from memoir_engine.files.mail_fields import POLICY, Letterhead, as_line, letterhead
from memoir_engine.files.mail_parts import content_of, nul_characters, size_of, structural_warnings, words_of

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
