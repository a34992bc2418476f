"""The audit as a list that people look through: filtered in SQL, paged by cursor, with what each action did.

Invariant: newest first by the chain's own time, which never repeats; a page costs the same however long the history is.
Source: API "The ledger and the audit"; DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select

from memoir_engine.results import Action, AuditEvent, Path, Tally
from memoir_engine.store import chain, mentions, payloads, tree, undoings
from memoir_engine.store import tables as t
from memoir_engine.store.canon import moment_of, parse, stamp
from memoir_engine.store.types import Tx, portions

SHOWN = 12  # lines of one action; what is more is told as one


@dataclass(frozen=True)
class Wanted:
    """What of the audit is looked for; None: all. `since` is the first moment, `until` the first one after."""

    actor: str | None = None
    verb: str | None = None
    kind: str | None = None
    source: int | None = None
    category: int | None = None
    run: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = None
    but: tuple[str, ...] = ()


def page(tx: Tx, wanted: Wanted, *, before: str | None = None, limit: int = 50, whose: str | None = None) -> tuple[Action, ...]:
    """Newest first, below the action `before`; without events. whose: who looks, as the key of an owner; None may see all."""
    conditions = _conditions(tx, wanted, whose)
    a = t.action.c
    if before is not None:
        conditions.append(a.at < select(a.at).where(a.id == before).scalar_subquery())
    rows = tx.execute(select(t.action).where(*conditions).order_by(a.at.desc(), a.id.desc()).limit(limit)).all()
    bodies = payloads.get(tx, (row.payload for row in rows))
    undone = undoings.standing(tx, [row.id for row in rows])
    return veiled(tx, whose, [_action(row, bodies.get(row.payload, {}), undone.get(row.id)) for row in rows])


def veiled(tx: Tx, whose: str | None, actions: Sequence[Action]) -> tuple[Action, ...]:
    """Without the reasons of what was done to facts and conversations of others: they are about these people."""
    told = [one.action_id for one in actions if one.reason is not None]
    if whose is None or not told:
        return tuple(actions)
    theirs: set[str] = set()
    for some in portions(told):
        theirs.update(tx.execute(mentions.of_others(tx, whose, t.audit_event.c.action_id.in_(some))).scalars())
    return tuple(replace(one, reason=None) if one.action_id in theirs else one for one in actions)


def count(tx: Tx, wanted: Wanted, *, whose: str | None = None) -> int:
    """How many actions pass."""
    return int(tx.execute(select(func.count()).select_from(t.action).where(*_conditions(tx, wanted, whose))).scalar_one())


def by_verb(tx: Tx, wanted: Wanted) -> dict[str, int]:
    """How many pass, by what was done."""
    verb = t.action.c.verb
    rows = tx.execute(select(verb, func.count()).where(*_conditions(tx, wanted)).group_by(verb).order_by(verb)).all()
    return {name: int(many) for name, many in rows}


def taken_back(tx: Tx, wanted: Wanted) -> int:
    """How many of those that pass were undone, and that stands."""
    undone = select(t.action.c.undoes).where(t.action.c.undoes.is_not(None))
    found = tx.execute(select(t.action.c.id).where(*_conditions(tx, wanted), t.action.c.id.in_(undone))).scalars().all()
    return len(undoings.standing(tx, found))


def tallies(tx: Tx, action_ids: Sequence[str]) -> dict[str, tuple[tuple[Tally, ...], int]]:
    """What each of these did: events alike counted together, in the order they began; and how many more events there are."""
    e = t.audit_event.c
    groups: dict[str, list[tuple[int, int]]] = {}
    for some in portions(action_ids):
        counted = select(e.action_id, func.min(e.seq).label("first"), func.count().label("events"))
        counted = counted.where(e.action_id.in_(some)).group_by(e.action_id, e.kind, e.payload)
        for row in tx.execute(counted.order_by(func.min(e.seq))):
            groups.setdefault(row.action_id, []).append((row.first, row.events))
    events = {one.seq: one for one in _events(tx, (first for found in groups.values() for first, _ in found[:SHOWN]))}
    return {
        action: (tuple(Tally(events[first], count) for first, count in found[:SHOWN]), sum(count for _, count in found[SHOWN:]))
        for action, found in groups.items()
    }


def _events(tx: Tx, seqs: Iterable[int]) -> tuple[AuditEvent, ...]:
    """In order, with their payloads."""
    found: list[Any] = []
    for some in portions(sorted(set(seqs))):
        found += tx.execute(select(t.audit_event).where(t.audit_event.c.seq.in_(some)).order_by(t.audit_event.c.seq)).all()
    bodies = payloads.get(tx, (row.payload for row in found))
    return tuple(
        AuditEvent(row.seq, moment_of(row.at), row.action_id, row.kind, parse(row.body), bodies.get(row.payload or ""), row.hash)
        for row in found
    )


def names(
    tx: Tx, *, sources: Iterable[int], categories: Iterable[int], chunks: Iterable[int]
) -> tuple[dict[int, str], dict[int, Path], dict[int, tuple[int, int]]]:
    """Of sources their names, of categories their paths, of chunks their source and position; chunks' sources included."""
    placed: dict[int, tuple[int, int]] = {}
    for some in portions(sorted(set(chunks))):
        c = t.chunk.c
        placed |= {row[0]: (row[1], row[2]) for row in tx.execute(select(c.id, c.source_id, c.position).where(c.id.in_(some)))}
    called: dict[int, str] = {}
    for some in portions(sorted({*sources, *(source for source, _ in placed.values())})):
        called |= {row[0]: row[1] for row in tx.execute(select(t.source.c.id, t.source.c.name).where(t.source.c.id.in_(some)))}
    return called, tree.paths(tx, categories), placed


def with_events(tx: Tx, actions: Sequence[Action]) -> tuple[Action, ...]:
    """The same, each with all its events."""
    return tuple(replace(one, events=chain.get(tx, one.action_id).events) for one in actions)


def actors(tx: Tx, *, limit: int = 200) -> tuple[str, ...]:
    """Who has ever acted, by name."""
    return tuple(tx.execute(select(t.action.c.actor).distinct().order_by(t.action.c.actor).limit(limit)).scalars())


def verbs(tx: Tx) -> tuple[str, ...]:
    """What has ever been done."""
    return tuple(tx.execute(select(t.action.c.verb).distinct().order_by(t.action.c.verb)).scalars())


def _conditions(tx: Tx, wanted: Wanted, whose: str | None = None) -> list[ColumnElement[bool]]:
    a, e = t.action.c, t.audit_event.c
    found: list[ColumnElement[bool]] = [
        column == value for column, value in ((a.actor, wanted.actor), (a.verb, wanted.verb), (a.run_id, wanted.run)) if value
    ]
    if wanted.but:
        found.append(a.verb.not_in(wanted.but))
    if wanted.since is not None:
        found.append(a.at >= stamp(wanted.since))
    if wanted.until is not None:
        found.append(a.at < stamp(wanted.until))
    if wanted.kind:
        found.append(a.id.in_(select(e.action_id).where(e.kind == wanted.kind)))
    if wanted.source is not None:
        found.append(mentions.of_source(tx, wanted.source))
    if wanted.category is not None:
        found.append(mentions.of_category(tx, wanted.category))
    if wanted.text:
        said = mentions.in_reason(tx, wanted.text)
        found.append(said)
        if whose is not None:  # what may not be read is not found either
            found.append(a.id.not_in(mentions.of_others(tx, whose, e.action_id.in_(select(a.id).where(said)))))
    return found


def _action(row: Any, body: dict[str, Any], undone_by: str | None) -> Action:
    return Action(
        action_id=row.id,
        verb=row.verb,
        actor=row.actor,
        at=moment_of(row.at),
        reason=body.get("reason"),
        run_id=row.run_id,
        undoes=row.undoes,
        undone_by=undone_by,
    )
