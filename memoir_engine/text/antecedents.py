"""Of whom "he" or "she" speaks: of the one person that the words just before it name.

Invariant: where none or several come into question there is no answer; a guess would say of one what is true of another. Pure.
English.
"""

from __future__ import annotations

import re

from memoir_engine.text.mentioned import opening_name
from memoir_engine.text.sentences import split

_MEN = "brother|father|dad|daddy|husband|son|uncle|nephew|grandfather|grandpa|granddad|boyfriend|stepfather|fiancé"
_WOMEN = "sister|mother|mom|mum|mommy|wife|daughter|aunt|niece|grandmother|grandma|granny|girlfriend|stepmother|fiancée"
_EITHER = (
    "friend|cousin|boss|manager|colleague|coworker|neighbou?r|partner|spouse|child|kid|baby|teenager|doctor|teacher|roommate"
    "|flatmate|grandson|granddaughter|twin|mentor|coach|dog|cat|puppy|kitten"
)
_KIN = re.compile(
    rf"\b(?P<whose>my|our) (?:[a-z-]+ )?(?P<kin>{_MEN}|{_WOMEN}|{_EITHER})\b(?:,? (?:called "
    rf"|named )?(?P<name>(?-i:[A-Z])\w+))?",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"(?P<who>he|she|they)(?:['’](?P<short>s|ll|d|re|ve))?\b", re.IGNORECASE)
_NOT_OF = {"he": re.compile(rf"\b(?:{_WOMEN})$", re.IGNORECASE), "she": re.compile(rf"\b(?:{_MEN})$", re.IGNORECASE)}
_FULL = {"s": " is", "ll": " will", "d": " would"}
_NEAR = 2  # sentences


def begins_with_pronoun(said: str) -> bool:
    return bool(_PRONOUN.match(said))


def resolved(said: str, before: str) -> str:
    """With the person in the place of the pronoun that it begins with; "" where that is not plain.

    before: what the same speaker said before it in the same turn.
    """
    pronoun = _PRONOUN.match(said)
    if pronoun is None or pronoun["who"].lower() not in _NOT_OF:
        return ""
    for sentence in reversed(split(before)[-_NEAR:]):
        found = _persons(sentence.text, _NOT_OF[pronoun["who"].lower()])
        if found:
            is_of_one = len(found) == 1
            return f"{found.pop()}{_FULL.get(pronoun['short'] or '', '')}{said[pronoun.end() :]}" if is_of_one else ""
    return ""


def kin_name(said: str) -> str:
    """The name of whom a clause is about that begins with what they are to the speaker: "My brother Max lives …"."""
    hit = _KIN.match(said)
    return hit["name"] or "" if hit else ""


def _persons(sentence: str, others: re.Pattern[str]) -> set[str]:
    found = {hit["name"] or f"My {hit['kin']}" for hit in _KIN.finditer(sentence) if not others.search(hit["kin"])}
    name = opening_name(sentence)
    return found | ({name} if name else set())
