"""The moments of the tree: what a time or a seq comes to, and the actions after each of which it stood differently.

Invariant: actions are whole. A time inside one means after it, since nobody saw the half of it; a seq means exactly that seq.
Source: DESIGN §2.7, §5 (seq is the product's logical clock), §6.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, or_, select

from memoir_engine.errors import InvalidSetting
from memoir_engine.results import Moment
from memoir_engine.store import chain, moment_words, payloads
from memoir_engine.store import tables as t
from memoir_engine.store.canon import moment_of, stamp
from memoir_engine.store.types import Tx

FAMILIES = ("category.", "chunk.", "source.")  # of event kinds: what changes the tree, or what is filed in it


def seq_of(tx: Tx, when: int | datetime, name: str = "as_of") -> int:
    """The seq that a moment names: 0 before the first event, the last one for a time ahead. Raises InvalidSetting, by `name`."""
    if isinstance(when, int):
        last = chain.seq(tx)
        if not 0 <= when <= last:
            advice = f"Give a number from 0, which is before the first event, to {last}, the newest; or a time."
            raise InvalidSetting(name=name, value=when, problem="there is no such event", advice=advice)
        return when
    e = t.audit_event.c
    action = tx.execute(select(e.action_id).where(e.at <= stamp(when)).order_by(e.at.desc()).limit(1)).scalar()
    return 0 if action is None else int(tx.execute(select(func.max(e.seq)).where(e.action_id == action)).scalar_one())


def time_of(tx: Tx, seq: int) -> datetime | None:
    """When the event happened; None for 0."""
    at = tx.execute(select(t.audit_event.c.at).where(t.audit_event.c.seq == seq)).scalar()
    return None if at is None else moment_of(at)


def recent(tx: Tx, *, limit: int, before: int | None = None, after: int | None = None) -> tuple[Moment, ...]:
    """Newest first: the last ones, those next below the seq `before`, or those next above the seq `after`."""
    a, e = t.action.c, t.audit_event.c
    touches = or_(*(e.kind.startswith(family, autoescape=True) for family in FAMILIES))
    touching = select(e.seq).where(e.action_id == a.id, touches).exists()
    wanted = select(t.action).where(touching).limit(limit + 1)  # one more: an action that a bound falls inside is left out below
    if before is not None and before <= chain.seq(tx):
        wanted = wanted.where(a.at < select(e.at).where(e.seq == before).scalar_subquery())
    if after is not None and after > 0:
        its = t.action.alias()
        wanted = wanted.where(
            a.at >= select(its.c.at).join(t.audit_event, e.action_id == its.c.id).where(e.seq == after).scalar_subquery()
        )
    order = (a.at.desc(), a.id.desc()) if after is None else (a.at, a.id)
    rows = tx.execute(wanted.order_by(*order)).all()
    spans = moment_words.spans_of(tx, [row.id for row in rows])
    known = [row for row in rows if row.id in spans and _between(after, spans[row.id][1], before)][:limit]
    known = known if after is None else known[::-1]
    says = moment_words.of_actions(tx, known, spans)
    bodies = payloads.get(tx, (row.payload for row in known))
    return tuple(
        Moment(
            seq=spans[row.id][1],
            at=moment_of(row.at),
            action_id=row.id,
            verb=row.verb,
            actor=row.actor,
            reason=bodies.get(row.payload, {}).get("reason"),
            run_id=row.run_id,
            says=says[row.id],
        )
        for row in known
    )


def _between(after: int | None, seq: int, before: int | None) -> bool:
    return (after is None or seq > after) and (before is None or seq < before)
