"""Sessions and messages beside what their events cover.

Invariant: every message that stands was appended by a turn, whose digest it and its neighbours give; of one that a limit dropped
the event of the dropping kept the digest. Of a session that was cleared nothing stands that was said before. What its row counts
is what stands.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from memoir_engine.store import tables as t
from memoir_engine.store.canon import COVERED, roll_up, stamp, values_digest
from memoir_engine.store.owners import owner_key
from memoir_engine.store.said import id_key
from memoir_engine.store.stones import Stones
from memoir_engine.store.told import Conversation, Problem, Told
from memoir_engine.store.types import Tx
from memoir_engine.text.messages import KINDS, base_kind

_STREAM = {"yield_per": 2000}
_MESSAGE = tuple(t.message.c[name] for name in (*COVERED["message"], "salt", "digest"))


class _Kept(NamedTuple):
    n: int
    true: str
    stored: str
    is_human: bool
    chars: int


def session_problems(tx: Tx, told: Told, stones: Stones) -> Iterator[Problem]:
    left = dict(told.sessions)
    for session in tx.execute(select(t.session).order_by(t.session.c.number)).all():
        said = left.pop(session.number, None)
        if said is None:
            yield Problem(None, f"session {session.number} stands in no event")
            continue
        yield from _session(session, said)
        yield from _messages(session, said, list(_kept(tx, session.number, stones)))
    for number, said in left.items():
        yield Problem(said.seq, f"session {number} of event {said.seq} is missing")
    known = select(t.session.c.number)
    for number in tx.execute(
        select(t.message.c.session_number).where(t.message.c.session_number.not_in(known)).limit(1)
    ).scalars():
        yield Problem(None, f"messages of session {number} stand in no event")


def _session(session: Any, said: Conversation) -> Iterator[Problem]:
    number = session.number
    true = values_digest(session.salt, [getattr(session, name) for name in COVERED["session"]])
    keys = (owner_key(session.user_id), id_key(session.session_id))
    if not true == session.digest == said.digest or keys != (session.owner, session.id_key):
        yield Problem(said.seq, f"session {number} is not what event {said.seq} covers")
    now = (session.last_n, stamp(session.last_at), session.cleared_seq, session.max_messages, session.timeout_s)
    if now != (said.last_n, said.last_at, said.cleared_seq, *said.limits):
        yield Problem(said.seq, f"how session {number} stands is not what its events make it")


def _messages(session: Any, said: Conversation, kept: Sequence[_Kept]) -> Iterator[Problem]:
    number, at = session.number, {one.n: one for one in kept}
    expected = {n for turn in said.turns for n in range(max(turn.first, said.cleared + 1), turn.last + 1)} - said.gone.keys()
    for n in sorted(expected ^ at.keys()):
        seq = next((turn.seq for turn in said.turns if turn.first <= n <= turn.last), None)
        says = "is missing" if n in expected else "is none that its events leave"
        yield Problem(seq, f"message {n} of session {number} {says}")
        return
    for turn in said.turns:
        if turn.last <= said.cleared:
            continue
        rows = [at[n].true if n in at else said.gone[n] for n in range(turn.first, turn.last + 1)]
        if any(at[n].true != at[n].stored for n in range(turn.first, turn.last + 1) if n in at) or roll_up(rows) != turn.digest:
            yield Problem(turn.seq, f"the messages of session {number} are not those that event {turn.seq} covers")
    counted = (len(kept), sum(one.is_human for one in kept), sum(one.chars for one in kept))
    if counted != (session.messages, session.turns, session.chars):
        yield Problem(said.seq, f"what is counted in session {number} is not what stands in it")


def _kept(tx: Tx, number: int, stones: Stones) -> Iterator[_Kept]:
    """As they stand; one whose words were erased, and is as it was left, stands for what its digest covered."""
    wanted = select(*_MESSAGE).where(t.message.c.session_number == number).order_by(t.message.c.n)
    for row in tx.execute(wanted.execution_options(**_STREAM)):
        *values, salt, digest = row
        true = values_digest(salt, values)
        if true != digest and stones.fits("message", f"{number}/{row.n}", values, salt):
            true = digest
        is_human = row.kind in KINDS and base_kind(row.kind) == "human"
        yield _Kept(row.n, true, digest, is_human, len(row.content))
