"""Names in a statement: people, places, things and works, as English writes them with capitals.

Invariant: each name stands in the text as it is; in the order of the text, none twice. Pure.
"""

from __future__ import annotations

import re

_PART = r"[A-Z][\w’'&.-]*[\w]|[A-Z]"
_NAME = re.compile(rf"(?:{_PART})(?:\s(?:(?:of|the|de|la|von|van|and|al)\s)?(?:{_PART}))*")
_COMMON = frozenset(
    """i i'm i've i'd i'll my mine we we're we've our the a an this that these those it its he she they his her their
    there here and but so or if when while since because as at in on for from to with by of no not yes yeah ok okay oh
    well wow hey hi hello thanks thank what who why how which where today tomorrow yesterday tonight monday tuesday
    wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays january
    february march april may june july august september october november december also just now then still been update""".split()
)
_OPENS = re.compile(r"(?:^|[.!?:;–—-]\s+|[\"'“‘(]\s*)$")


def names(text: str) -> tuple[str, ...]:
    """A single capital at the beginning of a sentence is no name; a possessive belongs to the name it follows."""
    found: dict[str, None] = {}
    for hit in _NAME.finditer(text):
        words = hit.group().split()
        opens = bool(_OPENS.search(text[: hit.start()]))
        while words and _plain(words[0]) in _COMMON:
            words, opens = words[1:], False
        while words and _plain(words[-1]) in _COMMON:
            words = words[:-1]
        if words and not (opens and len(words) == 1):
            found.setdefault(re.sub(r"['’]s$", "", " ".join(words)), None)
    return tuple(found)


def _plain(word: str) -> str:
    return word.lower().replace("’", "'")
