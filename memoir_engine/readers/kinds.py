"""Detect the kind of a file by its content and its name together.

Invariant: a file is read as what its content is; where the name promises something else, it is refused.
Source: DESIGN §12 (type by content).
"""

from __future__ import annotations

import re
from pathlib import PurePath

from memoir_engine.core.errors import FileTypeUnknown
from memoir_engine.readers.charset import wide_encoding
from memoir_engine.readers.document import Kind

_NAMED: dict[str, Kind] = {
    ".txt": "txt",
    ".text": "txt",
    ".md": "md",
    ".markdown": "md",
    ".mdown": "md",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".eml": "eml",
    ".mbox": "eml",
}
_MAGIC = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or password-protected Office file"),
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"ID3\x02", "a sound"),
    (b"ID3\x03", "a sound"),
    (b"ID3\x04", "a sound"),
    (b"OggS\x00", "a sound or film"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!\x1a", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"SQLite format 3\x00", "a database"),
    (b"{\\rtf", "an RTF file"),
    (b"%!PS", "a PostScript file"),
)
_MAIL_FIELDS = frozenset(
    b"from to cc subject date message-id received mime-version return-path delivered-to reply-to sender content-type".split()
)
_FIELD = re.compile(rb"([!-9;-~]+)[ \t]*:")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ENCODED = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x0b\x0c\x1b"))
_SAMPLE = 65_536


def kind_of(data: bytes, name: str) -> Kind:
    """Return the kind of a file. Raises FileTypeUnknown (E204), saying what the content is."""
    suffix = PurePath(name).suffix.lower()
    named = _NAMED.get(suffix)
    found = "pdf" if named == "pdf" and b"%PDF-" in data[:1024] else _by_magic(data)  # readers allow other bytes before it
    if found in ("pdf", "docx"):
        if named not in (None, found):
            raise FileTypeUnknown(name=name, problem=f"its name ends in {suffix}, but its content is {found.upper()}")
        return found  # type: ignore[return-value]  # one of the two
    if found is not None:
        raise FileTypeUnknown(name=name, problem=f"its content is {found}")
    if named in ("pdf", "docx"):
        raise FileTypeUnknown(name=name, problem=f"its name ends in {suffix}, but its content is not {named.upper()}")
    if named == "eml" and not _mail_fields(data, strict=False):
        problem = f"its name ends in {suffix}, but it does not begin with the header of a message (From, Date, Subject …)"
        raise FileTypeUnknown(name=name, problem=problem)
    if named == "eml" or (named is None and _is_mail(data)):
        return "eml"
    if _is_binary(data):
        raise FileTypeUnknown(name=name, problem="its content is binary, not text")
    is_html = data[:1024].lstrip().lower().startswith((b"<!doctype html", b"<html"))
    return named or ("html" if is_html else "txt")


def _by_magic(data: bytes) -> str | None:
    if data[:1024].lstrip().startswith(b"%PDF-"):
        return "pdf"
    if data.startswith(_ZIP):
        return "docx" if b"word/" in data else "a ZIP archive that is not DOCX"
    if data.startswith(b"RIFF") and data[8:12] in (b"WAVE", b"AVI ", b"WEBP"):
        return "a sound, film or WebP picture"
    if data.startswith(b"BZh") and data[4:10] == b"1AY&SY":
        return "a bzip2 archive"
    return next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)


def _is_mail(data: bytes) -> bool:
    fields = _mail_fields(data, strict=True)
    has_sender = b"from" in fields and not fields.isdisjoint((b"date", b"message-id", b"received", b"mime-version"))
    return has_sender or {b"mime-version", b"content-type"} <= fields


def _mail_fields(data: bytes, *, strict: bool) -> set[bytes]:
    """Return the mail header fields at the start, in lower case. strict: none if other lines stand among them."""
    lines = data[:_SAMPLE].removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").splitlines()
    fields = set()
    for line in lines[1:] if lines and lines[0].startswith(b"From ") else lines:
        field = _FIELD.match(line)
        if field:
            fields.add(field[1].lower())
        elif not line.strip():
            break
        elif line[:1] not in b" \t":
            return set() if strict else fields & _MAIL_FIELDS
    return fields & _MAIL_FIELDS


def _is_binary(data: bytes) -> bool:
    """Report whether more than a tenth are control characters; UTF-16 is decoded before it is counted."""
    sample = data[:_SAMPLE]
    if sample.startswith(_ENCODED):
        return False
    wide = wide_encoding(sample)
    if wide is not None:
        sample = sample.decode(wide, "ignore").encode("latin-1", "replace")
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls * 10 > len(sample)
