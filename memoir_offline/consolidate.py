"""Compare new facts with the known ones beside them, by rules of the language.

Invariant: each new fact gets one verdict, which names only known facts shown beside it and of the same subject. Doubtful
verdicts are marked as not sure, for a person to decide.
Source: TIMEM "Consolidation Rules"; verified/offline-model.md §4.8.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from memoir_engine.prompts.consolidate import Statement, read
from memoir_engine.text.attributes import subject_key
from memoir_offline.rules.contradictions import compare
from memoir_offline.rules.endings import GONE, Comparison

_KIN = (  # what may stand before a name without making it another's
    "brother|sister|mother|father|mum|mom|dad|son|daughter|wife|husband|partner|boyfriend|girlfriend|fianc[eé]e?|cousin|uncle"
    "|aunt|nephew|niece|grandmother|grandfather|grandma|grandpa|friend|flatmate|roommate|neighbou?r|colleague|coworker|boss"
    "|manager|teacher|dog|cat|best|good|old|dear|little|big|younger|older|elder|eldest|youngest|oldest|twin|half|step"
)


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a consolidate prompt."""
    meeting = read(text)
    known = {one.number: one for one in meeting.known}
    return {"verdicts": [_verdict(new, [known[at] for at in new.near if at in known]) for new in meeting.new]}


def _verdict(new: Statement, beside: list[Statement]) -> dict[str, Any]:
    """Judge a new fact: duplicates first, then all known facts it ends (the sure ones, else the doubtful), then refinements."""
    found = [(one.number, _compared(one, new)) for one in beside]
    for stance in ("duplicate", "gone", "complementary"):
        hits = [(number, seen) for number, seen in found if seen.stance == stance or (stance == "gone" and seen.stance in GONE)]
        if hits:
            sure = [hit for hit in hits if hit[1].sure]
            chosen = (sure or hits) if stance == "gone" else hits[:1]
            return _said(new, chosen[0][1], [number for number, _ in chosen])
    return _said(new, Comparison("none"), [])


def _compared(known: Statement, new: Statement) -> Comparison:
    """Compare two statements of the same subject, without its name if both begin with it."""
    if subject_key(known.subject) != subject_key(new.subject):
        return Comparison("none")
    bare = _bare(known), _bare(new)
    is_told = all(one.subject.casefold() not in said.casefold() for one, said in zip((known, new), bare, strict=True))
    seen = compare(*bare) if is_told else compare(known.content, new.content)
    if seen.stance in GONE and seen.sure and _began_before(new, known):
        return replace(seen, sure=False, why=f"{seen.why}, and began before what was known")
    return seen


def _began_before(new: Statement, known: Statement) -> bool:
    """Report whether the new fact is of the past: before the known one began, or years before that was recorded."""
    if not new.valid_from:
        return False
    since = known.valid_from[: len(new.valid_from)]
    if since:
        return new.valid_from[: len(since)] < since
    return bool(known.said_at) and int(known.said_at[:4]) - int(new.valid_from[:4]) > 1


def _bare(one: Statement) -> str:
    """Return a statement without its subject's name in front, so that "Ada lives in Lyon" meets "Lives in Berlin"."""
    subject = one.subject.strip()
    named = re.match(rf"(?:(?:{_KIN})\s+){{0,3}}{re.escape(subject)}\s+(?=\S)", one.content, re.IGNORECASE)
    if not subject or " " in subject or named is None:
        return one.content
    rest = one.content[named.end() :]
    return rest[:1].upper() + rest[1:]


def _said(new: Statement, seen: Comparison, known: list[int]) -> dict[str, Any]:
    return {
        "new": new.number,
        "relation": seen.stance,
        "known": known,
        "merged": new.content if seen.stance == "complementary" else "",
        "sure": seen.sure,
        "why": seen.why,
    }
