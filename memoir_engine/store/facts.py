"""Facts, read: for one user, as they stand now or stood at a seq.

Invariant: pure reading. Every statement carries the owner: a fact of somebody else is not there. `ANYBODY` is for who answers for
all of them, and is decided above, never by what a row says.
Source: TIMEM "Data Isolation", "Status Management"; DESIGN §6 (who and whose); spec README 12.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, bindparam, func, or_, select

from memoir_engine.errors import FactNotFound
from memoir_engine.results.facts import FactLineage, FactProposal, FactRelation, FactView
from memoir_engine.store import payloads
from memoir_engine.store import tables as t
from memoir_engine.store.canon import parse
from memoir_engine.store.fact_views import events, views
from memoir_engine.store.listed import Listed
from memoir_engine.store.prepared import Prepared
from memoir_engine.store.said import id_key
from memoir_engine.store.types import FAR, Tx, portions

ANYBODY: None = None
Whose = str | None  # a key of an owner, or ANYBODY

_S = t.fact_status.c
_STANDING = (_S.status, _S.cause, _S.superseded_by, _S.ended_at, _S.payload, _S.from_seq.label("since"))

_NOW = Listed(  # made once: making a statement takes longer than running it
    lambda among: (
        select(t.fact, *_STANDING)
        .join(t.fact_status, _S.fact_id == t.fact.c.id)
        .where(t.fact.c.owner == bindparam("whose"), _S.to_seq == FAR, among(t.fact.c.id))
    )
)
_MOVED = select(_S.fact_id).where(_S.owner == bindparam("whose")).limit(1)  # each has an index of its own
_BEGAN = Prepared(_MOVED.where(_S.from_seq > bindparam("seq")))
_ENDED = Prepared(_MOVED.where(_S.to_seq > bindparam("seq"), _S.to_seq < FAR))


def listed(
    tx: Tx,
    whose: Whose,
    *,
    status: str | None = None,
    seq: int | None = None,
    valid_at: datetime | None = None,
    limit: int,
    before: str | None = None,
    session_id: str | None = None,
) -> tuple[FactView, ...]:
    """Learned last first, behind the fact `before`. seq: as they stood then. valid_at: only what was true then.

    session_id: only what was said in this conversation of the owner.
    """
    wanted = _wanted(whose, seq)
    if status is not None:
        wanted = wanted.where(_S.status == status)
    if valid_at is not None:
        wanted = wanted.where(*was_true(valid_at))
    if before is not None:
        wanted = wanted.where(t.fact.c.id < number_of(tx, whose, before))
    if session_id is not None:
        s, o = t.session.c, t.fact_origin.c
        there = select(s.number).where(s.id_key == id_key(session_id), *mine(s.owner, whose)).scalar_subquery()
        wanted = wanted.where(t.fact.c.id.in_(select(o.fact_id).where(o.session_number == there, *_at(seq, o))))
    return views(tx, tx.execute(wanted.order_by(t.fact.c.id.desc()).limit(limit)).all(), seq)


def get(tx: Tx, whose: Whose, uid: str, seq: int | None = None) -> FactView:
    """Raises FactNotFound."""
    rows = tx.execute(_named(whose, seq).where(t.fact.c.uid == uid)).all()
    if not rows:
        raise FactNotFound(fact_id=uid)
    return views(tx, rows, seq)[0]


def by_number(tx: Tx, whose: Whose, numbers: Iterable[int], seq: int | None = None) -> dict[int, FactView]:
    """Those of them that stand."""
    found: dict[int, FactView] = {}
    now = seq is None and whose is not ANYBODY
    for some in portions(sorted(set(numbers))):
        named = _named(whose, seq).where(t.fact.c.id.in_(some)) if not now else None
        rows = _NOW.rows(tx, some, whose=whose) if named is None else tx.execute(named).all()
        found |= {row.id: view for row, view in zip(rows, views(tx, rows, seq), strict=True)}
    return found


def number_of(tx: Tx, whose: Whose, uid: str) -> int:
    """The number of a fact, taken back or not. Raises FactNotFound."""
    wanted = select(t.fact.c.id).where(t.fact.c.uid == uid, *mine(t.fact.c.owner, whose))
    found = tx.execute(wanted).scalar()
    if found is None:
        raise FactNotFound(fact_id=uid)
    return int(found)


def lineage(tx: Tx, whose: Whose, uid: str, seq: int | None = None) -> FactLineage:
    """The whole chain that a fact belongs to. Raises FactNotFound."""
    get(tx, whose, uid, seq)
    links: set[tuple[int, int]] = set()
    seen: set[int] = set()
    new = {number_of(tx, whose, uid)}
    while new:
        seen |= new
        wanted = select(_S.fact_id, _S.superseded_by).where(_S.superseded_by.is_not(None), *_at(seq))
        ends = (_S.fact_id.in_(new), _S.superseded_by.in_(new))  # each has an index of its own
        rows = [row for end in ends for row in tx.execute(wanted.where(end))]
        links |= {(row.fact_id, row.superseded_by) for row in rows}
        new = {number for link in links for number in link} - seen
    found = by_number(tx, whose, seen, seq)
    both = sorted(link for link in links if found.keys() >= set(link))
    return FactLineage(tuple(found[one] for one in sorted(found)), tuple((found[a].id, found[b].id) for a, b in both))


def in_force(tx: Tx, owner: str, numbers: Collection[int], seq: int | None = None) -> dict[int, int]:
    """Of facts that are outdated: what is active in their stead, behind however many that took one another's place."""
    held = t.fact_status.alias("held").c
    first = select(_S.fact_id.label("old"), _S.superseded_by.label("tip"))
    first = first.where(_S.owner == owner, _S.fact_id.in_(numbers), _S.superseded_by.is_not(None), *_at(seq))
    chain = first.cte("chain", recursive=True)
    step = select(chain.c.old, held.superseded_by).join(chain, held.fact_id == chain.c.tip)
    chain = chain.union(step.where(held.superseded_by.is_not(None), *_at(seq, held)))
    wanted = select(chain.c.old, chain.c.tip).join(t.fact_status, _S.fact_id == chain.c.tip)
    rows = tx.execute(wanted.where(_S.owner == owner, _S.status == "active", *_at(seq))).all()
    return {row.old: row.tip for row in rows}


def counts(tx: Tx, whose: Whose, seq: int | None = None) -> dict[tuple[str, str], int]:
    """How many there are, by type and status."""
    f = t.fact.c
    wanted = select(f.type, _S.status, func.count()).join(t.fact_status, _S.fact_id == f.id)
    rows = tx.execute(wanted.where(*mine(_S.owner, whose), *_at(seq)).group_by(f.type, _S.status)).all()
    return {(row[0], row[1]): row[2] for row in rows}


def users(tx: Tx, whose: Whose) -> tuple[tuple[str | None, int], ...]:
    """Whose facts there are, and how many stand."""
    f = t.fact.c
    wanted = (
        select(f.user_id, func.count()).join(t.fact_status, _S.fact_id == f.id).where(_S.to_seq == FAR, *mine(f.owner, whose))
    )
    return tuple((row[0], row[1]) for row in tx.execute(wanted.group_by(f.owner, f.user_id).order_by(f.user_id)))


def relations(
    tx: Tx, whose: Whose, uid: str | None = None, *, limit: int, after: FactRelation | None = None
) -> tuple[FactRelation, ...]:
    """Between facts that stand, in the order in which these were learned; of one of them, or all; behind the relation `after`.

    Raises FactNotFound for an `after` between facts that are not there.
    """
    r, a, b = t.fact_relation.c, t.fact.alias("a"), t.fact.alias("b")
    one, other = t.fact_status.alias("one"), t.fact_status.alias("other")
    wanted = select(a.c.uid, b.c.uid, r.kind, r.confidence).where(r.to_seq == FAR, *mine(r.owner, whose))
    wanted = wanted.join(a, a.c.id == r.source_id).join(b, b.c.id == r.target_id)
    wanted = wanted.join(one, (one.c.fact_id == a.c.id) & (one.c.to_seq == FAR))
    wanted = wanted.join(other, (other.c.fact_id == b.c.id) & (other.c.to_seq == FAR))
    if uid is not None:
        wanted = wanted.where(or_(a.c.uid == uid, b.c.uid == uid))
    if after is not None:
        source, target = number_of(tx, whose, after.source), number_of(tx, whose, after.target)
        same = (r.source_id == source) & ((r.target_id > target) | ((r.target_id == target) & (r.kind > after.kind)))
        wanted = wanted.where((r.source_id > source) | same)
    return tuple(FactRelation(*row) for row in tx.execute(wanted.order_by(r.source_id, r.target_id, r.kind).limit(limit)))


def proposals(
    tx: Tx, whose: Whose, *, state: str | None = "open", numbers: Collection[int] | None = None, limit: int = 200
) -> tuple[FactProposal, ...]:
    """Newest first; of these numbers, or all. state: open, approved or rejected; None for all that were not taken back.

    Open are those that can be settled: each fact of them is still in force.
    """
    p = t.fact_proposal.c
    wanted = select(t.fact_proposal).where(p.to_seq == FAR, *mine(p.owner, whose))
    if state is not None:
        wanted = wanted.where(p.outcome.is_(None) if state == "open" else p.outcome == state)
    if numbers is not None:
        wanted = wanted.where(p.id.in_(numbers))
    wanted = wanted.order_by(p.id.desc()).limit(limit)
    rows = _in_force(tx, wanted, limit) if state == "open" else tx.execute(wanted).all()
    facts = by_number(tx, whose, [one for row in rows for one in (row.new_id, *parse(row.old_ids))])
    words = payloads.get(tx, (row.payload for row in rows))
    first = _first_seqs(tx, [row.id for row in rows])
    at = _times(tx, first.values())
    return tuple(
        FactProposal(
            id=row.id,
            user_id=facts[row.new_id].user_id,
            cause=row.cause,
            doubt=row.doubt,
            new=facts[row.new_id],
            old=tuple(facts[one] for one in parse(row.old_ids) if one in facts),
            merged=words.get(row.payload, {}).get("merged"),
            reason=words.get(row.payload, {}).get("reason"),
            proposed_at=at[first[row.id]],
            run_id=row.run_id,
            state=cast(Any, row.outcome or "open"),
        )
        for row in rows
        if row.new_id in facts
    )


def _in_force(tx: Tx, wanted: Select[Any], limit: int) -> list[Any]:
    """The first of these proposals whose facts are all active; the others wait until what happened to those is undone."""
    found: list[Any] = []
    rows = tx.execute(wanted).all()
    while rows:
        about = {row.id: {row.new_id, *parse(row.old_ids)} for row in rows}
        active = _active(tx, set().union(*about.values()))
        found += [row for row in rows if about[row.id] <= active]
        if len(rows) < limit or len(found) >= limit:
            break
        rows = tx.execute(wanted.where(t.fact_proposal.c.id < rows[-1].id)).all()
    return found[:limit]


def _active(tx: Tx, numbers: Collection[int]) -> set[int]:
    wanted = select(_S.fact_id).where(_S.to_seq == FAR, _S.status == "active")
    return {one for some in portions(sorted(numbers)) for one in tx.execute(wanted.where(_S.fact_id.in_(some))).scalars()}


def are_there(tx: Tx, owner: str) -> bool:
    """Whether anything is known of the owner."""
    return tx.execute(select(_S.fact_id).where(_S.owner == owner, _S.to_seq == FAR).limit(1)).first() is not None


def changed_since(tx: Tx, owner: str, seq: int) -> bool:
    """Whether a fact of the owner came, went or moved behind that seq."""
    of = {"whose": owner, "seq": seq}
    return _BEGAN.first(tx, of) is not None or _ENDED.first(tx, of) is not None


def mine(column: ColumnElement[Any], whose: Whose) -> tuple[ColumnElement[bool], ...]:
    return () if whose is ANYBODY else (column == whose,)


def was_true(when: datetime) -> tuple[ColumnElement[bool], ...]:
    """What does not say since when it holds counts from when it was said, and where it had ended by then, all the time before;
    a part of a fuller fact is told by that one."""
    f = t.fact.c
    since = func.coalesce(f.valid_from, f.said_at)
    over = (f.valid_to <= f.said_at) | (_S.ended_at <= f.said_at)
    return (
        or_(since.is_(None), since <= when, f.valid_from.is_(None) & over),
        or_(f.valid_to.is_(None), f.valid_to > when),
        or_(_S.ended_at.is_(None), _S.ended_at > when),
        or_(_S.cause.is_(None), _S.cause != "merged"),
    )


def _wanted(whose: Whose, seq: int | None) -> Select[Any]:
    joined = select(t.fact, *_STANDING).join(t.fact_status, _S.fact_id == t.fact.c.id)
    return joined.where(*mine(_S.owner, whose), *mine(t.fact.c.owner, whose), *_at(seq))


def _named(whose: Whose, seq: int | None) -> Select[Any]:
    """For facts that are named: the owner stands in the fact's own row, and SQLite does not walk all that this owner has."""
    joined = select(t.fact, *_STANDING).join(t.fact_status, _S.fact_id == t.fact.c.id)
    return joined.where(*mine(t.fact.c.owner, whose), *_at(seq))


def _at(seq: int | None, columns: Any = _S) -> tuple[ColumnElement[bool], ...]:
    return (columns.to_seq == FAR,) if seq is None else (columns.from_seq <= seq, columns.to_seq > seq)


def _first_seqs(tx: Tx, numbers: Sequence[int]) -> dict[int, int]:
    p = t.fact_proposal.c
    wanted = select(p.id, func.min(p.from_seq)).group_by(p.id)
    return {row[0]: row[1] for some in portions(numbers) for row in tx.execute(wanted.where(p.id.in_(some)))}


def _times(tx: Tx, seqs: Iterable[int]) -> dict[int, datetime]:
    return {seq: at for seq, (at, _) in events(tx, seqs).items()}
