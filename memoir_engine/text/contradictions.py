"""How a newer statement about somebody stands to an older one: the same, fuller, turned round, or beside it.

Invariant: the same two statements give the same answer; a statement of another subject is never contradicted. Pure.
Old ones go when only the value of the same words changed, when what they say is negated, or when a person has one such thing at a
time. What people collect (likes, journeys, languages, plans) stands side by side. Where it could be otherwise, it is not sure.
Source: TIMEM "Consolidation Rules"; verified/offline-model.md §4.8.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from memoir_engine.text.predicates import SINGLE, Predicate, predicate
from memoir_engine.text.standing import time_of
from memoir_engine.text.terms import tokens
from memoir_engine.text.verbs import is_past, is_past_form, is_verb

Stance = Literal["none", "duplicate", "complementary", "conflict", "update"]


@dataclass(frozen=True, slots=True)
class Comparison:
    stance: Stance
    sure: bool = True
    why: str = ""


BESIDE = Comparison("none")

_WORD = re.compile(r"\d+(?:[.:,]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*", re.UNICODE)
_VERB = re.compile(
    r"^(?:is|are|was|were|be|been|has|have|had|does|do|did|will|would|can|lives?|works?|plays?|speaks?|wants?|plans?|likes?"
    r"|loves?"
    r"|who|which|that|whose|and|but|because|located|born|died)$"
)
_ENDED = re.compile(
    r"\b(?:no longer|not any ?more|any ?more|stopped|quits?|gave up|given up|(?<!is )(?<!was )(?<!are )(?<!be )sold"
    r"|cancell?ed|called off|broke up|split up|left"
    r"|resigned|outgrew|decided not|decided against|never again|changed (?:my|their|his|her) mind|not going to"
    r"|retired from"
    r"|ended|finished with|got rid of|lost interest|moved away|grew out of|recovered from|dropped out)\b",
    re.IGNORECASE,
)
_USED_TO = re.compile(r"\bused to\b(?: be\b)?", re.IGNORECASE)
_MEASURED = re.compile(r"\bas \w+(?: \w+)? as\b", re.IGNORECASE)  # "does not love it as much as": measured, not denied
_MEATLESS = re.compile(r"\b(?:does not|doesn['’]t) eat (?:any )?meat\b|\beats? no meat\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|never|cannot|no)\b|n['’]t\b", re.IGNORECASE)
_BAD = re.compile(r"\b(?:hates?|hated|dislikes?|disliked|detests?|can(?:not|['’]t) stand|afraid|scared)\b", re.IGNORECASE)
_GOOD = re.compile(r"\b(?:loves?|likes?|enjoys?|enjoy|adores?|fond|fan of|passionate|prefers?|keen)\b", re.IGNORECASE)
_CHANGED = re.compile(
    r"\b(?:now|moved|new|since|these days|from \w+ on|as of|nowadays|meanwhile|started|became|switched|changed)\b", re.IGNORECASE
)
_OVER = re.compile(r"\b(?:over|than|to|instead of)\b", re.IGNORECASE)
_ROLE = re.compile(r"\bas (?:an? |the )?((?:[\w-]+ ?){1,4}?)(?= (?:at|for|in|with|on)\b|[,.]|$)", re.IGNORECASE)
_PLACE_OF_WORK = re.compile(r"\b(?:at|for|with) (?:the )?((?:[\w'’.-]+ ?){1,5}?)(?= (?:as|in|on|since)\b|,|$)", re.IGNORECASE)
_HOME = re.compile(
    r"\b(?:lives?|resides?|living|moved(?: house)?|relocated|settled|home is|based)\s(?:now\s|down\s)?(?:in|at|on"
    r"|to)\s(?!(?:\d|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer"
    r"|autumn|winter)\b)(.+?)"
    r"(?=\swith\b|\sand\b|\snow\b|[,.;]|$)",
    re.IGNORECASE,
)
_THEN_THEY = re.compile(  # "Since June they run a studio": of the person, after all
    r"(?:for|since|after|before|during|until|this|next|last|every|with|as|now|currently|lately|then|once)\b"
    r"[^,;]{0,60}?,?\s(?:they|their)\b",
    re.IGNORECASE,
)
_PROPER = re.compile(r"(?<!^)\b[A-Z][\w’'-]+")
_COLLECTED = re.compile(
    r"\b(?:(?:has|have|had)$|likes?|loves?|loved|enjoys?|hates?|dislikes?|plays?|played|performs?|visits?|visited|went|goes"
    r"|speaks?|knows?"
    r"|has|have|had"
    r"|owns?|wants?|plans?|planning|bought|met|saw|watched|reads?|made|attended|learn\w*|stud(?:y|ies|ied)|allergic|afraid"
    r"|interested"
    r"|good at"
    r"|fan|collects?|dreams?|hopes?|friends?|tried|thinks?|told|practi\w+)\b",
    re.IGNORECASE,
)
_FULL_NAME = re.compile(r"[A-Z][\w’'.-]+,?(?:\s(?:of|the|de|la|le|von|van|and|al|ibn|in|der|du))*\s[A-Z0-9(][\w’'.()-]*")
_MEASURES = frozenset(
    """am pm o'clock noon midnight past half quarter and to or on at in per hour hours minute minutes day days week weeks month
    months year years km miles mile kilometres kg kilos pounds lbs cm metres am morning afternoon evening night""".split()
)
_COUNTED = re.compile(
    r"^(?:\d[\d.:,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|once|twice|mon|tues|wednes|thurs|fri"
    r"|satur|sun)"
    r"(?:day)?s?$",
    re.IGNORECASE,
)


def compare(old: str, new: str) -> Comparison:
    """Both about the same subject, or each naming its own."""
    old, new = (_MEATLESS.sub("vegetarian", text) for text in (old, new))
    before, after = predicate(old), predicate(new)
    if not before.said or not after.said:
        return BESIDE
    return (
        _reversed(old, new, before, after)
        or _ended(old, new, before, after)
        or _again(old, new, before, after)
        or _fuller(old, new, before, after)
        or _revalued(old, new)
        or _replaced(old, new, before, after)
        or BESIDE
    )


def _reversed(old: str, new: str, before: Predicate, after: Predicate) -> Comparison | None:
    """Tea over coffee, coffee over tea."""
    if "preference" in before.kinds & after.kinds and before.rest["preference"] == after.rest["preference"]:
        mine, theirs = (_OVER.split(text) for text in (old, new))
        if len(mine) == len(theirs) == 2 and set(tokens(mine[1])) & set(tokens(theirs[0])):
            return Comparison("conflict", True, "what was preferred and what was not have changed places")
    return None


def _ended(old: str, new: str, before: Predicate, after: Predicate) -> Comparison | None:
    """What the old one says is negated, stopped, or felt the other way round."""
    if _USED_TO.search(new) and not _USED_TO.search(old):
        return None if is_past(old) else _was_so(new, before)
    shared = before.said & after.said - _FEELING
    core = frozenset(word for word in before.said - _FEELING if not _COUNTED.match(word))
    if not shared or _of_another(old, new) or _other_thing(before, predicate(_ENDED.sub(" ", _NOT.sub(" ", new)))):
        return None
    stopped = bool(_ENDED.search(new)) and not _ENDED.search(old)
    if stopped and 3 * len(shared) >= len(core):
        return Comparison("update", True, "it says that this has ended")
    if _MEASURED.search(new):
        return None
    negated = bool(_NOT.search(new)) != bool(_NOT.search(old)) and not stopped
    opposite = _feels(old) * _feels(new) < 0
    if (negated != opposite) and 2 * len(shared) >= len(core):
        why = "the feeling about it is the opposite now" if opposite else "one says it, the other denies it"
        return Comparison("conflict", len(shared) == len(core) or opposite, why)
    return None


def _was_so(new: str, before: Predicate) -> Comparison | None:
    """ "Used to live in Rome" ends Rome, not Berlin: one of the two says all that the other does."""
    was = predicate(_USED_TO.sub(" ", new)).said
    core = frozenset(word for word in before.said if not _COUNTED.match(word))
    if core and was and (core <= was or was <= core):
        return Comparison("update", True, "it says that this has ended")
    return None


def _other_thing(before: Predicate, after: Predicate) -> bool:
    """Whether both say something of one kind, and not of the same thing: what ended, or is denied, is not what was known."""
    kinds = before.kinds & after.kinds
    mine, theirs = (frozenset.intersection(one.said, *(one.rest[kind] for kind in kinds)) for one in (before, after))
    return bool(kinds and mine and theirs and not mine & theirs)


_FEELING = frozenset(
    tokens("love loves like likes enjoy enjoys hate hates dislike really come fond adore passionate longer anymore")
)


def _feels(text: str) -> int:
    return -1 if _BAD.search(text) else 1 if _GOOD.search(text) else 0


def _again(old: str, new: str, before: Predicate, after: Predicate) -> Comparison | None:
    """The same words, or words of the same kind about the same things; a newer one that says less says nothing new."""
    if before.said == after.said:
        return Comparison("duplicate", True, "the same words")
    for kind in sorted(before.kinds & after.kinds):
        mine, theirs = before.rest[kind], after.rest[kind]
        if theirs and (mine == theirs or (theirs < mine and 2 * len(theirs) >= len(mine) and _same_head(old, new))):
            return Comparison("duplicate", True, "the same in other words")
    return None


def _same_head(old: str, new: str) -> bool:
    """Whether both begin alike: less of the same, not a part of something else."""
    return _words(old)[:2] == _words(new)[:2]


def _fuller(old: str, new: str, before: Predicate, after: Predicate) -> Comparison | None:
    """All words of the old one stand in the new one, in their order."""
    words = iter(_words(new))
    if (
        len(before.said) >= 1
        and before.said < after.said
        and all(word in words for word in _words(old))
        and not _ENDED.search(new)
    ):
        return Comparison("complementary", True, "it says the same and more")
    return None


def _revalued(old: str, new: str) -> Comparison | None:
    """Only the value at the end differs, of a statement that names what it is about."""
    mine, theirs = _words(old), _words(new)
    head = _common(mine, theirs)
    tail = _common(mine[head:][::-1], theirs[head:][::-1])
    was, is_now = mine[head : len(mine) - tail], theirs[head : len(theirs) - tail]
    prefix, suffix = mine[:head], mine[len(mine) - tail :] if tail else []
    if not was or not is_now or len(was) > 6 or len(is_now) > 8 or any(_VERB.match(word) for word in (*was, *is_now, *suffix)):
        return None
    counted = bool(_COUNTED.match(was[0]) and _COUNTED.match(is_now[0])) and _uncounted(was) == _uncounted(is_now)
    if not _names(old):
        return _own_value(prefix, suffix, counted)
    if (suffix and not counted) or not _says(prefix, old):
        return None
    if _COLLECTED.search(" ".join(prefix)) and not counted and not _FULL_NAME.search(old[: old.casefold().rfind(was[0])]):
        return None
    return Comparison("update", True, "the same statement with another value")


def _uncounted(value: list[str]) -> list[str]:
    """What a number or a day is a number of; the ways to say when or how much do not count."""
    return [word for word in value if not _COUNTED.match(word) and word not in _MEASURES]


def _own_value(prefix: list[str], suffix: list[str], counted: bool) -> Comparison | None:
    """Of somebody who is not named: numbers, times and days change; so does what one prefers of one thing."""
    if counted and prefix:
        return Comparison(
            "update", not _COLLECTED.search(" ".join(prefix)) or bool(suffix), "the same statement with another number or day"
        )
    if prefix and prefix[0].startswith("prefer") and suffix:
        return Comparison("update", True, "another one is preferred now")
    return None


def _replaced(old: str, new: str, before: Predicate, after: Predicate) -> Comparison | None:
    """Another value of something of which one has one at a time."""
    if _NOT.search(old) or _NOT.search(new) or _of_another(old, new) or not time_of(old) == time_of(new) == "now":
        return None  # what was once, and what is wished for, stands beside what is
    for kind in sorted(before.kinds & after.kinds & SINGLE):
        found = _other_value(kind, old, new, before, after)
        if found is not None:
            return found
    return None


def _other_value(kind: str, old: str, new: str, before: Predicate, after: Predicate) -> Comparison | None:
    if kind in ("marriage", "diet"):
        mine, theirs = before.said - after.said, after.said - before.said
        return Comparison("update", True, f"another {kind}") if mine and theirs else None
    if kind in ("occupation", "employment"):
        return _other_work(old, new)
    if kind == "residence":
        return _other_home(old, new)
    if before.rest[kind] & after.rest[kind] or not before.rest[kind] or not after.rest[kind]:
        return None
    sure = bool(_CHANGED.search(new)) or bool(_PROPER.search(old) and _PROPER.search(new))
    return Comparison("update", sure, f"another {kind}")


def _other_home(old: str, new: str) -> Comparison | None:
    """With whom one lives is no part of where."""
    was, is_now = _HOME.search(old), _HOME.search(new)
    mine, theirs = (set(tokens(found[1])) if found else set() for found in (was, is_now))
    if not mine or not theirs or mine & theirs:
        return None
    sure = bool(_CHANGED.search(new)) or bool(_PROPER.search(old) and _PROPER.search(new))
    return Comparison("update", sure, "another home")


def _other_work(old: str, new: str) -> Comparison | None:
    """Roles are compared with roles, workplaces with workplaces: a nurse may work anywhere."""
    for rule in (_ROLE, _PLACE_OF_WORK):
        was, is_now = rule.search(old), rule.search(new)
        if was and is_now:
            mine, theirs = set(tokens(was[1])), set(tokens(is_now[1]))
            if mine and theirs and not mine & theirs:
                return Comparison("update", True, "another job")
    return None


def _of_another(old: str, new: str) -> bool:
    """Whether the two name different subjects: a sister, Anna, nobody."""
    if not (_names(old) or _names(new)) or _CHANGED.match(new):
        return False
    mine, theirs = _subject(old), _subject(new)
    return _words(old)[:1] != _words(new)[:1] or bool(mine - theirs and theirs - mine)


def _subject(text: str) -> set[str]:
    """The words before the first verb: "Sister Eva works at" is not "Sister Lisa works at"."""
    words = _words(text)
    verb = next((at for at, word in enumerate(words) if _VERB.match(word) or is_verb(word) or is_past_form(word)), len(words))
    return set(words[:verb])


def _names(text: str) -> bool:
    """Whether it begins with whom or what it is about; a statement of a person about themselves begins with its verb."""
    words = _words(text)[:2]
    if _THEN_THEY.match(text):
        return False
    return bool(words) and (not is_verb(words[0]) or (len(words) > 1 and bool(_VERB.match(words[1]) or words[1] == "of")))


def _says(prefix: list[str], old: str) -> bool:
    """Whether something is predicated before the value, or stands beside a name: "Ada, citizen of"."""
    return len(prefix) >= 2 and (
        any(_VERB.match(word) or is_past_form(word) for word in prefix) or ", " in old or len(prefix) > 2
    )


def _common(one: list[str], other: list[str]) -> int:
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    return at


def _words(text: str) -> list[str]:
    return [word for word in map(str.casefold, _WORD.findall(text)) if word not in ("now", "currently", "the", "a", "an")]
