"""Names of categories: their spelling, their equality, and which are refused.

Invariant: two siblings whose names have the same fold are one category; a refused name is never stored.
Source: DESIGN §5 (name_key), §9 (`›` and control characters).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MAX_CHARS = 60
SEPARATOR = "›"


@lru_cache(maxsize=16_384)  # the same names are compared again and again: those of a tree's options
def fold(name: str) -> str:
    """Fold a name for comparison. The store's name_key is the sha256 of the fold."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())


def clean(name: str) -> str:
    """Return the name as stored and shown: NFKC, trimmed, inner white space folded to one space."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


_WRAPPED = re.compile(r"(\*{1,3}|_{1,3}|`+|[\"'“”„‟«「『‘])(.+?)(\*{1,3}|_{1,3}|`+|[\"'“”‟»」』’])")
_BULLET = re.compile(r"[-•–*#]+\s+(?=\S)")


def undecorated(name: str) -> str:
    """Return a name without the bold, the code, the quotes or the bullet that a model set around it."""
    written = _BULLET.sub("", clean(name), count=1) if _BULLET.match(clean(name)) else clean(name)
    wrapped = _WRAPPED.fullmatch(written)
    inner = wrapped[2].strip() if wrapped and (wrapped[1] == wrapped[3] or wrapped[1] in "“„«「『‘") else ""
    return undecorated(inner) if inner else written


def quote_name(name: str) -> str:
    """Return a name for an error message, shortened: a model may have written a whole text, and errors are kept."""
    written = clean(name)
    return repr(written if len(written) <= MAX_CHARS else f"{written[:MAX_CHARS]}…")


def problem(name: str) -> str | None:
    """Return why a new name is refused, in words, or None. `name` may be as the model wrote it."""
    written = clean(name)
    if not written:
        return "the name is empty"
    if len(written) > MAX_CHARS:
        return f"the name has {len(written)} characters, at most {MAX_CHARS} are allowed"
    if SEPARATOR in written:
        return f"the name contains {SEPARATOR!r}, which separates the parts of a path"
    if any(unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Cn") for sign in written):
        return "the name contains a control character or an invisible one"
    if not any(sign.isalpha() for sign in written):
        return "the name contains no letter"
    return None
