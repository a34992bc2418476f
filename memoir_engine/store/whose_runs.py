"""Which runs somebody may see: their own and the workspace's.

Invariant: a run without a user is the workspace's, unless it works on conversations or facts: those of nobody's user are as
private as a user's, and so is what was asked about them.
Source: DESIGN §6 (who and whose).
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, or_

from memoir_engine.store import tables as t

PRIVATE = ("reply", "remember", "extract", "recall", "search")  # a search may embed conversations on its way
SUMMARY = "create_summary"  # of a session it has a subject, of a document none


def seen_by(user: str | None) -> tuple[ColumnElement[bool], ...]:
    """None sees everybody's; '' is who acts for no user."""
    c = t.run.c
    if user is None:
        return ()
    if not user:
        return (c.user_id.is_(None),)
    private = or_(c.verb.in_(PRIVATE), and_(c.verb == SUMMARY, c.subject.is_not(None)))
    return (or_(c.user_id == user, and_(c.user_id.is_(None), ~private)),)
