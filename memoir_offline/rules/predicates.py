"""Classify what a statement says about its subject: residence, work, taste, …, and the remaining words.

Invariant: words of one kind say the same, whichever of them is used; `rest` holds no word of a kind. Pure.
A small thesaurus of English relation words, not of any data. SINGLE are those of which a person has one at a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from memoir_engine.text.terms import tokens

_KINDS: dict[str, str] = {
    "residence": r"lives?|lived|resides?|residing|living (?=in|at|on|with)|moved (?=to|in)|relocated|settled|home is"
    "|address is|currently",
    "birth": r"was born|born|birth (?:year|date|day)|birthday|year of birth",
    "employment": r"works? (?=at|for|with)|worked|employed|employment|employer|job (?=at|with)|found|took up work|used to work"
    r"|working (?=at|for|in)|works? in|workplace|office",
    "occupation": r"is an?|works? as|working as|started a new job as|(?:new )?job as|jobs?|professions?|professional(?:ly)?"
    "|occupation|position"
    r"|career|title|holds|became|serves as",
    "age": r"years old|age is|aged|turned",
    "weight": r"weighs?|weight is",
    "marriage": r"single|married|engaged|divorced|dating|in a relationship|broke up|separated|widowed|wedded",
    "diet": r"vegetarian|vegan|pescatarian|eats? (?:no )?meat|eats? everything|omnivore|carnivore|keto|(?:does )?not eat meat",
    "car": r"drives?|car is",
    "phone": r"phone(?: number)?|mobile number",
    "superior": r"manager|boss|supervisor",
    "taste": r"loves?|loved|likes?|liked|enjoys?|enjoyed|adores?|fond|fan|passionate|keen|hates?|hated|dislikes?|detests?"
    "|really"
    r"|can(?:not|'t) stand|is into",
    "preference": r"prefers?|preferred|likes?|better|would rather|rather",
    "possession": r"has|have|owns?|got|owned|possesses|named|called",
    "plan": r"plans? to|plans?|(?:is )?planning(?: to)?|intends? to|wants? to|hopes? to|is going to|a? ?trip|visits?|will"
    "|become",
    "language": r"speaks?|spoke|speaker|spoken|speak|languages?|tongue|mother|native|original|official|writes?|written"
    "|understand|declares?"
    r"|law|people|used|official",
    "place": r"in|located|location|situated|can be found|found|within|part|continent|country|belongs?|lies|city|town|province",
    "origin": r"originates?|originated|originally|native|created|formed|founded|started|developed|formulated|from|written"
    "|development"
    r"|occurred|came",
    "maker": r"created by|developed by|produced by|products?|made by|manufactured|production|overseen|creator|developer"
    "|producer|trademark"
    r"|owned|owner|created|produced|developed|by",
    "airing": r"debut(?:s|ed)?|premier(?:e|es|ed)|aired|released|broadcast|shown|originally|airs?",
    "death": r"died|passed away|expired|succumbed|lost (?:their|his|her) life|life ended|death|tragic|killed|occurred|city",
    "citizenship": r"citizen(?:s|ship)?|passport|nationality|carries|holds?|national",
    "religion": r"religions?|religious|followers?|follows?|worships?|believes in|official|affiliated|faith",
    "headquarters": r"headquarter(?:s|ed)?|based|located|head office",
    "naming": r"named (?:after|for)|called after|name",
    "capital": r"capital(?: city)?",
    "twin": r"twin (?:city|cities)|twinned",
    "playing": r"plays?|played|performs?|performing|instrument|sports?|genre|music|plays? as|position|professional(?:ly)?|they",
    "member": r"members?|affiliated|belongs? to",
    "field": r"field|area of work|works in|specialize[sd]?|specialise[sd]?|domain of activity|domain|activity|works?|area",
}
_RULES = {kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in _KINDS.items()}
_KNOWN_FOR = re.compile(r"\b(?:is|was) known for(?: performing)?\b", re.IGNORECASE)
KNOWN_FOR = frozenset({"occupation", "playing", "field", "twin", "employment", "member"})  # what one is known for
SINGLE = frozenset(
    {"residence", "birth", "employment", "occupation", "age", "weight", "marriage", "diet", "car", "phone", "superior"}
)
_NUMBER = re.compile(r"\d+(?:[.:,]\d+)*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", re.IGNORECASE)
_LETTER = re.compile(  # vitamin D, blood type A-, C++, a mail address; no initial of a name
    r"(?<![\w'’.])(?:[A-Z](?:\+\+|#|\+|-(?!\w))?|[b-hj-z])(?![\w'’+.])|(?<!\S)[\w.+-]{1,64}@[\w.-]{3,64}"
    r"|(?<![\w'’.])[A-Z](?=\.?$)"
)
_MARK = re.compile(r"\b(?:now|currently|these days|at the moment|nowadays|recently|anymore|any more|already)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Predicate:
    """kinds: all that its words may be. said: stems without function words. rest: per kind, the stems that are no words of it."""

    kinds: frozenset[str]
    said: frozenset[str]
    rest: dict[str, frozenset[str]]


@lru_cache(maxsize=4096)
def predicate(content: str) -> Predicate:
    plain = _MARK.sub(" ", content.replace("’", "'"))
    known = bool(_KNOWN_FOR.search(plain))
    plain = _KNOWN_FOR.sub(" ", plain)
    kinds = {kind for kind, rule in _RULES.items() if rule.search(plain)} | (KNOWN_FOR if known else frozenset())
    rest = {kind: frozenset(tokens(_RULES[kind].sub(" ", plain))) | _numbers(plain) for kind in sorted(kinds)}
    return Predicate(frozenset(kinds), frozenset(tokens(plain)) | _numbers(plain), rest)


def _numbers(text: str) -> frozenset[str]:
    """Return numbers and single letters, which have no stem but distinguish things."""
    letters = (hit[0] for hit in _LETTER.finditer(text) if hit.start() and hit[0] != "I")
    return frozenset(map(str.lower, (*_NUMBER.findall(text), *letters)))
