"""Whose a row is, as a key that every database compares alike: names differ in case, form and spaces, and all of that counts.

Invariant: '' is the workspace and nobody's name.
Source: DESIGN §6 (who and whose).
"""

from __future__ import annotations

import hashlib

WORKSPACE = ""


def owner_key(user: str | None) -> str:
    """Of a user's sessions, passages, facts; of the workspace where there is no user."""
    return WORKSPACE if user is None else hashlib.sha256(user.encode()).hexdigest()
