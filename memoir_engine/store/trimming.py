"""Messages that a limit drops: in the action that goes over it, by an event that names each with its digest.

Invariant: which go is decided by `text.retention` alone; what the session's row counts is lowered by what went.
The cost of one dropping goes with the limit, not with the length of the conversation.
Source: SESSION 5.1–5.3.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, case, delete, select

from memoir_engine.store import said_passages
from memoir_engine.store import tables as t
from memoir_engine.store.canon import parse
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.types import Tx, portions
from memoir_engine.text.messages import base_kind
from memoir_engine.text.retention import Brief, brief, dropped


def trim(tx: Tx, action: OpenAction, number: int, counted: dict[str, Any], most: int | None) -> int:
    """How many messages went. counted: `messages`, `turns` and `chars` of the session, lowered by what went."""
    if most is None or counted["messages"] <= most:
        return 0
    gone = dropped(briefs(tx, number), most)
    if not gone:
        return 0
    c = t.message.c
    told = []
    for some in portions(gone):
        mine = and_(c.session_number == number, c.n.in_(some))
        rows = tx.execute(select(c.n, c.kind, c.content, c.digest).where(mine).order_by(c.n)).all()
        told += [[row.n, row.digest] for row in rows]
        counted["turns"] -= sum(base_kind(row.kind) == "human" for row in rows)
        counted["chars"] -= sum(len(row.content) for row in rows)
        tx.execute(delete(t.message).where(mine))
    counted["messages"] -= len(told)
    said_passages.leave(tx, number, gone)
    action.add("session.trimmed", session=number, gone=told)
    return len(told)


def briefs(tx: Tx, number: int) -> list[Brief]:
    """All messages of a session, in order, as a limit sees them."""
    c = t.message.c
    parts = case((c.parts == 1, c.content), else_="null")
    wanted = select(c.n, c.kind, c.name, parts, c.rest).where(c.session_number == number).order_by(c.at, c.n)
    return [brief(n, kind, parse(content), parse(rest), name) for n, kind, name, content, rest in tx.execute(wanted)]
