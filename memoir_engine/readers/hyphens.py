"""Lines put together into running text, with words that were parted at the end of a line joined again.

Whether a hyphen at the end of a line belongs to the word is told by the document itself: by how the word is written where it is
not parted, and by whether its halves are words. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memoir_engine.readers.sheet import seam

_PARTED = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)[-\u2010\u00ad]$")
_GOES_ON = re.compile(r"[^\W\d_]+")
_SOFT = "\u00ad"
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")


class Hyphens:
    """The words of a document, with and without hyphens, lower case."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self._words: set[str] = set()
        parted = False
        for line in lines:
            words = _WORD.findall(line.replace(_SOFT, ""))[parted:]  # without halves of words
            parted = _PARTED.search(line) is not None
            words = words[: len(words) - parted]
            self._words.update(word.lower().replace("\u2010", "-") for word in words)

    def joined(self, before: str, after: str) -> str:
        """Return the line with the next one behind it. before: ends with a letter and a hyphen; after: begins with a letter."""
        parted, rest = _PARTED.search(before), _GOES_ON.match(after)
        if parted is None or rest is None or not rest[0][0].islower():
            return before + after
        keep = not before.endswith(_SOFT) and self._keeps(parted[1].lower(), rest[0].lower())
        return (before if keep else before[:-1]) + after

    def _keeps(self, first: str, second: str) -> bool:
        if f"{first}-{second}" in self._words:
            return True
        if f"{first}{second}" in self._words:
            return False
        return "-" in first or (min(len(first), len(second)) > 2 and {first, second} <= self._words)


def unwrap(lines: Sequence[str], hyphens: Hyphens) -> str:
    """Return lines as one."""
    text = ""
    for line in lines:
        text = append(text, line, hyphens)
    return text.replace(_SOFT, "")


def append(text: str, line: str, hyphens: Hyphens) -> str:
    """Return a text with a line behind it, which goes on with its last sentence."""
    if not text:
        return line
    if _PARTED.search(text) and _GOES_ON.match(line):
        return hyphens.joined(text, line)
    if text[-1] in "-\u2010" and text[-2:-1].isalnum() and line[:1].isalnum():
        return text + line  # such as 1914- and 1918
    return f"{text}{seam(text[-1], line[:1])}{line}"
