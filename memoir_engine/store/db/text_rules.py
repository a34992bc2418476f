"""Whose a row is, as a key that every database compares alike: names differ in case, form and spaces, and all of that counts.

Invariant: '' is the workspace, and nobody's name. What is said by who acts for no user is as private as what a user says: its
passages have a key of their own, for everybody finds the workspace's.
Source: DESIGN §6 (who and whose).
"""

from __future__ import annotations

import hashlib
import unicodedata

from memoir_engine.core.errors import NameInvalid, TextInvalid

# === rules: What a name and a text must be before SQL sees them.
#
# Invariant: what passes here is stored alike by every database. SQLite keeps NUL characters and over-long strings that
# PostgreSQL refuses; lone surrogates fail inside every driver.
# `name_key` decides which names are the same: Unicode form, case and spaces do not count, accents do.
# Source: DESIGN §5, §9 (`›` separates the names of a path); MEMOIR 3.5, 7.6.


NAME_LIMIT = 200
FIELD_LIMIT = 200


def name_key(name: str) -> str:
    folded = " ".join(unicodedata.normalize("NFKC", name).split()).casefold()
    return hashlib.sha256(folded.encode()).hexdigest()


def check_name(name: str) -> str:
    """The name without spaces around it. Raises NameInvalid."""
    clean = name.strip()
    problem = _name_problem(clean)
    if problem:
        raise NameInvalid(name=clean[:NAME_LIMIT], problem=problem, limit=NAME_LIMIT)
    return clean


def check_text(text: str, name: str) -> str:
    """The text itself. Raises TextInvalid for what no database stores alike."""
    if "\x00" in text:
        raise TextInvalid(name=name, problem="it holds NUL characters", advice="Remove them and try again.")
    try:
        text.encode()
    except UnicodeEncodeError as lone:
        problem = f"character {lone.start} is half of a surrogate pair"
        raise TextInvalid(name=name, problem=problem, advice="Save the text as UTF-8 and try again.") from None
    return text


def check_field(value: str, field: str, limit: int = FIELD_LIMIT) -> str:
    """A short string with a column of its own. Raises TextInvalid."""
    if len(value) > limit:
        advice = f"Shorten it to {limit} characters."
        raise TextInvalid(name=field, problem=f"it is {len(value)} characters long", advice=advice)
    return check_text(value, field)


def tame(text: str) -> str:
    """What a library said, as every database stores it: without NUL characters and halves of surrogate pairs."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _name_problem(name: str) -> str | None:
    if not name:
        return "it is empty"
    if len(name) > NAME_LIMIT:
        return f"it has {len(name)} characters"
    if "›" in name:
        return "› separates the names of a path"
    if any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in name):
        return "it holds control characters"
    return None


# === owners


WORKSPACE = ""
NAMELESS = "nameless"  # of passages of conversations that belong to no user


def owner_key(user: str | None) -> str:
    """Of a user's sessions, passages, facts; of the workspace where there is no user."""
    return WORKSPACE if user is None else hashlib.sha256(user.encode()).hexdigest()


def finder_key(user: str | None) -> str:
    """Who searches: beside the workspace's, the passages of this key are found."""
    return said_key(owner_key(user))


def said_key(owner: str) -> str:
    """Of the passages of that owner's conversations."""
    return NAMELESS if owner == WORKSPACE else owner
