"""Compare a newer statement about somebody with an older one: duplicate, refinement, contradiction, or unrelated.

Invariant: the same two statements give the same answer; a statement of another subject is never contradicted, and what was,
what is and what may be are never taken for one another. Pure.
Old ones go when only the value of the same words changed, when what they say is negated, or when a person has one such thing at a
time. What people collect (likes, journeys, languages, plans) and what happened once stand side by side. Where it could be
otherwise, or where an old one says something else as well, it is not sure.
Source: TIMEM "Consolidation Rules"; verified/offline-model.md §4.8.
"""

from __future__ import annotations

import re

from memoir_engine.text.attributes import Slot, read_slots
from memoir_engine.text.clauses import (
    VERB,
    complement,
    has_other_subject,
    has_same_subject,
    is_dependent,
    is_full_name,
    is_past_event,
    is_past_form,
    is_verb,
    names_subject,
    split_clauses,
    subject,
    tense_of,
    words,
)
from memoir_engine.text.terms import tokens
from memoir_offline.rules.endings import BESIDE, CHANGED, COUNTED, ENDED, GONE, NOT, Comparison, come_about, ended, replaced
from memoir_offline.rules.predicates import Predicate, predicate

_MEATLESS = re.compile(r"\b(?:does not|doesn['’]t) eat (?:any )?meat\b(?! any ?more)|\beats? no meat\b", re.IGNORECASE)
_BRITISH = re.compile(r"(?<=[A-Za-z][a-z]{2})our(?=(?:s|ed|ite|ites)?\b)")
_OVER = re.compile(r"\b(?:over|than|to|instead of)\b", re.IGNORECASE)
_NOT_BUT = re.compile(
    r",\s(?:and\s)?not\s(?:(?:in|at|for|to|on|from|by|with|as)\s)?(?:an?\s|the\s)?(?P<denied>[\w'’-]+(?:\s[\w'’-]+)?)\s*$",
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
_FORMER = re.compile(r"(?:their\s|the\s)?(?:former|previous|old|ex|last|first)[\s-](?!(?:is|was|name)\b)", re.IGNORECASE)
_ANOTHER = re.compile(r"\b(?:another|one more|a second|a third|a new)\b", re.IGNORECASE)
_DAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?$|week(?:ends?|days?)$")
_LESS = re.compile(r"\b(?:less|more|better|rather) than\b|\bless\b|\bonly\b|\bexcept\b|\bwithout\b", re.IGNORECASE)
_HOUSED = frozenset({"residence", "employment", "place"})  # where such a thing is may be said more closely
_MOST_PARTS = 40  # pairs of clauses looked at; more is a list and no statement
_VALUES: frozenset[Slot] = frozenset({"marriage", "diet"})  # whose words are the values, and no two ways to say one
_GENERIC = frozenset({"weight", "phone", "superior"})  # one at a time, known by their words alone


def compare(old: str, new: str) -> Comparison:
    """Compare two statements that are about the same subject or each name their own."""
    old, new = (_BRITISH.sub("or", text if " any" in text else _MEATLESS.sub("is vegetarian", text)) for text in (old, new))
    corrected = _NOT_BUT.search(new)
    if corrected:
        return _corrected(old, new[: corrected.start()], corrected["denied"])
    olds, news = split_clauses(old), split_clauses(new)
    whole = _clause(old, new)
    if not 1 < len(olds) * len(news) <= _MOST_PARTS or whole.stance in ("duplicate", "complementary"):
        return whole
    return _by_parts(olds, news)


def _corrected(old: str, new: str, denied: str) -> Comparison:
    """ "In Munich, not in Berlin": what is known of Berlin is wrong, where it was of the same."""
    found = compare(old, new)
    names_it = set(tokens(denied)) <= set(tokens(old)) and bool(tokens(denied))
    if found.stance == "update" and names_it:
        return Comparison("conflict", True, "it is corrected")
    frame = predicate(old).said - frozenset(tokens(denied))
    if found.stance == "none" and names_it and frame and frame <= predicate(new).said and not has_other_subject(old, new):
        return Comparison("conflict", True, "it is corrected")
    return found


def _by_parts(olds: list[str], news: list[str]) -> Comparison:
    """Compare statements of several clauses; a verdict on only a part of the old one is not sure."""
    found = [[_clause(one, other) for other in news] for one in olds]
    gone = [next((seen for seen in row if seen.stance in GONE), None) for row in found]
    first = next((seen for seen in gone if seen is not None), None)
    if first is not None:
        apart = [at for at, part in enumerate(olds) if gone[at] is None and not (at and is_dependent(part))]
        if apart:
            return Comparison(first.stance, False, "a part of it has changed, and another may still hold")
        return Comparison(first.stance, all(seen.sure for seen in gone if seen is not None), first.why)
    said = [[seen.stance for seen in row] for row in found]
    if all("duplicate" in column for column in zip(*said, strict=True)):
        return Comparison("duplicate", True, "a part of it in other words")
    if all({"duplicate", "complementary"} & set(row) for row in said):
        return Comparison("complementary", True, "it says the same and more")
    return BESIDE


def _clause(old: str, new: str) -> Comparison:
    before, after = predicate(old), predicate(new)
    if not before.said or not after.said or bool(_FORMER.match(old)) != bool(_FORMER.match(new)):
        return BESIDE
    gone = _reversed(old, new, before, after) or ended(old, new, before, after)
    if gone:
        return gone
    if not is_full_name(old) and tense_of(old) != tense_of(new):
        return come_about(old, new, before, after) or BESIDE
    return (
        _again(old, new, before, after)
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


def _again(old: str, new: str, before: Predicate, after: Predicate) -> Comparison | None:
    """Detect a duplicate: the same words, or words of one kind about the same things; a shorter repetition counts."""
    if bool(subject(old)) != bool(subject(new)) and not {"possession"} & before.kinds | after.kinds:
        return None
    if _ANOTHER.search(new) and not _ANOTHER.search(old):
        return None
    if before.said == after.said:
        return Comparison("duplicate", True, "the same words")
    for kind in sorted(before.kinds & after.kinds):
        mine, theirs = before.rest[kind], after.rest[kind]
        if kind in _VALUES and read_slots(old).get(kind) != read_slots(new).get(kind):
            continue
        if theirs and (mine == theirs or (theirs < mine and 2 * len(theirs) >= len(mine) and _same_head(old, new))):
            return Comparison("duplicate", True, "the same in other words")
    return None


def _same_head(old: str, new: str) -> bool:
    """Report whether both begin with the same two words: then the shorter says less of the same thing."""
    return words(old)[:2] == words(new)[:2]


def _fuller(old: str, new: str, before: Predicate, after: Predicate) -> Comparison | None:
    """Detect a refinement: the new one has all words of the old one, in order and about the same thing."""
    said = iter(words(new))
    if not before.said < after.said or not all(word in said for word in words(old)):
        return None
    if ENDED.search(new) or bool(NOT.search(new)) != bool(NOT.search(old)) or (_LESS.search(new) and not _LESS.search(old)):
        return None
    if not is_full_name(old) and (has_other_subject(old, new) or not _same_matter(old, new, before)):
        return None
    return Comparison("complementary", True, "it says the same and more")


def _same_matter(old: str, new: str, before: Predicate) -> bool:
    """Having a neighbour with a dog is not having a dog; living in a flat in Boston is living in Boston."""
    (how, _, head), (manner, _, other) = complement(old), complement(new)
    return (head == other and how == manner) or (bool(how) and how == manner and bool(_HOUSED & before.kinds))


def _revalued(old: str, new: str) -> Comparison | None:
    """Detect a statement that names what it is about and differs only in the value at its end."""
    mine, theirs = words(old), words(new)
    theirs = theirs[theirs[:1] == ["new"] != mine[:1] :]
    head = _common(mine, theirs)
    tail = _common(mine[head:][::-1], theirs[head:][::-1])
    was, is_now = mine[head : len(mine) - tail], theirs[head : len(theirs) - tail]
    prefix, suffix = mine[:head], mine[len(mine) - tail :] if tail else []
    if not was or not is_now or len(was) > 6 or len(is_now) > 8 or any(VERB.match(word) for word in (*was, *is_now, *suffix)):
        return None
    if len({*filter(_DAY.match, was)} ^ {*filter(_DAY.match, is_now)}) > 1 and _figures(was) != _figures(is_now):
        return None  # five kilometres on Mondays, ten on Sundays
    counted = bool(COUNTED.match(was[0]) and COUNTED.match(is_now[0])) and _uncounted(was) == _uncounted(is_now)
    if not names_subject(old):
        if prefix[:1] == ["prefers"] and not counted and CHANGED.search(new):
            return Comparison("update", True, "another one is preferred now")
        return None if is_past_event(old) or is_past_event(new) else _own_value(prefix, suffix, counted)
    if (suffix and not counted) or not _says(prefix, old):
        return None
    if counted and not is_full_name(old) and is_past_event(old) and not {"was", "were", "had"} & set(prefix):
        return None  # their team won three games, and five
    if prefix[-1] == "is" and CHANGED.search(new) and _COLLECTED.search(" ".join(prefix)):
        return Comparison("update", False, "the same statement with another value")
    if _COLLECTED.search(" ".join(prefix)) and not counted and not _FULL_NAME.search(old[: old.casefold().rfind(was[0])]):
        return None
    return Comparison("update", True, "the same statement with another value")


def _uncounted(value: list[str]) -> list[str]:
    """Drop numbers, days and words of measure; what is left is what they count."""
    return [word for word in value if not COUNTED.match(word) and word not in _MEASURES]


def _figures(value: list[str]) -> list[str]:
    return [word for word in value if COUNTED.match(word) and not _DAY.match(word)]


def _own_value(prefix: list[str], suffix: list[str], counted: bool) -> Comparison | None:
    """Compare values of an unnamed person: numbers, times and days change, and so do preferences about one thing."""
    if counted and prefix:
        return Comparison(
            "update", not _COLLECTED.search(" ".join(prefix)) or bool(suffix), "the same statement with another number or day"
        )
    if prefix and prefix[0].startswith("prefer") and suffix:
        return Comparison("update", True, "another one is preferred now")
    return None


def _replaced(old: str, new: str, before: Predicate, after: Predicate) -> Comparison | None:
    """Detect another value of an attribute that has one value at a time."""
    if NOT.search(old) or NOT.search(new) or has_other_subject(old, new) or not tense_of(old) == tense_of(new) == "now":
        return None  # what was once, and what is wished for, stands beside what is
    found = replaced(old, new) or _other_value(old, new, before, after)
    if found is None or has_same_subject(old, new):
        return found
    return Comparison(found.stance, False, found.why)


def _other_value(old: str, new: str, before: Predicate, after: Predicate) -> Comparison | None:
    for kind in sorted(before.kinds & after.kinds & _GENERIC):
        if before.rest[kind] and after.rest[kind] and not before.rest[kind] & after.rest[kind]:
            sure = bool(CHANGED.search(new)) or bool(_PROPER.search(old) and _PROPER.search(new))
            return Comparison("update", sure, f"another {kind}")
    return None


def _says(prefix: list[str], old: str) -> bool:
    """Report whether a verb comes before the value, or a noun beside a name: "Ada, citizen of"."""
    return len(prefix) >= 2 and (
        any(VERB.match(word) or is_past_form(word) or (at and is_verb(word)) for at, word in enumerate(prefix))
        or ", " in old
        or len(prefix) > 2
    )


def _common(one: list[str], other: list[str]) -> int:
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    return at
