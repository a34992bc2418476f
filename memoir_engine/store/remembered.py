"""What is known of a conversation from before: whether it came already, what of it stands in its session, what of that was read.

Invariant: pure reading, by the owner. What a failed cut held, or what was taken back or cleared since, counts as not read.
Source: CHUNK 13; SESSION 6.3; DESIGN §6.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select

from memoir_engine.store import said
from memoir_engine.store import tables as t
from memoir_engine.store.canon import canonical
from memoir_engine.store.owners import owner_key
from memoir_engine.store.prepared import Prepared
from memoir_engine.store.types import FAR, Tx
from memoir_engine.text.messages import Message
from memoir_engine.text.overlap import Stored, placed

_C = t.cut.c
_OF_KEY = Prepared(select(t.cut).where(_C.owner == bindparam("whose"), _C.conversation_key == bindparam("key")).order_by(_C.id))
_CLEARED = Prepared(select(t.session.c.cleared_seq).where(t.session.c.number == bindparam("number")))
_READ = Prepared(
    select(_C.id, _C.run_id, _C.first_message, _C.last_message, _C.failed)
    .where(_C.session_number == bindparam("number"), _C.to_seq == FAR, _C.from_seq > bindparam("since"))
    .order_by(_C.id)
)


@dataclass(frozen=True)
class Before:
    """A conversation that was remembered: in which session its messages stand, from which number on, and by which cuts.

    whole: whether every cut gave its facts, nobody took that back, and its session was not cleared since.
    """

    session_number: int | None
    first_message: int
    first_cut: int
    whole: bool


@dataclass(frozen=True)
class Came:
    """whole: the conversation came before. numbers: of its first messages in its session, as far as they stand there. read: how
    many of these facts were drawn from. last: the number of the session's last message, None where there is no session."""

    whole: Before | None = None
    numbers: tuple[int, ...] = ()
    read: int = 0
    last: int | None = None


def conversation_key(owner: str, messages: Sequence[Message]) -> str:
    """The same for the same words of the same user, by the same speakers at the same times as far as those were given."""
    words = [[one.kind, one.name, one.content, one.said_at and one.said_at.isoformat()] for one in messages]
    return hashlib.sha256(canonical([owner, words]).encode()).hexdigest()


def before(tx: Tx, owner: str, key: str) -> Before | None:
    """What is known of this conversation from before; its latest cuts."""
    rows = _OF_KEY.rows(tx, {"whose": owner, "key": key})
    if not rows:
        return None
    first = [row for row in rows if row.n == 1][-1]
    last = [row for row in rows if row.id >= first.id]
    whole = all(row.to_seq == FAR and not row.failed for row in last)
    if whole and first.session_number is not None:
        cleared = _CLEARED.first(tx, {"number": first.session_number})
        whole = cleared is None or (cleared.cleared_seq or 0) <= first.from_seq
    return Before(first.session_number, first.first_message, first.id, whole)


def came(tx: Tx, user: str | None, key: str, session_id: str, messages: Sequence[Message], numbers: tuple[int, ...] = ()) -> Came:
    """numbers: of all messages, where they were read from their session."""
    known = before(tx, owner_key(user), key)
    if known is not None and known.whole:
        return Came(known)
    row = said.find(tx, user, session_id)
    if row is None or not messages:
        return Came()
    ns = numbers or placed(_last(tx, row, len(messages)), messages, is_all=row.messages <= len(messages))
    cuts = _READ.rows(tx, {"number": row.number, "since": row.cleared_seq or 0}) if ns else []
    read = _from_the_first(ns, cuts)
    if read == len(messages):
        return Came(Before(row.number, ns[0], cuts[-1].id, True))
    return Came(None, ns, read, row.last_n)


def _last(tx: Tx, row: Any, count: int) -> list[Stored]:
    """The last messages of a session, in the order of their numbers."""
    c = t.message.c
    wanted = select(t.message).where(c.session_number == row.number).order_by(c.n.desc()).limit(count)
    found = [Stored(one.n, said.as_message(said.record(one, "")), bool(one.salt)) for one in tx.execute(wanted)]
    return found[::-1]


def _from_the_first(ns: Sequence[int], cuts: Sequence[Any]) -> int:
    """How many messages from the first on were read, each by every cut of the run that came to it last."""
    wanted, of = set(ns), dict[int, tuple[str, bool]]()
    for cut in cuts:
        for n in wanted.intersection(range(cut.first_message, cut.last_message + 1)):
            run_id, is_read = of.get(n, ("", True))
            of[n] = cut.run_id, not cut.failed and (is_read or run_id != cut.run_id)
    return next((at for at, n in enumerate(ns) if not of.get(n, ("", False))[1]), len(ns))
