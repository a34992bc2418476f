"""Bytes to text: which encoding it is, and what had to be repaired.

Order: byte order mark, ISO-2022-JP by its escapes, UTF-16 by its zeros or its scripts, UTF-8, UTF-8 with a few foreign bytes
(read as Windows-1252, counted in a warning), else the old encoding that gives the most plausible text, with a warning that
it is a guess.
Invariant: what comes out is what is stored: \\n for every line break, no NUL, no lone surrogate; nothing is dropped
silently.
Source: DESIGN §12 (encodings are looked at before storing); the Encoding Standard §4.2 (labels).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memoir_engine.errors import NothingToIngest, TextInvalid
from memoir_engine.files.wide import wide_encoding

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_JAPANESE_ESCAPES = (b"\x1b$B", b"\x1b$@")
_FOREIGN = re.compile("[\udc80-\udcff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MEANT = {
    **dict.fromkeys(("us-ascii", "ascii", "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1"), "cp1252"),
    **dict.fromkeys(("iso-8859-9", "iso8859-9", "iso_8859-9", "latin5", "l5"), "cp1254"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis"), "cp932"),
    **dict.fromkeys(("ks_c_5601-1987", "euc-kr"), "cp949"),
}


class Decoded(NamedTuple):
    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, name: str) -> Decoded:
    """Raises TextInvalid (E205)."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(_strictly(data, encoding, name), encoding)
    if any(escape in data for escape in _JAPANESE_ESCAPES):
        japanese = _try(data, "iso2022_jp")
        if japanese is not None:
            return Decoded(japanese, "iso2022_jp")
    wide = wide_encoding(data)
    if wide is not None:
        return Decoded(_strictly(data, wide, name), wide)
    text = _try(data, "utf-8")
    return Decoded(text, "utf-8") if text is not None else _mixed(data) or _guessed(data, name)


def meant(label: str) -> str:
    """The encoding that a page or a message is in whose label names a smaller one, as every browser reads it."""
    return _MEANT.get(label.strip().lower(), label)


def clean(text: str, name: str) -> tuple[str, tuple[str, ...]]:
    """The text as it is stored, and what was repaired. Raises TextInvalid (E205), NothingToIngest (E201)."""
    if "\x00" in text:
        advice = "Remove them, or save the file as UTF-8 text."
        raise TextInvalid(name=name, problem=f"it holds NUL characters, the first at {text.index(chr(0))}", advice=advice)
    text, warnings = without_surrogates(text)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.replace("\ufffd", "").strip():
        raise NothingToIngest(name=name)
    return text, warnings


def without_surrogates(text: str) -> tuple[str, tuple[str, ...]]:
    """Pairs become the character they stand for, lone ones U+FFFD."""
    if not _SURROGATE.search(text):
        return text, ()
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    lone = joined.count("\ufffd") - text.count("\ufffd")
    return joined, (f"{lone} half character(s) (lone surrogates) became \ufffd",) if lone else ()


def _mixed(data: bytes) -> Decoded | None:
    """UTF-8 with a few bytes that are not: only where at least as many characters are UTF-8 beyond ASCII."""
    text = data.decode("utf-8", "surrogateescape")
    foreign = len(_FOREIGN.findall(text))
    beyond = len(text) - len(text.encode("ascii", "ignore")) - foreign
    if beyond < foreign:
        return None
    warning = f"not all of it is UTF-8: {foreign} byte(s) were read as Windows-1252"
    return Decoded(_FOREIGN.sub(_as_windows, text), "utf-8", (warning,))


def _as_windows(match: re.Match[str]) -> str:
    return bytes([ord(match[0]) - 0xDC00]).decode("cp1252", "replace")


def _guessed(data: bytes, name: str) -> Decoded:
    from memoir_engine.files.guessing import guess

    found = guess(data)
    if found is None:
        advice = "Save it again as UTF-8."
        raise TextInvalid(name=name, problem="it is in no single encoding that could be recognised", advice=advice)
    nearly = f" ({found.nearly} fits almost as well: look at the text, or save it again as UTF-8)" if found.nearly else ""
    return Decoded(found.text, found.encoding, (f"the encoding is not stated; read as {found.encoding}{nearly}",))


def _strictly(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as broken:
        problem = f"it says it is {broken.encoding}, but byte {broken.start} is not"
        raise TextInvalid(name=name, problem=problem, advice="Save it again as UTF-8.") from broken


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None
