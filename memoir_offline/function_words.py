"""Function words of the language a text is in: no topic and no name is made of them.

The lists of European languages are those of bm25s, from Snowball and NLTK; only that of the text's own language counts,
as "die", "war" and "son" mean something elsewhere. Japanese needs no list: hiragana alone are endings and particles (text/terms).
"""

from __future__ import annotations

from collections import Counter
from functools import cache

from memoir_engine.text.terms import STOP, words

LOOKED_AT = 4_000  # characters
CLEAR_SHARE = 0.3  # of the words: from here on the text is English
LEAST_SHARE = 0.08  # of the words: below, the language is unknown, and English is assumed

_LANGUAGES = (
    "DANISH",
    "DUTCH",
    "FRENCH",
    "GERMAN",
    "ITALIAN",
    "NORWEGIAN",
    "PORTUGUESE",
    "RUSSIAN",
    "SPANISH",
    "SWEDISH",
    "TURKISH",
)


def function_words(text: str) -> frozenset[str]:
    """Return the English ones, and those of the language that most of the text's words are function words of."""
    found = Counter(words(text[:LOOKED_AT]))
    total = sum(found.values())
    english = sum(count for word, count in found.items() if word in STOP) / max(1, total)
    if english >= CLEAR_SHARE or not total:
        return STOP
    shares = {name: sum(found[word] for word in listed if word in found) / total for name, listed in _listed().items()}
    best = max(shares, key=lambda name: shares[name])
    return STOP if shares[best] < max(LEAST_SHARE, english) else STOP | _listed()[best]


@cache
def _listed() -> dict[str, frozenset[str]]:
    from bm25s import stopwords  # only where a text is named or described

    return {name: frozenset(map(str.casefold, getattr(stopwords, f"STOPWORDS_{name}"))) for name in _LANGUAGES}
