"""Sessions cleared: their messages go, with whatever else holds their words.

Invariant: once per action id; messages, passages, vectors, and what the runs of a session asked and answered, are gone in the
transaction that says so; stones stand for rows that keep their numbers, and the event covers them. Facts stay, and find that
their evidence was removed. Numbers of messages go on where they ended.
Source: SESSION 3.3, 3.4; spec README, 12; DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, or_, select, update

from memoir_engine.results import Cleared
from memoir_engine.run import Clock
from memoir_engine.store import chain, embeddings, graph_actions, passages, runs, stones, sweeping
from memoir_engine.store import tables as t
from memoir_engine.store.canon import canonical, parse
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.owners import owner_key
from memoir_engine.store.said import find, subject_of
from memoir_engine.store.stones import NO_SALT
from memoir_engine.store.types import FAR, Tx, portions
from memoir_engine.text.traces import GONE

VERB = "clear_session"


@dataclass(frozen=True)
class _Held:
    """What else holds the words of a session."""

    runs: list[str] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    papers: list[str] = field(default_factory=list)


def clear(
    tx: Tx,
    user: str | None,
    session_ids: Iterable[str] | None,
    *,
    actor: str,
    clock: Clock,
    action_id: str,
    reason: str | None = None,
) -> Cleared:
    """session_ids: None clears all of the user's, states of graphs too. What is not there, or holds nothing, is passed over."""
    if chain.exists(tx, action_id):
        return _done(tx, action_id)
    sessions = _sessions(tx, user, session_ids)
    gone = sweeping.delete_threads(tx, owner_key(user), None) if session_ids is None else sweeping.NOTHING
    if not sessions and gone == sweeping.NOTHING:
        return Cleared(0, 0, None)
    held = {row.number: _held(tx, row, clock) for row in sessions}
    action = OpenAction(tx, verb=VERB, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    for row in sessions:
        _clear(tx, action, row, held[row.number])
    leave_searches(tx, [row.number for row in sessions])
    graph_actions.add(action, gone)
    action.seal()
    return Cleared(len(sessions), sum(row.messages for row in sessions), action.id, gone.threads)


def _sessions(tx: Tx, user: str | None, session_ids: Iterable[str] | None) -> list[Any]:
    """Those with something to clear, held, by number."""
    if session_ids is not None:
        found = (find(tx, user, one, hold=True) for one in sorted(set(session_ids)))
        rows = [row for row in found if row is not None]
    else:
        c = t.session.c
        wanted = select(t.session).where(c.owner == owner_key(user)).order_by(c.number).with_for_update()
        rows = list(tx.execute(wanted).all())
    return sorted((row for row in rows if row.messages or row.cleared_seq is None), key=lambda row: row.number)


def _held(tx: Tx, session: Any, clock: Clock) -> _Held:
    """Its runs are ended first: whoever still works on it writes nothing more, whatever is in flight."""
    r, call, m = t.run.c, t.model_call.c, t.message.c
    wrote = select(m.run_id).where(m.session_number == session.number, m.run_id.is_not(None))
    known = or_(r.subject == subject_of(session.number), r.id.in_(wrote), r.id.in_(_asked_of(tx, session)))
    found = tx.execute(select(r.id, r.request).where(known).order_by(r.id)).all()
    held = _Held([row.id for row in found], [], [row.request for row in found])
    _cancel(tx, held.runs, clock)
    for some in portions(held.runs):
        rows = tx.execute(select(call.id, call.payload).where(call.run_id.in_(some))).all()
        held.calls.extend(row.id for row in rows)
        held.papers.extend(row.payload for row in rows)
    there = {one for some in portions(sorted(set(held.papers))) for one in _there(tx, some)}
    held.papers[:] = sorted(there)
    return held


def _asked_of(tx: Tx, session: Any) -> list[str]:
    """Runs of this user whose request names the session: they may have read what a limit has dropped since."""
    r, p = t.run.c, t.payload.c
    whose = r.user_id.is_(None) if session.user_id is None else r.user_id == session.user_id
    named = canonical({"session_id": session.session_id})[1:-1]
    wanted = select(r.id, p.body).join(t.payload, p.digest == r.request).where(whose, p.body.contains(named, autoescape=True))
    return [run_id for run_id, body in tx.execute(wanted) if parse(body).get("session_id") == session.session_id]


def _there(tx: Tx, papers: Sequence[str]) -> Iterable[str]:
    return tx.execute(select(t.payload.c.digest).where(t.payload.c.digest.in_(papers))).scalars()


def _cancel(tx: Tx, run_ids: Sequence[str], clock: Clock) -> None:
    """What is at work on it is closed, and refused if it goes on."""
    c = t.run.c
    for some in portions(run_ids):
        for run_id in tx.execute(select(c.id).where(c.id.in_(some), c.status.in_(runs.ALIVE)).order_by(c.id)).scalars().all():
            runs.finish(tx, run_id, "cancelled", clock=clock, result={}, error="its session was cleared")


def _clear(tx: Tx, action: OpenAction, session: Any, held: _Held) -> None:
    number, seq = session.number, action.next_seq
    tx.execute(delete(t.message).where(t.message.c.session_number == number))
    for some in portions(held.papers):
        tx.execute(delete(t.payload).where(t.payload.c.digest.in_(some)))
    for some in portions(held.runs):
        r = t.run.c
        tx.execute(delete(t.run_event).where(t.run_event.c.run_id.in_(some)))
        tx.execute(delete(t.run_input).where(t.run_input.c.run_id.in_(some)))
        said = {"result": "{}", "subject": None, "salt": NO_SALT}
        tx.execute(update(t.run).where(r.id.in_(some)).values(**said))
        for name in ("error", "remedy"):
            tx.execute(update(t.run).where(r.id.in_(some), r[name].is_not(None)).values(**{name: GONE}))
    for some_calls in portions(held.calls):
        c = t.model_call.c
        tx.execute(update(t.model_call).where(c.id.in_(some_calls)).values(subject=None, fingerprint="", salt=NO_SALT))
        tx.execute(update(t.model_call).where(c.id.in_(some_calls), c.error.is_not(None)).values(error=GONE))
    changed = {"run": held.runs, "outcome": held.runs, "model_call": [str(one) for one in held.calls]}
    covered = stones.set_over(tx, seq, {"payload": held.papers}, changed)
    action.add("session.cleared", session=number, messages=session.messages, runs=len(held.runs), stones=covered)
    nothing = {"messages": 0, "turns": 0, "chars": 0, "cleared_seq": seq}
    tx.execute(update(t.session).where(t.session.c.number == number).values(**nothing))


def leave_searches(tx: Tx, numbers: Sequence[int]) -> None:
    """Their passages close, with their vectors; what still stands is cut again before the next search."""
    c = t.passage.c
    for some in portions(numbers):
        wanted = select(c.id).where(c.session_number.in_(some), c.to_seq == FAR).order_by(c.id)
        cut = list(tx.execute(wanted).scalars())
        if cut:
            passages.close(tx, cut)
            embeddings.drop(tx, "passage", cut)


def _done(tx: Tx, action_id: str) -> Cleared:
    c = t.audit_event.c
    bodies = tx.execute(select(c.body).where(c.action_id == action_id, c.kind == "session.cleared")).scalars().all()
    threads = graph_actions.done(tx, action_id).threads
    return Cleared(len(bodies), sum(parse(body)["messages"] for body in bodies), action_id, threads)
