"""How much of one session is kept, set by somebody.

Source: SESSION 5.1, 5.4.
"""

from __future__ import annotations

from datetime import UTC, tzinfo

from sqlalchemy import update

from memoir_engine.errors import SessionNotFound
from memoir_engine.run import Clock
from memoir_engine.store import chain, said_passages
from memoir_engine.store import tables as t
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.said import find
from memoir_engine.store.trimming import trim
from memoir_engine.store.types import Tx

VERB = "limit_session"


def limit(
    tx: Tx,
    user: str | None,
    session_id: str,
    *,
    max_messages: int | None,
    timeout_s: float | None,
    falls_to: int | None,
    actor: str,
    clock: Clock,
    action_id: str,
    zone: tzinfo = UTC,
) -> None:
    """What goes over the limit goes now. falls_to: what holds where `max_messages` is None. zone: of the days
    by which passages are found. Raises SessionNotFound."""
    row = find(tx, user, session_id, hold=True)
    if row is None:
        raise SessionNotFound(session_id=session_id)
    if chain.exists(tx, action_id):
        return
    action = OpenAction(tx, verb=VERB, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=None)
    action.add("session.limited", session=row.number, max_messages=max_messages, timeout_s=timeout_s)
    left = {"messages": row.messages, "turns": row.turns, "chars": row.chars}
    if trim(tx, action, row.number, left, max_messages or falls_to):
        said_passages.cut(tx, row.number, zone)  # nothing new is said, by which a search would find out that it has to
    limits = {"max_messages": max_messages, "timeout_s": timeout_s}
    tx.execute(update(t.session).where(t.session.c.number == row.number).values(**left, **limits))
    action.seal()
