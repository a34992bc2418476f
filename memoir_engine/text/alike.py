"""Whether two statements say the same, and whether one may well contradict the other: by their words alone.

Invariant: statements of which each says a word that the other does not, or that differ in a number, in a negation, in a name or
in when they hold ("was", "is", "may be"), are never the same: where words differ, a model is asked. Pure, no model.
Source: CHUNK 8.2 (content similarity and entity matching); DESIGN §9 (the engine's own second opinion).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from memoir_engine.text.slots import filled
from memoir_engine.text.standing import time_of
from memoir_engine.text.terms import tokens
from memoir_engine.text.verbs import is_past

SAME = 0.8  # of their words: one of them may say a little more

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NUMBER = re.compile(r"\d+(?:[.:,/]\d+)*")
_SILENT = frozenset("a an the is are was were be been am do does did has have had very really quite so that this it".split())
_NOT = frozenset(
    """not no never none nobody nothing neither nor without stopped quit former formerly longer cannot n't don't doesn't didn't
    isn't aren't wasn't weren't won't can't couldn't shouldn't hasn't haven't hadn't dislikes hates avoids nicht kein keine
    nie""".split()
)


def folded(statement: str) -> str:
    """What makes two statements equal: case, Unicode form, white space and the full stop do not count."""
    return " ".join(unicodedata.normalize("NFKC", statement).casefold().split()).rstrip(" .!")


def same(one: str, other: str, entities: Iterable[str] = ()) -> bool:
    """entities: the names in either of them."""
    if folded(one) == folded(other):
        return True
    if _numbers(one) != _numbers(other) or (time_of(one), is_past(one)) != (time_of(other), is_past(other)):
        return False
    mine, theirs = words(one), words(other)
    apart = mine ^ theirs
    if not (mine <= theirs or theirs <= mine) or len(mine & theirs) < SAME * max(1, len(mine | theirs)):
        return False
    names = {word for name in entities for word in words(name)}
    return not any(word in _NOT or any(map(str.isdigit, word)) or word in names or len(word) == 1 for word in apart)


def _numbers(text: str) -> list[str]:
    """Wherever they stand: Chinese, Japanese and Korean write them without a space around."""
    return sorted(_NUMBER.findall(unicodedata.normalize("NFKC", text)))


def may_oppose(one: str, other: str, subjects: tuple[str, str], types: tuple[str, str]) -> bool:
    """Whether it is plausible that one takes the place of the other: they are about one subject, and about one matter.

    One matter: a word of content beside the subject's own name, the same type, or a thing of which one has one at a time.
    """
    if subject_key(subjects[0]) != subject_key(subjects[1]):
        return False
    own = set(tokens(subjects[0]))
    shared = (set(tokens(one)) & set(tokens(other))) - own
    return types[0] == types[1] or bool(shared or filled(one).keys() & filled(other).keys())


def subject_key(subject: str) -> str:
    """Ways to write the same name: case, spaces, and a possessive or an article do not count."""
    plain = folded(subject).removesuffix("'s").removesuffix("’s")
    for article in ("the ", "a ", "an "):
        plain = plain.removeprefix(article)
    return plain


@lru_cache(maxsize=20_000)
def words(text: str) -> frozenset[str]:
    """Stems of what has one, every other word as it is, but for those that say nothing: "from" and "to" do."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    kept = {word for word in _WORD.findall(plain) if word not in _SILENT and (word in _NOT or not tokens(word))}
    return frozenset({*tokens(text), *kept})
