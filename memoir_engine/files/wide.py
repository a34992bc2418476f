"""UTF-16 without a byte order mark: which order its bytes are in, or that it is none.

Bytes of another encoding give characters of all kinds when they are taken in pairs: one letter and a blank make a sign, two
letters a Chinese character. So nearly all must be of scripts that people write, and some of them of blocks with a low number.
Invariant: what holds no control characters is never UTF-16. Blanks, line breaks and Eastern full stops give some in all that is.
"""

from __future__ import annotations

import re

_SAMPLE = 4096
_LEAST = 6  # characters
_PLAIN = "\t\n\r\x20-\x7e\xa0-\xff"
_LETTERS = "\u0370-\u06ff\u0e00-\u0e7f"  # Greek, Cyrillic, Hebrew, Arabic, Thai
_KANA = "\u3000-\u30ff\uff00-\uffef"  # with the signs of Chinese, Japanese and Korean texts
_KNOWN = re.compile(f"[{_PLAIN}{_LETTERS}{_KANA}\u2010-\u203b\u4e00-\u9fff\uac00-\ud7a3]")
_TELLING = re.compile(f"[{_PLAIN}{_LETTERS}{_KANA}]")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def wide_encoding(data: bytes) -> str | None:
    sample = data[:_SAMPLE]
    if len(sample) < 4:
        return None
    even, odd = sample[0::2], sample[1::2]
    zeros_even, zeros_odd = even.count(0) / len(even), odd.count(0) / len(odd)
    if zeros_odd > 0.4 and zeros_even < 0.05:
        return "utf-16-le"
    if zeros_even > 0.4 and zeros_odd < 0.05:
        return "utf-16-be"
    if len(data) % 2 or 100 * len(_CONTROL.findall(sample)) < len(sample):
        return None
    return next((encoding for encoding in ("utf-16-le", "utf-16-be") if _is_written(sample.decode(encoding, "replace"))), None)


def _is_written(text: str) -> bool:
    if len(text) < _LEAST:
        return False
    known, telling = len(_KNOWN.findall(text)), len(_TELLING.findall(text))
    return known >= 0.98 * len(text) and telling >= 0.08 * len(text)
