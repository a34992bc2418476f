"""Facts by rules: what users say of themselves and, by name, of others, clause by clause.

Invariant: every quote is the very text of its message, every date is worked out from the moment of that message, and nothing is
concluded from several turns together: that takes a model that understands them.
Source: verified/offline-model.md §4.7.
"""

from __future__ import annotations

import re
from typing import Any

from memoir_engine.core.results.facts import CONTENT_CHARS
from memoir_engine.prompts.facts import CutMessage, ExtractRequest, read
from memoir_engine.text.sentences import cut_at_word
from memoir_offline.rules.dates import validity
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


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a facts prompt."""
    talk = read(text)
    drawn = []
    before = ""
    for turn in talk.turns:
        if turn.role in SPEAKERS:
            drawn += [_fact(told, turn, talk) for told in statements(turn.text, before)]
        before = turn.text
    return {"facts": drawn}


def _fact(told: Statement, turn: CutMessage, talk: ExtractRequest) -> dict[str, Any]:
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
