"""What somebody fills in about themselves as in a form: "Name: Peter Novak", "Age: 42".

Invariant: only labels that forms ask persons for; what else stands before a colon tells nothing of who wrote it. Pure. English.
"""

from __future__ import annotations

import re

_FIELD = re.compile(
    r"(?:my )?(?P<label>(?:(?:first|last|full|given|family|nick|user) ?)?name|nickname|age|(?:date|year|place) of birth"
    r"|birth(?:day| ?date| ?place)"
    r"|(?:job|work)(?: title)?|occupation|profession|employer|company|(?:current |home )?(?:city|town|country|address"
    r"|location|home|residence)"
    r"|hometown|nationality|citizenship|(?:marital|relationship) status|spouse|wife|husband|partner|children|kids|siblings"
    r"|pets?|dog|cat"
    r"|phone(?: number)?|mobile|e-?mail(?: address)?|height|weight|blood (?:type|group)|allerg(?:y|ies)|diet|medications?"
    r"|conditions?"
    r"|languages?|(?:mother|native) (?:tongue|language)|hobb(?:y|ies)|interests|education|degree|university|school|religion"
    r"|gender"
    r"|pronouns|fav(?:ou?rite|e) [a-z]+(?: [a-z]+)?)\s*[:：]\s*(?P<value>\S[^\n]{0,150}?)[.;,\s]*",
    re.IGNORECASE,
)
_MANY = re.compile(r"(?:ies|[^s]s|children)$", re.IGNORECASE)


def filled_in(line: str) -> str:
    """As a statement: "Name is Peter Novak"; "" for what is no field."""
    hit = _FIELD.fullmatch(line.strip())
    if hit is None:
        return ""
    label = hit["label"].lower()
    return f"{label[:1].upper()}{label[1:]} {'are' if _MANY.search(label) and label != 'status' else 'is'} {hit['value']}"
