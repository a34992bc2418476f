"""Complete what corrects a value and names nothing else: "It's the 19th, not the 12th" is of what was said a moment ago.

Invariant: only a date or a number changes, and only where the statement before names one of the same form. Pure. English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memoir_engine.text.terms import tokens

_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
)
_FORMS = tuple(  # the first form that both have
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b|\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?=\W|$)",
        r"\b\d{1,2}(?:st|nd|rd|th)\b",
        r"\b\d{1,2}(?::\d\d)?\s?(?:am|pm|o['’]clock)\b|\b\d{1,2}:\d\d\b",
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
        r"[£$€]\s?\d[\d.,]*\d|[£$€]\s?\d",
        r"\b\d[\d.,]*\d\b|\b\d\b",
    )
)
_LEAD = re.compile(
    r"^(?:(?:no|wait|sorry|hang on|hold on|oops|actually|scratch that|correction|i mean|i meant|my mistake"
    r"|(?:i )?beg (?:your )?pardon|i tell a lie)\b[,.! ]*)*"
    r"(?:(?:it|that|they|we|i)(?:['’](?:s|m|re))?|make (?:it|that)|not|the|on|at|is|are|was)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r",?\s(?:and\s)?not\s[^,.;]*$", re.IGNORECASE)
_MONTHS = frozenset(
    tokens(
        "january february march april may june july august september october november december monday tuesday wednesday thursday"
    )
) | frozenset(
    tokens("friday saturday sunday wait hang hold sorry mistake correction mean meant actually date day beg pardon tell lie")
)


def corrected(clause: str, before: Sequence[str]) -> str:
    """Return the latest statement before with the value of a clause that names nothing else; "" if it is no such correction."""
    said = _DENIED.sub("", clause.strip().rstrip(".! "))
    if not _LEAD.match(said) or any(not _is_value(stem) for stem in tokens(said)):
        return ""
    for form in _FORMS:
        value = form.search(said)
        if value is None:
            continue
        for statement in reversed(before):
            hits = form.findall(statement)
            if len(hits) == 1 and hits[0].casefold() != value[0].casefold():
                return statement.replace(hits[0], value[0])
    return ""


def _is_value(stem: str) -> bool:
    return stem in _MONTHS or any(map(str.isdigit, stem))
