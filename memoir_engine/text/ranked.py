"""The words of a passage as its ranking sees them: all but those of grammar alone.

What a category is about is told by subjects, so statistics leave out "first", "like" or "made"; a question may turn on just
those, and BM25 knows by itself how little a frequent word says. Articles, pronouns, auxiliaries, prepositions and question words
stay out: they cost time and meet every passage.
Invariant: whatever `tokens` of a text holds, `ranked` of it holds; the same text gives the same words everywhere. Pure.
Source: measured against both lists, and none at all (docs/decisions/0016).
"""

from __future__ import annotations

from memoir_engine.text.terms import Stems, words

PASSAGE_TOKENIZER = "ranked/1"

GRAMMAR = frozenset(
    """a about an and are as at be been but by can could did do does for from had has have he her him his how i if in into is it
    its me my of on or our she should so than that the their them then there these they this those to was we were what when where
    which who whom whose why will with would you your""".split()
)

_KNOWN = Stems(GRAMMAR, numbers=True)
_stems_of = _KNOWN.__getitem__


def ranked(text: str) -> list[str]:
    """Stems in the order of the text, one entry per occurrence."""
    found: list[str] = []
    for word in words(text):
        found.extend(_stems_of(word))
    return found
