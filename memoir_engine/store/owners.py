"""Whose a row is, as a key that every database compares alike: names differ in case, form and spaces, and all of that counts.

Invariant: '' is the workspace, and nobody's name. What is said by who acts for no user is as private as what a user says: its
passages have a key of their own, for everybody finds the workspace's.
Source: DESIGN §6 (who and whose).
"""

from __future__ import annotations

import hashlib

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
