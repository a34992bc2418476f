"""Where the words that somebody quotes stand in a text.

Invariant: `text[start:end]` is what is quoted, up to case, white space and the shape of quotation marks and dashes; where it is
not there the answer is None, never a guess. Pure, O(text).
Source: CHUNK 7.3; DESIGN §9 (spans are found by the engine).
"""

from __future__ import annotations

_SAME = {
    **dict.fromkeys("‘’‚‛`´", "'"),
    **dict.fromkeys("“”„‟«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "…": "...",
}
_EDGES = " .…,;:!?\"'“”‘’«»()[]*_-–—"
LEAST = 3  # letters or digits; fewer stand anywhere


def find(quote: str, text: str) -> tuple[int, int] | None:
    """Exactly where it can be, else by its words in their order. Quotation marks and dots around it do not count."""
    said = quote.strip()
    if sum(map(str.isalnum, said)) < min(LEAST, max(1, sum(map(str.isalnum, text)))):
        return None
    at = text.find(said)
    if at >= 0:
        return at, at + len(said)
    plain, places = _plain(text)
    wanted = _plain(said.strip(_EDGES))[0].strip()
    at = plain.find(wanted) if wanted else -1
    return None if at < 0 else (places[at], places[at + len(wanted) - 1] + 1)


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
