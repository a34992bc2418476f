"""Facts by rules: what users say of themselves and, by name, of others; how new facts stand to known ones, and to one another.

Invariants:
- every quote is the very text of its message, every date is worked out from the moment of that message, and nothing is concluded
  from several turns together: that takes a model that understands them;
- each new fact gets one verdict, which names only known facts shown beside it and of the same subject; doubtful verdicts are
  marked as not sure, for a person to decide;
- each pair is related at most once; a name that stands in very many facts relates none of them. Facts are compared only with
  those that share a word, so the work is linear in the facts for names.
Source: TIMEM "Consolidation Rules"; CHUNK 9.1, 9.2; verified/offline-model.md §4.7, §4.8.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from typing import Any

from memoir_engine.core.results.facts import CONTENT_CHARS
from memoir_engine.prompts import consolidate, facts
from memoir_engine.text.attributes import subject_key
from memoir_engine.text.sentences import cut_at_word
from memoir_engine.text.terms import tokens
from memoir_offline.rules.contradictions import compare
from memoir_offline.rules.dates import validity
from memoir_offline.rules.endings import GONE, Comparison
from memoir_offline.rules.entities import names
from memoir_offline.rules.statements import Statement, statements

SPEAKERS = frozenset({"user", "human"})
LEAST_STATED, MOST_STATED = 0.5, 0.95  # what a rule may state as its confidence
PLAIN = 20.0  # the worth from which on a statement is as plain as rules can tell
_IS = re.compile(r"\s+(?:is|was|are|were)\s")
_NUMBERED = re.compile(  # "Intel 80386 was made by": a name, though a sentence begins with it
    r"(?!(?:January|February|March|April|May|June|July|August|September|October|November|December)\b)"
    r"[A-Z]\w+(?=\s\d+(?:,|\s(?:is|was|has)\b))"
)
_KIN = (  # what may stand before a name without making it another's
    "brother|sister|mother|father|mum|mom|dad|son|daughter|wife|husband|partner|boyfriend|girlfriend|fianc[eé]e?|cousin|uncle"
    "|aunt|nephew|niece|grandmother|grandfather|grandma|grandpa|friend|flatmate|roommate|neighbou?r|colleague|coworker|boss"
    "|manager|teacher|dog|cat|best|good|old|dear|little|big|younger|older|elder|eldest|youngest|oldest|twin|half|step"
)
MOST_SHARING = 12  # facts with the same word; more, and the word tells nothing of two of them
STATED = {"contradicts": 0.7, "part_of": 0.8, "same_subject": 0.6}


def extract(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a facts prompt."""
    request = facts.read(text)
    listed = []
    before = ""
    for turn in request.turns:
        if turn.role in SPEAKERS:
            listed += [_as_fact(statement, turn, request.person) for statement in statements(turn.text, before)]
        before = turn.text
    return {"facts": listed}


def _as_fact(statement: Statement, turn: facts.CutMessage, person: str) -> dict[str, Any]:
    """person: the subject where neither the statement nor the turn names one."""
    quote = turn.text[statement.start : statement.end]
    mentioned = names(quote)
    since, until = validity(quote, turn.at.date()) if turn.at else ("", "")
    subject = statement.about or ("" if statement.own else named_subject(statement.content, mentioned))
    return {
        "content": cut_at_word(statement.content, CONTENT_CHARS),
        "type": statement.type,
        "subject": subject or turn.name or person,
        "entities": list(mentioned),
        "quotes": [{"message": turn.number, "quote": quote}],
        "confidence": round(min(MOST_STATED, LEAST_STATED + statement.worth / PLAIN * (MOST_STATED - LEAST_STATED)), 2),
        "valid_from": since,
        "valid_to": until,
    }


def named_subject(content: str, mentioned: tuple[str, ...]) -> str:
    """Return the first name in a statement if it is in its first half or, however far on, before its verb, as in "The language
    used by people in Guinea is French"; "" if none."""
    numbered = _NUMBERED.match(content)
    if numbered and numbered[0] not in mentioned[:1]:
        return numbered[0]
    name = mentioned[0] if mentioned else ""
    at = content.find(name)
    return name if name and (at * 2 <= len(content) or _IS.match(content, at + len(name))) else ""


def consolidate_facts(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a consolidate prompt."""
    request = consolidate.read(text)
    shown = {fact.label: fact for fact in (*request.known, *request.new)}
    return {"verdicts": [verdict(new, [shown[label] for label in new.near if label in shown]) for new in request.new]}


def verdict(new: consolidate.Statement, beside: list[consolidate.Statement]) -> dict[str, Any]:
    """Judge a new fact beside earlier ones: duplicates, then all it ends (the sure, else the doubtful), then refinements."""
    compared = [(fact.label, comparison(fact, new)) for fact in beside]
    result, known = Comparison("none"), list[str]()
    for stances in (("duplicate",), GONE, ("complementary",)):
        hits = [hit for hit in compared if hit[1].stance in stances]
        if hits:
            chosen = ([hit for hit in hits if hit[1].sure] or hits) if stances == GONE else hits[:1]
            result, known = chosen[0][1], [label for label, _ in chosen]
            break
    return {
        "new": new.label,
        "relation": result.stance,
        "known": known,
        "merged": new.content if result.stance == "complementary" else "",
        "keep": "",
        "sure": result.sure,
        "why": result.why,
    }


def comparison(known: consolidate.Statement, new: consolidate.Statement) -> Comparison:
    """Compare two statements of the same subject, without its name if both begin with it."""
    if subject_key(known.subject) != subject_key(new.subject):
        return Comparison("none")
    bare = _without_subject(known), _without_subject(new)
    is_bare = all(fact.subject.casefold() not in text.casefold() for fact, text in zip((known, new), bare, strict=True))
    result = compare(*bare) if is_bare else compare(known.content, new.content)
    if result.stance in GONE and result.sure and _began_before(new, known):
        return replace(result, sure=False, why=f"{result.why}, and began before what was known")
    return result


def _began_before(new: consolidate.Statement, known: consolidate.Statement) -> bool:
    """Report whether the new fact is of the past: before the known one began, or years before that was recorded."""
    if not new.valid_from:
        return False
    since = known.valid_from[: len(new.valid_from)]
    if since:
        return new.valid_from[: len(since)] < since
    return bool(known.said_at) and int(known.said_at[:4]) - int(new.valid_from[:4]) > 1


def _without_subject(fact: consolidate.Statement) -> str:
    """Return a statement without its subject's name in front, so that "Ada lives in Lyon" meets "Lives in Berlin"."""
    subject = fact.subject.strip()
    named = re.match(rf"(?:(?:{_KIN})\s+){{0,3}}{re.escape(subject)}\s+(?=\S)", fact.content, re.IGNORECASE)
    if not subject or " " in subject or named is None:
        return fact.content
    rest = fact.content[named.end() :]
    return rest[:1].upper() + rest[1:]


def relate_facts(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a relate prompt."""
    kinds: dict[tuple[int, int], facts.RelationKind] = {}
    for earlier, later in pairs(facts.read_relate(text)):
        kind = relation(earlier, later)
        if kind is not None:
            pair = (later.number, earlier.number)
            kinds.setdefault(pair[::-1] if kind == "part_of" else pair, kind)
    return {
        "relations": [
            {"source": source, "target": target, "kind": kind, "confidence": STATED[kind]}
            for (source, target), kind in kinds.items()
        ]
    }


def pairs(listed: tuple[facts.RelatableFact, ...]) -> list[tuple[facts.RelatableFact, facts.RelatableFact]]:
    """Return pairs that share a content word, the earlier one first, in the order of the later one."""
    sharing: dict[str, list[int]] = defaultdict(list)
    for at, fact in enumerate(listed):
        for word in dict.fromkeys(tokens(fact.content)):
            sharing[word].append(at)
    places = {pair for shared in sharing.values() if len(shared) <= MOST_SHARING for pair in combinations(shared, 2)}
    return [(listed[first], listed[second]) for first, second in sorted(places, key=lambda pair: (pair[1], pair[0]))]


def relation(earlier: facts.RelatableFact, later: facts.RelatableFact) -> facts.RelationKind | None:
    if earlier.subject.casefold() == later.subject.casefold():
        stance = compare(earlier.content, later.content).stance
        if stance in GONE:
            return "contradicts"
        if stance == "complementary":
            return "part_of"
    about = {earlier.subject.casefold(), later.subject.casefold()}
    shared = {name.casefold() for name in earlier.entities} & {name.casefold() for name in later.entities}
    return "same_subject" if shared - about else None
