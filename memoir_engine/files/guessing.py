"""Which old encoding some bytes are in, where they do not say it.

Every candidate that decodes all of the bytes is weighed by how plausible a text it gives: the characters by their frequency
in the languages it was made for, and what stands beside what.
Invariant: a text that reads well in no candidate is in none; the same bytes give the same guess.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from math import log
from typing import NamedTuple

from memoir_engine.files.letters import LANGUAGES, Language

SAMPLE = 32_000  # bytes that are weighed, of the lines that are not plain ASCII
DOUBT = 4.0  # nats between the best and the next that make the best e^4 = 50 times as likely
IMPLAUSIBLE = 5.6  # nats per byte beyond ASCII; plausible texts take 2 to 5.3
_ASCII = 3.0
_LATER = 1.0  # for each encoding of a language that is more usual than this one
_RARER = 1.5  # for one that is not of _SHARED
_CASE, _SCRIPTS, _EAST, _NO_WORD = 4.0, 5.0, 2.0, 3.0
_WORD = 1.5  # what a small word of the language speaks for it
_BEHIND, _BEFORE = frozenset("½¼£§€®±×÷¢¥"), frozenset("½¼£±²³¹¥")  # no letter stands beside them
_WORDS = re.compile(r"\w+")
_SHARED = ("cp1252", "cp932", "gb18030", "cp1251")  # first where two fit alike


class Guess(NamedTuple):
    """nearly: another encoding that would have given another text, almost as plausible."""

    encoding: str
    text: str
    nearly: str | None


class _Weighed(NamedTuple):
    """surprise: the cost of the characters beyond ASCII alone, and foreign: how many bytes these take."""

    cost: float
    surprise: float
    foreign: int
    encoding: str
    sample: str


def guess(data: bytes) -> Guess | None:
    """None where no encoding gives a plausible text. data: not ASCII alone."""
    sample = _sample(data)
    for at, best in enumerate(ranked := _ranked(sample)):
        text = _decoded(data, best.encoding)
        if text is None:
            continue
        if best.surprise > IMPLAUSIBLE * best.foreign + _CASE:
            return None
        return Guess(best.encoding, text, _nearly(best, ranked[at + 1 :], data))
    return None


def _sample(data: bytes) -> bytes:
    """No encoding here has a line break within a character."""
    lines: list[bytes] = []
    left = SAMPLE
    for line in data.split(b"\n"):
        if left > 0 and not line.isascii():
            lines.append(line[:left])
            left -= len(line) + 1
    return b"\n".join(lines)


def _ranked(sample: bytes) -> list[_Weighed]:
    languages: dict[str, list[Language]] = {}
    usual: dict[str, float] = {}
    for language in LANGUAGES:
        for rank, encoding in enumerate(language.encodings):
            languages.setdefault(encoding, []).append(language)
            usual[encoding] = _LATER * rank + (0.0 if encoding in _SHARED else _RARER)
    weighed = []
    for encoding, written in languages.items():
        text = _begun(sample, encoding)
        if text:
            cost, surprise = _cost(text, written)
            foreign = len(sample) - sum(map(str.isascii, text))
            weighed.append(_Weighed(usual[encoding] + cost, surprise, foreign, encoding, text))
    return sorted(weighed, key=lambda one: one.cost)  # stable: ties in the order of LANGUAGES


def _begun(sample: bytes, encoding: str) -> str | None:
    """The last character may be cut."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _nearly(best: _Weighed, others: list[_Weighed], data: bytes) -> str | None:
    near = (one for one in others if one.cost - best.cost < DOUBT and one.sample != best.sample)
    return next((one.encoding for one in near if _decoded(data, one.encoding) is not None), None)


def _cost(text: str, languages: list[Language]) -> tuple[float, float]:
    """Of the likeliest language: the whole cost and the surprise."""
    chars: Counter[str] = Counter()
    beside = 0.0
    for (before, char), count in Counter(zip(" " + text, text, strict=False)).items():
        chars[char] += count
        if not (before.isascii() and char.isascii()):
            beside += count * _beside(before, char)
    plain = _ASCII * sum(count for char, count in chars.items() if char.isascii())
    foreign = [(char, count) for char, count in chars.items() if not char.isascii()]
    words = Counter(_WORDS.findall(text.lower())) if any(language.words for language in languages) else Counter[str]()
    letters = sum(count for char, count in chars.items() if char.isascii() and char.isalpha())
    own = sum(count for _char, count in foreign)
    apart = own * log(1 + letters / own) if own else 0.0

    def weighed(language: Language) -> tuple[float, float]:
        surprise = beside + sum(count * language.cost(char) for char, count in foreign)
        spoken = _WORD * sum(words[word] for word in language.words) - (apart if language.apart else 0.0)
        return plain + surprise - spoken, surprise

    return min(map(weighed, languages))


def _beside(before: str, char: str) -> float:
    """What no word has: a capital or a final letter within it, letters of two scripts, a digit or a sign right behind one."""
    case = _CASE if before.islower() and char.isupper() else 0.0
    if char.isupper() and not char.isascii():
        case += 0.1 if before.isupper() else 0.7
    if not before.isalpha():
        return case + (_NO_WORD if before in _BEFORE and char.isalpha() else 0.0)
    if before == "ς" and char.isalpha():  # stands at the end of words only
        return _NO_WORD
    one, two = _script(before), _script(char)
    if not char.isalpha():
        return case + (_NO_WORD if char in _BEHIND or (char.isdecimal() and one != "east") else 0.0)
    return case if one == two else _EAST if "east" in (one, two) else case + _SCRIPTS


def _script(letter: str) -> str:
    code = ord(letter)
    if code >= 0x2E80:
        return "east"
    bounds = ((0x250, "latin"), (0x400, "greek"), (0x530, "cyrillic"), (0x600, "hebrew"), (0x780, "arabic"))
    return next((script for bound, script in bounds if code < bound), "other")
