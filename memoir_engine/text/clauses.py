"""Parse a statement about a person: its subject, its predicate, and its clauses.

Invariant: a statement without a subject of its own is about the person; its clauses together say all that the statement says.
Pure. Word lists are of English grammar. Source: verified/offline-model.md §4.8.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memoir_engine.text.terms import tokens
from memoir_engine.text.verbs import is_bare_verb, is_past_form, is_verb, to_present

_WORD = re.compile(r"(?<!\S)[\w.+-]{1,64}@[\w.-]{3,64}|\d+(?:[.:,]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*", re.UNICODE)
VERB = re.compile(
    r"^(?:is|are|was|were|be|been|has|have|had|does|do|did|will|would|can|lives?|works?|plays?|speaks?|wants?|plans?|likes?"
    r"|loves?"
    r"|who|which|that|whose|and|but|because|located|born|died)$"
)
_SMALL = frozenset(("now", "currently", "the", "a", "an"))
_HELPING = frozenset(
    """is are was were am be been being has have had having does do did will would can could might may must should shall not
    never no longer n't cannot""".split()
)
_BESIDE = frozenset(  # words that may stand around a verb
    """also always still just really now currently usually often sometimes already recently finally actually only mostly
    generally rarely normally absolutely totally definitely probably once then soon today somehow maybe perhaps longer quite
    almost officially happily formerly previously lately nowadays newly simply both all very so too anymore""".split()
)
_THEN_THEY = re.compile(  # "Since June they run a studio": of the person, after all
    r"(?:for|since|after|before|during|until|this|next|last|every|with|as|now|currently|lately|then|once|today|actually)\b"
    r"[^,;]{0,60}?,?\s(?:they|their)\b|they\b|(?:(?-i:[A-Z])[\w'’-]+\s){1,2}and they\b",
    re.IGNORECASE,
)
_PREPOSITIONS = frozenset(
    """in at on to for with from of by about into onto over under near around through during until till since after before
    because due as than like and or but who which that whose when while where if so although though without via per
    against between among behind beside above across along every last next yesterday today tomorrow tonight ago again
    instead either""".split()
)
_ARTICLES = frozenset("a an the their his her its my our your this that these those some any no new old more much lots".split())
_AND = re.compile(
    r"(?:,\s+(?:and\s+|but\s+)?|;\s+|(?<!\s)\s+(?:and|but)\s+)(?:they\s+|then\s+|also\s+)*(?=([\w'’]+)\s+(\w+))", re.I
)
_FELT = re.compile(  # being fond of dogs is about dogs
    r"\b(?:(?:an? )?(?:big |huge )?fan|fond|afraid|scared|keen|tired|allergic|intolerant|interested)\s(?:of|on|to|in)\b",
    re.IGNORECASE,
)
_ED_NAME = re.compile(r"[A-Z]\w+ed\s(?:[A-Z]|(?:is|was|has|had|lives|plays|works|likes|loves)\b)")  # Ahmed, Gottfried
_QUALIFIED = frozenset("new old current former previous next late".split())


def words(text: str) -> list[str]:
    """Return the words case-folded, without articles and "now"; a letter, as of a blood type, is no article."""
    found = _WORD.findall(text)
    kept = [word for at, word in enumerate(found) if word.casefold() not in _SMALL or (word == "A" and at)]
    return [word.casefold() for word in kept]


def names_subject(text: str) -> bool:
    """Return True if the statement begins with its subject; one about the person themselves begins with its verb."""
    if _THEN_THEY.match(text):
        return False
    said = words(text)
    while len(said) > 1 and said[0] in _BESIDE:
        said = said[1:]
    if not said:
        return False
    opens = is_verb(said[0]) or (is_past_form(said[0]) and not _ED_NAME.match(text))
    followed = len(said) > 1 and (said[1] == "of" or (bool(VERB.match(said[1])) and said[0] not in _HELPING))
    return not opens or followed


def subject(text: str) -> frozenset[str]:
    """Return the words before the first verb: "Sister Eva works at" is not "Sister Lisa works at"."""
    if not names_subject(text):
        return frozenset()
    said = words(text)
    return frozenset(said[: _verb_at(said)]) - _QUALIFIED


def has_other_subject(old: str, new: str) -> bool:
    """Return True if the two name different subjects: a sister, Anna, nobody."""
    mine, theirs = subject(old), subject(new)
    if not mine or not theirs:
        return bool(mine or theirs)
    first = [next((word for word in words(text) if word not in _QUALIFIED), "") for text in (old, new)]
    return first[0] != first[1] or bool(mine - theirs and theirs - mine)


def has_same_subject(old: str, new: str) -> bool:
    """Return True if the subjects are equal; "brother Tom" may be another than "brother"."""
    return subject(old) == subject(new)


def predicate(text: str) -> str:
    """Return the statement from its first verb on."""
    if not names_subject(text):
        at = text.casefold().find("they ") if _THEN_THEY.match(text) else -1
        return text[at + 5 :] if at >= 0 else text
    verb = words(text)
    at = _verb_at(verb)
    found = re.search(rf"\b{re.escape(verb[at])}\b", text, re.IGNORECASE) if at < len(verb) else None
    return text[found.start() :] if found else text


@lru_cache(maxsize=4096)
def complement(text: str) -> tuple[str, frozenset[str], str]:
    """Return the first phrase behind the verbs: its preposition or "", the stems of its words, and its head.

    "Left their keys in Chicago" is about keys; "stopped going to the gym" about the gym; "quit smoking" about smoking.
    """
    said = _WORD.findall(_FELT.sub("", predicate(text)))
    at, last = 0, ""
    while at < len(said) and _goes_on(said[at].casefold(), at):
        last = last if said[at].casefold() in _HELPING | _BESIDE else said[at]
        at += 1
    before = ""
    while at < len(said) and said[at].casefold() in _PREPOSITIONS | {"up", "out", "off", "down", "back", "rid"}:
        before, at = said[at].casefold(), at + 1
        while at < len(said) and said[at].casefold().endswith("ing") and at + 1 < len(said) and before == "to":
            last, at = said[at], at + 1
    phrase = []
    for word in said[at:]:
        if word.casefold() in _PREPOSITIONS | _BESIDE:
            break  # "last" and "yesterday" end a phrase as prepositions do
        if word.casefold() not in _ARTICLES:
            phrase.append(word)
    stems = frozenset(tokens(" ".join(phrase)))
    head = next(iter(reversed(tokens(" ".join(phrase)))), "") or next(iter(tokens(last)), "")
    return before, stems or frozenset(tokens(last)), head


def _goes_on(word: str, at: int) -> bool:
    """Return True if the word continues the verbs of a clause."""
    if word in _HELPING | _BESIDE or at == 0:
        return True
    return word.endswith("ing") and word not in ("thing", "ring", "king", "evening", "morning", "spring", "wedding")


def is_past_event(text: str) -> bool:
    """Return True if the first verb is a past form: a completed action, not a current one."""
    first = next((word for word in words(predicate(text)) if word not in _BESIDE), "")
    return is_past_form(first)


def is_about(head: str, said: frozenset[str]) -> bool:
    """Return True if the head of a phrase is among the words: "allergy" matches "allergic"."""
    return bool(head) and (head in said or any(len(one) > 4 and one[:5] == head[:5] for one in said))


def main_verb(text: str) -> str:
    """Return the stem of the main verb, in the present for irregular forms; "" if the only verb is "is" or "has"."""
    for word in words(predicate(text)):
        if word not in _HELPING | _BESIDE:
            return next(iter(tokens(to_present(word))), word) if is_verb(word) or is_bare_verb(word) or is_past_form(word) else ""
    return ""


def split_clauses(text: str) -> list[str]:
    """Split clauses that share a subject, each with it: "Lives in Berlin and works at Google" is two."""
    who = text[: len(text) - len(predicate(text))]
    cuts = [hit for hit in _AND.finditer(text) if hit.start() > len(who) and _begins(hit[1].casefold(), hit[2].casefold())]
    starts = [0, *(hit.end() for hit in cuts)]
    ends = [*(hit.start() for hit in cuts), len(text)]
    pieces = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    return [pieces[0], *(f"{who}{piece}" if who else piece[:1].upper() + piece[1:] for piece in pieces[1:])]


def is_dependent(part: str) -> bool:
    """Return True if the clause needs the one before it: "orders it frequently"."""
    return bool(re.search(r"\b(?:it|them|there|that|this)\b", part, re.IGNORECASE))


def is_full_name(text: str) -> bool:
    """Return True for an encyclopedic sentence about a full name, as opposed to personal talk."""
    return names_subject(text) and bool(
        re.match(
            r"(?:(?:The|An?|In)\s)?[^,]*?[A-Z][\w’'.-]+,?\s(?:(?:of|the|de|la|le|von|van|and|al|ibn|in|der|du)\s)*[A-Z0-9(]", text
        )
    )


def _begins(word: str, then: str) -> bool:
    """Return True if a clause begins with this word: "and works at", not "but not cats"."""
    if word in _BESIDE | {"not", "no", "never"}:
        return False
    return (
        is_verb(word) or is_past_form(word) or (is_bare_verb(word) and (then in _PREPOSITIONS | _ARTICLES or is_dependent(then)))
    )


def _verb_at(said: list[str]) -> int:
    """Return the index of the first verb behind the subject, or the number of words."""
    return next(
        (at for at, word in enumerate(said) if at and (VERB.match(word) or is_verb(word) or is_past_form(word))), len(said)
    )
