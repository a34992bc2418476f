"""Where the words that somebody quotes stand in a text.

Invariant: `text[start:end]` is what is quoted, up to case, white space and the shape of quotation marks and dashes; where it is
not there the answer is None, never a guess. Pure, O(text).
Source: CHUNK 7.3; DESIGN §9 (spans are found by the engine).
"""

from __future__ import annotations

import re

_SAME = {
    **dict.fromkeys("‘’‚‛`´", "'"),
    **dict.fromkeys("“”„‟«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "…": "...",
}
_EDGES = " .…,;:!?\"'“”‘’«»()[]*_-–—"
# Thai to Tibetan, Burmese, Khmer, Chinese, Japanese, Korean with its endings
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
).match
LEAST = 3  # letters or digits; fewer stand anywhere


def find(quote: str, text: str) -> tuple[int, int] | None:
    """Exactly where it can be, else by its words in their order; as whole words rather than within longer ones.

    Quotation marks and dots around it do not count.
    """
    said = quote.strip()
    if sum(map(str.isalnum, said)) < min(LEAST, max(1, sum(map(str.isalnum, text)))):
        return None
    at, whole = _at(said, text)
    if whole:
        return at, at + len(said)
    plain, places = _plain(text)
    wanted = _plain(said.strip(_EDGES))[0].strip()
    near, whole = _at(wanted, plain)
    if at >= 0 and not whole:
        return at, at + len(said)
    return None if near < 0 else (places[near], places[near + len(wanted) - 1] + 1)


def _at(wanted: str, text: str) -> tuple[int, bool]:
    """Where it stands as whole words, and True; else where it stands first, or -1."""
    first = at = text.find(wanted) if wanted else -1
    while at >= 0:
        if not _within(text, at) and not _within(text, at + len(wanted)):
            return at, True
        at = text.find(wanted, at + 1)
    return first, False


def _within(text: str, at: int) -> bool:
    """Whether a word goes on across this place. Scripts that put no spaces between words have none to cut."""
    sides = text[at - 1 : at + 1]
    return 0 < at < len(text) and sides.isalnum() and not any(map(_UNSPACED, sides))


def _plain(text: str) -> tuple[str, list[int]]:
    """The text folded, and for each of its characters the place it comes from."""
    signs: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        for one in " " if sign.isspace() else _SAME.get(sign, sign.casefold()):
            if one == " " and signs and signs[-1] == " ":
                continue
            signs.append(one)
            places.append(place)
    return "".join(signs), places
