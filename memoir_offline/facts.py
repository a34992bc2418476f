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
    talk = facts.read(text)
    drawn = []
    before = ""
    for turn in talk.turns:
        if turn.role in SPEAKERS:
            drawn += [_fact(told, turn, talk) for told in statements(turn.text, before)]
        before = turn.text
    return {"facts": drawn}


def _fact(told: Statement, turn: facts.CutMessage, talk: facts.ExtractRequest) -> dict[str, Any]:
    quote = turn.text[told.start : told.end]
    mentioned = names(quote)
    since, until = validity(quote, turn.at.date()) if turn.at else ("", "")
    return {
        "content": cut_at_word(told.content, CONTENT_CHARS),
        "type": told.type,
        "subject": told.about or ("" if told.own else _named(told.content, mentioned)) or turn.name or talk.person,
        "entities": list(mentioned),
        "message": turn.number,
        "quote": quote,
        "confidence": round(min(MOST_STATED, LEAST_STATED + told.worth / PLAIN * (MOST_STATED - LEAST_STATED)), 2),
        "valid_from": since,
        "valid_to": until,
    }


def _named(content: str, mentioned: tuple[str, ...]) -> str:
    """Whom a statement about somebody else is about: the first name in it, where it is in its first half or before what it is."""
    numbered = _NUMBERED.match(content)
    if numbered and numbered[0] not in mentioned[:1]:
        return numbered[0]
    told = [name for name in mentioned[:1] if content.find(name) * 2 <= len(content) or _before_its_verb(content, name)]
    return told[0] if told else ""


def _before_its_verb(content: str, name: str) -> bool:
    """ "The language used by people in Guinea is French": however long the way to it."""
    return bool(_IS.match(content, content.find(name) + len(name)))


def consolidate_facts(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a consolidate prompt."""
    meeting = consolidate.read(text)
    known = {one.number: one for one in meeting.known}
    return {"verdicts": [_verdict(new, [known[at] for at in new.near if at in known]) for new in meeting.new]}


def _verdict(new: consolidate.Statement, beside: list[consolidate.Statement]) -> dict[str, Any]:
    """Judge a new fact: duplicates first, then all known facts it ends (the sure ones, else the doubtful), then refinements."""
    found = [(one.number, _compared(one, new)) for one in beside]
    for stance in ("duplicate", "gone", "complementary"):
        hits = [(number, seen) for number, seen in found if seen.stance == stance or (stance == "gone" and seen.stance in GONE)]
        if hits:
            sure = [hit for hit in hits if hit[1].sure]
            chosen = (sure or hits) if stance == "gone" else hits[:1]
            return _said(new, chosen[0][1], [number for number, _ in chosen])
    return _said(new, Comparison("none"), [])


def _compared(known: consolidate.Statement, new: consolidate.Statement) -> Comparison:
    """Compare two statements of the same subject, without its name if both begin with it."""
    if subject_key(known.subject) != subject_key(new.subject):
        return Comparison("none")
    bare = _bare(known), _bare(new)
    is_told = all(one.subject.casefold() not in said.casefold() for one, said in zip((known, new), bare, strict=True))
    seen = compare(*bare) if is_told else compare(known.content, new.content)
    if seen.stance in GONE and seen.sure and _began_before(new, known):
        return replace(seen, sure=False, why=f"{seen.why}, and began before what was known")
    return seen


def _began_before(new: consolidate.Statement, known: consolidate.Statement) -> bool:
    """Report whether the new fact is of the past: before the known one began, or years before that was recorded."""
    if not new.valid_from:
        return False
    since = known.valid_from[: len(new.valid_from)]
    if since:
        return new.valid_from[: len(since)] < since
    return bool(known.said_at) and int(known.said_at[:4]) - int(new.valid_from[:4]) > 1


def _bare(one: consolidate.Statement) -> str:
    """Return a statement without its subject's name in front, so that "Ada lives in Lyon" meets "Lives in Berlin"."""
    subject = one.subject.strip()
    named = re.match(rf"(?:(?:{_KIN})\s+){{0,3}}{re.escape(subject)}\s+(?=\S)", one.content, re.IGNORECASE)
    if not subject or " " in subject or named is None:
        return one.content
    rest = one.content[named.end() :]
    return rest[:1].upper() + rest[1:]


def _said(new: consolidate.Statement, seen: Comparison, known: list[int]) -> dict[str, Any]:
    return {
        "new": new.number,
        "relation": seen.stance,
        "known": known,
        "merged": new.content if seen.stance == "complementary" else "",
        "sure": seen.sure,
        "why": seen.why,
    }


def relate_facts(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a relate prompt."""
    listed = facts.read_relate(text)
    found: dict[tuple[int, int], facts.RelationKind] = {}
    for earlier, later in _pairs(listed):
        kind = _kind(earlier, later)
        if kind is not None:
            pair = (later.number, earlier.number)
            found.setdefault(pair[::-1] if kind == "part_of" else pair, kind)
    return {
        "relations": [
            {"source": source, "target": target, "kind": kind, "confidence": STATED[kind]}
            for (source, target), kind in found.items()
        ]
    }


def _pairs(listed: tuple[facts.RelatableFact, ...]) -> list[tuple[facts.RelatableFact, facts.RelatableFact]]:
    """Yield pairs that share a content word, the earlier one first, in the order of the later one."""
    sharing: dict[str, list[int]] = defaultdict(list)
    for at, fact in enumerate(listed):
        for word in dict.fromkeys(tokens(fact.content)):
            sharing[word].append(at)
    pairs = {
        (places[first], places[second])
        for places in sharing.values()
        if len(places) <= MOST_SHARING
        for second in range(1, len(places))
        for first in range(second)
    }
    return [(listed[first], listed[second]) for first, second in sorted(pairs, key=lambda pair: (pair[1], pair[0]))]


def _kind(earlier: facts.RelatableFact, later: facts.RelatableFact) -> facts.RelationKind | None:
    if earlier.subject.casefold() == later.subject.casefold():
        stance = compare(earlier.content, later.content).stance
        if stance in ("conflict", "update"):
            return "contradicts"
        if stance == "complementary":
            return "part_of"
    about = {earlier.subject.casefold(), later.subject.casefold()}
    shared = {name.casefold() for name in earlier.entities} & {name.casefold() for name in later.entities}
    return "same_subject" if shared - about else None
