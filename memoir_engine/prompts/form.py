"""The form that describes a source, and the paragraph made of it: the user's contextual helper.

Invariant: pure, and no input raises: problems are returned by field, with their remedy.
Every field is required and may say "unknown"; the known ones make one paragraph of at most 300 tokens.
Source: MEMOIR 2B.6, 2B.7.1–2B.7.6; spec/README 2B.7.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime

from memoir_engine.prompts.helper import MAX_TOKENS, UNKNOWN, Count, known

FIELDS = ("date", "author", "topic", "description")
DESCRIPTION_TOKENS = 200
NOTHING_KNOWN = "Author, date, topic and content of this source are unknown."
EXAMPLES = "2024, 2024-05, 2024-05-17 or 2024-05-17T09:30:00"

_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)?)?", re.ASCII)
_OTHER_DAY = re.compile(r"(?:\d{8}|\d{4}-?W\d\d(?:-?\d)?)(?:T\d\d:?\d\d(?::?\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_HALF = re.compile("[\ud800-\udfff]")


def normalise(fields: Mapping[str, str]) -> dict[str, str]:
    """Return exactly the fields of the form, each on one line; a missing one is empty."""
    return {name: " ".join(str(fields.get(name) or "").split()) for name in FIELDS}


def problems(fields: Mapping[str, str], count: Count) -> dict[str, str]:
    """Return the problems by field; empty if the form is complete. fields: as returned by `normalise`."""
    found = {name: f"The {name} is missing. If you do not know it, write: {UNKNOWN}" for name in FIELDS if not fields[name]}
    if fields["date"] and known(fields["date"]) and not is_date(fields["date"]):
        found["date"] = f"{fields['date']!r} is not a date in ISO 8601. Write it like {EXAMPLES}, or: {UNKNOWN}"
    found |= {name: f"The {name} holds {wrong}. Remove it." for name in FIELDS if (wrong := _unstorable(fields[name]))}
    tokens = count(fields["description"])
    if tokens > DESCRIPTION_TOKENS:
        found["description"] = f"The description has {tokens} tokens, {DESCRIPTION_TOKENS} at most. Shorten it."
    return found


def is_date(text: str) -> bool:
    """Return True for an existing year, month or day, or a day with its time; a day also as 20240517 or 2024-W20-5."""
    matched = _DATE.fullmatch(text)
    year, month, day, time = matched.groups() if matched else (None, None, None, None)
    try:
        if year is None:
            return _OTHER_DAY.fullmatch(text) is not None and datetime.fromisoformat(text) is not None
        date(int(year), int(month or 1), int(day or 1))
        return time is None or datetime.fromisoformat(text) is not None
    except ValueError:
        return False


def compose(fields: Mapping[str, str]) -> str:
    """Return one paragraph of the known author, date, topic and description (MEMOIR 2B.7.5)."""
    named = (("Author", "author"), ("Date", "date"), ("Topic", "topic"))
    told = [f"{title}: {value.rstrip('.')}." for title, name in named if (value := known(fields[name]))]
    description = known(fields["description"])
    return " ".join([*told, *([description] if description else [])]) or NOTHING_KNOWN


def paragraph_problem(text: str, tokens: int) -> str | None:
    """Return the problem of the whole paragraph, composed or edited, or None."""
    if not text:
        return "The paragraph is empty. Say in a sentence or two what the source is."
    if wrong := _unstorable(text):
        return f"The paragraph holds {wrong}. Remove it."
    if tokens > MAX_TOKENS:
        return f"The paragraph has {tokens} tokens, {MAX_TOKENS} at most. Shorten the author, the topic or the description."
    return None


def _unstorable(text: str) -> str:
    """Name the character that no database can store, or return ""."""
    if "\x00" in text:
        return "a NUL character"
    return "half of a surrogate pair" if _HALF.search(text) else ""
