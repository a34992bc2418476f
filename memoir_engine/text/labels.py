"""Labels before what people say, and when one of them is the person whose memory it is.

Invariant: only words that are no name, and what the person is called, are theirs. Pure.
Source: TIMEM "Memory Extraction"; API "Facts" (user_id).
"""

from __future__ import annotations

import unicodedata

_NO_NAMES = frozenset("user human me you myself i ich moi yo 私 自分".split())


def is_of(person: str, label: str) -> bool:
    """person: a user id; of an address the part before the @ is a name, too."""
    said, own = _plain(label), _plain(person)
    return said in _NO_NAMES or said in (own, own.partition("@")[0])


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
