"""Retention of sessions: limits on messages, and clearing.

Invariant: once per action id. A limit keeps the system messages and the last others; a tool result is dropped with its call, so
none remains without its call; its cost depends on the limit, not on the conversation's length. Clearing removes messages,
passages, vectors, and what the session's runs asked and answered, in the transaction that records it; tombstones replace rows
that keep their numbers, and the event covers them. Facts stay and find their evidence removed. Message numbers are never reused.
Source: SESSION 3.3, 3.4, 5.1–5.4; spec README, 12; DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Any

from sqlalchemy import and_, case, delete, or_, select, update

from memoir_engine.core.errors import SessionNotFound
from memoir_engine.core.results import Cleared
from memoir_engine.core.run import Clock
from memoir_engine.store import tables
from memoir_engine.store.chain import actions, tombstones
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import canonical, parse
from memoir_engine.store.chain.tombstones import NO_SALT
from memoir_engine.store.checkpoints import deletion
from memoir_engine.store.conversations.messages import find, subject_of
from memoir_engine.store.db.text_rules import owner_key
from memoir_engine.store.db.types import FAR, Tx, portions
from memoir_engine.store.ledger import runs
from memoir_engine.store.search import conversation_passages, embeddings, passages
from memoir_engine.text.messages import base_kind
from memoir_engine.text.redaction import ERASED


@dataclass(frozen=True)
class MessageBrief:
    """The parts of a message a limit looks at. makes: ids of tool calls; answers: ids of calls it is the result of."""

    n: int
    kind: str
    makes: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()


def brief(n: int, kind: str, content: object, rest: dict[str, Any], name: str | None = None) -> MessageBrief:
    base = base_kind(kind)
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    if base == "ai":
        return MessageBrief(n, base, frozenset(_makes(rest, parts)))
    answers = _ids(part.get("tool_use_id") for part in parts if part.get("type") == "tool_result")
    if base == "tool":
        answers |= _ids([rest.get("tool_call_id")])
    if base == "function" and name:
        answers |= {f"function {name}"}
    return MessageBrief(n, base, frozenset(), frozenset(answers))


def dropped(messages: Sequence[MessageBrief], most: int | None) -> tuple[int, ...]:
    """Return the numbers of the messages to drop, in order. messages: all of a session, in order."""
    others = [one for one in messages if one.kind != "system"]
    if most is None or len(others) <= most:
        return ()
    gone = {one.n for one in others[:-most]}
    made: set[str] = set()
    for one in others[-most:]:
        made |= one.makes
        if one.answers and not one.answers & made:
            gone.add(one.n)
    return tuple(one.n for one in messages if one.n in gone)


def _makes(rest: dict[str, Any], parts: Sequence[dict[str, Any]]) -> Iterable[str]:
    extras = rest.get("additional_kwargs", {})
    calls = [*rest.get("tool_calls", ()), *rest.get("invalid_tool_calls", ()), *_records(extras.get("tool_calls"))]
    yield from _ids(call.get("id") for call in calls if isinstance(call, dict))
    yield from _ids(part.get("id") for part in parts if part.get("type") == "tool_use")
    legacy = extras.get("function_call")
    if isinstance(legacy, dict) and isinstance(legacy.get("name"), str):
        yield f"function {legacy['name']}"


def _records(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _ids(values: Iterable[object]) -> set[str]:
    return {value for value in values if isinstance(value, str)}


def trim(tx: Tx, action: OpenAction, number: int, counted: dict[str, Any], most: int | None) -> int:
    """Drop messages over the limit and return how many. counted: the session's `messages`, `turns` and `chars`, lowered here."""
    if most is None or counted["messages"] <= most:
        return 0
    dropped_ns = dropped(briefs(tx, number), most)
    if not dropped_ns:
        return 0
    c = tables.message.c
    dropped_rows = []
    for some in portions(dropped_ns):
        is_dropped = and_(c.session_number == number, c.n.in_(some))
        rows = tx.execute(select(c.n, c.kind, c.content, c.digest).where(is_dropped).order_by(c.n)).all()
        dropped_rows += [[row.n, row.digest] for row in rows]
        counted["turns"] -= sum(base_kind(row.kind) == "human" for row in rows)
        counted["chars"] -= sum(len(row.content) for row in rows)
        tx.execute(delete(tables.message).where(is_dropped))
    counted["messages"] -= len(dropped_rows)
    conversation_passages.drop_through(tx, number, dropped_ns)
    action.add("session.trimmed", session=number, gone=dropped_rows)
    return len(dropped_rows)


def briefs(tx: Tx, number: int) -> list[MessageBrief]:
    """Return all messages of a session, in order, as a limit sees them."""
    c = tables.message.c
    parts = case((c.parts == 1, c.content), else_="null")
    wanted = select(c.n, c.kind, c.name, parts, c.rest).where(c.session_number == number).order_by(c.at, c.n)
    return [brief(n, kind, parse(content), parse(rest), name) for n, kind, name, content, rest in tx.execute(wanted)]


LIMIT_VERB = "limit_session"


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
    """Set a session's limits and drop what exceeds them now. falls_to: the limit if `max_messages` is None.

    zone: of the days passages are dated by. Raises SessionNotFound.
    """
    row = find(tx, user, session_id, hold=True)
    if row is None:
        raise SessionNotFound(session_id=session_id)
    if actions.exists(tx, action_id):
        return
    action = OpenAction(tx, verb=LIMIT_VERB, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=None)
    action.add("session.limited", session=row.number, max_messages=max_messages, timeout_s=timeout_s)
    counters = {"messages": row.messages, "turns": row.turns, "chars": row.chars}
    if trim(tx, action, row.number, counters, max_messages or falls_to):
        conversation_passages.cut_session(tx, row.number, zone)  # no new message would make a search notice
    limits = {"max_messages": max_messages, "timeout_s": timeout_s}
    tx.execute(update(tables.session).where(tables.session.c.number == row.number).values(**counters, **limits))
    action.seal()


CLEAR_VERB = "clear_session"


@dataclass(frozen=True)
class _Held:
    """Runs, calls and payload digests that hold a session's words."""

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
    """Clear sessions; None clears all of the user's, and graph states too. Missing or empty sessions are skipped."""
    if actions.exists(tx, action_id):
        return _done(tx, action_id)
    sessions = _sessions(tx, user, session_ids)
    gone = deletion.delete_threads(tx, owner_key(user), None) if session_ids is None else deletion.NOTHING
    if not sessions and gone == deletion.NOTHING:
        return Cleared(0, 0, None)
    records = {row.number: _held(tx, row, clock) for row in sessions}
    action = OpenAction(tx, verb=CLEAR_VERB, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    for row in sessions:
        _clear(tx, action, row, records[row.number])
    drop_passages(tx, [row.number for row in sessions])
    deletion.add(action, gone)
    action.seal()
    return Cleared(len(sessions), sum(row.messages for row in sessions), action.id, gone.threads)


def _sessions(tx: Tx, user: str | None, session_ids: Iterable[str] | None) -> list[Any]:
    """Lock and return the sessions with something to clear, by number."""
    if session_ids is not None:
        found = (find(tx, user, one, hold=True) for one in sorted(set(session_ids)))
        rows = [row for row in found if row is not None]
    else:
        c = tables.session.c
        wanted = select(tables.session).where(c.owner == owner_key(user)).order_by(c.number).with_for_update()
        rows = list(tx.execute(wanted).all())
    return sorted((row for row in rows if row.messages or row.cleared_seq is None), key=lambda row: row.number)


def _held(tx: Tx, session: Any, clock: Clock) -> _Held:
    """Collect what holds the session's words. Its runs are cancelled first, so that none writes anything more."""
    r, call, m = tables.run.c, tables.model_call.c, tables.message.c
    wrote = select(m.run_id).where(m.session_number == session.number, m.run_id.is_not(None))
    is_involved = or_(r.subject == subject_of(session.number), r.id.in_(wrote), r.id.in_(_asked_of(tx, session)))
    run_rows = tx.execute(select(r.id, r.request).where(is_involved).order_by(r.id)).all()
    held = _Held([row.id for row in run_rows], [], [row.request for row in run_rows])
    _cancel(tx, held.runs, clock)
    for some in portions(held.runs):
        rows = tx.execute(select(call.id, call.payload).where(call.run_id.in_(some))).all()
        held.calls.extend(row.id for row in rows)
        held.papers.extend(row.payload for row in rows)
    there = {one for some in portions(sorted(set(held.papers))) for one in _there(tx, some)}
    held.papers[:] = sorted(there)
    return held


def _asked_of(tx: Tx, session: Any) -> list[str]:
    """Return this user's runs whose request names the session: they may have read messages dropped since."""
    r, p = tables.run.c, tables.payload.c
    is_user = r.user_id.is_(None) if session.user_id is None else r.user_id == session.user_id
    quoted = canonical({"session_id": session.session_id})[1:-1]
    wanted = (
        select(r.id, p.body).join(tables.payload, p.digest == r.request).where(is_user, p.body.contains(quoted, autoescape=True))
    )
    return [run_id for run_id, body in tx.execute(wanted) if parse(body).get("session_id") == session.session_id]


def _there(tx: Tx, papers: Sequence[str]) -> Iterable[str]:
    return tx.execute(select(tables.payload.c.digest).where(tables.payload.c.digest.in_(papers))).scalars()


def _cancel(tx: Tx, run_ids: Sequence[str], clock: Clock) -> None:
    """Close the runs in progress; they are refused if they go on."""
    c = tables.run.c
    for some in portions(run_ids):
        for run_id in tx.execute(select(c.id).where(c.id.in_(some), c.status.in_(runs.ALIVE)).order_by(c.id)).scalars().all():
            runs.finish(tx, run_id, "cancelled", clock=clock, result={}, error="its session was cleared")


def _clear(tx: Tx, action: OpenAction, session: Any, held: _Held) -> None:
    number, seq = session.number, action.next_seq
    tx.execute(delete(tables.message).where(tables.message.c.session_number == number))
    for some in portions(held.papers):
        tx.execute(delete(tables.payload).where(tables.payload.c.digest.in_(some)))
    for some in portions(held.runs):
        r = tables.run.c
        tx.execute(delete(tables.run_event).where(tables.run_event.c.run_id.in_(some)))
        tx.execute(delete(tables.run_input).where(tables.run_input.c.run_id.in_(some)))
        emptied = {"result": "{}", "subject": None, "salt": NO_SALT}
        tx.execute(update(tables.run).where(r.id.in_(some)).values(**emptied))
        for name in ("error", "remedy"):
            tx.execute(update(tables.run).where(r.id.in_(some), r[name].is_not(None)).values(**{name: ERASED}))
    for some_calls in portions(held.calls):
        c = tables.model_call.c
        tx.execute(update(tables.model_call).where(c.id.in_(some_calls)).values(subject=None, fingerprint="", salt=NO_SALT))
        tx.execute(update(tables.model_call).where(c.id.in_(some_calls), c.error.is_not(None)).values(error=ERASED))
    changed = {"run": held.runs, "outcome": held.runs, "model_call": [str(one) for one in held.calls]}
    covered = tombstones.set_over(tx, seq, {"payload": held.papers}, changed)
    action.add("session.cleared", session=number, messages=session.messages, runs=len(held.runs), stones=covered)
    nothing = {"messages": 0, "turns": 0, "chars": 0, "cleared_seq": seq}
    tx.execute(update(tables.session).where(tables.session.c.number == number).values(**nothing))


def drop_passages(tx: Tx, numbers: Sequence[int]) -> None:
    """Close the sessions' passages and drop their vectors; what remains is cut again before the next search."""
    c = tables.passage.c
    for some in portions(numbers):
        wanted = select(c.id).where(c.session_number.in_(some), c.to_seq == FAR).order_by(c.id)
        cut = list(tx.execute(wanted).scalars())
        if cut:
            passages.close(tx, cut)
            embeddings.drop(tx, "passage", cut)


def _done(tx: Tx, action_id: str) -> Cleared:
    c = tables.audit_event.c
    bodies = tx.execute(select(c.body).where(c.action_id == action_id, c.kind == "session.cleared")).scalars().all()
    threads = deletion.done(tx, action_id).threads
    return Cleared(len(bodies), sum(parse(body)["messages"] for body in bodies), action_id, threads)
