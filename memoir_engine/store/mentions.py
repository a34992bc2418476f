"""Which events are about a source, a category or a text: conditions for SQL, for the filters of the activity.

Invariant: by the tables that history is kept in wherever they know it, by the events' own bodies (canonical JSON) elsewhere;
bodies are only looked into for the few kinds whose rows keep no seq.
Source: DESIGN §6; API "The ledger and the audit".
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, String, Subquery, cast, func, literal, or_, select, union
from sqlalchemy.dialects.postgresql import JSON

from memoir_engine.store import tables as t
from memoir_engine.store.owners import WORKSPACE
from memoir_engine.store.types import ROOT, Tx, portions

_MANY = 900  # ids in one list


def of_source(tx: Tx, number: int) -> ColumnElement[bool]:
    """Actions about the source, its chunks, its helpers or a signature under it."""
    chunks = select(t.chunk.c.id).where(t.chunk.c.source_id == number)
    e = t.audit_event.c
    named = or_(e.kind.startswith("source."), e.kind.startswith("helper."), e.kind.startswith("chunks."))
    own = select(e.action_id).where(named, _says(e.body, "source", number))
    filings = _of_seqs(_filed(t.filing.c.chunk_id.in_(chunks)))
    return or_(
        t.action.c.id.in_(own),
        t.action.c.id.in_(filings),
        t.action.c.id.in_(_reviewed(tx, t.filing.c.chunk_id.in_(chunks))),
        t.action.c.id.in_(_signed("source", [number])),
    )


def of_category(tx: Tx, number: int) -> ColumnElement[bool]:
    """Actions about the category or what has ever been below it, and about what is or was filed there."""
    inside = _inside(tx, number)
    f, v = t.filing.c, t.category_version.c
    versions = union(select(v.from_seq).where(_any(v.category_id, inside)), select(v.to_seq).where(_any(v.category_id, inside)))
    return or_(
        t.action.c.id.in_(_of_seqs(versions.subquery())),
        t.action.c.id.in_(_of_seqs(_filed(_any(f.category_id, inside)))),
        t.action.c.id.in_(_reviewed(tx, _any(f.category_id, inside))),
        t.action.c.id.in_(_signed("category", inside)),
    )


def in_reason(tx: Tx, text: str) -> ColumnElement[bool]:
    """Actions whose reason holds the text, case aside."""
    reason = _json(tx, t.payload.c.body, "reason")
    # SQLite folds the case of ASCII letters only: the usual ways to write a word are asked for one by one
    ways = dict.fromkeys((text, text.lower(), text.upper(), text.capitalize(), text.title()))
    wanted = or_(
        *(reason.contains(way, autoescape=True) for way in ways), func.lower(reason).contains(text.lower(), autoescape=True)
    )
    return t.action.c.payload.in_(
        select(t.payload.c.digest).join(t.action, t.action.c.payload == t.payload.c.digest).where(wanted)
    )


def of_others(tx: Tx, whose: str, among: ColumnElement[bool]) -> Select[Any]:
    """Ids of the actions about facts, proposals or conversations that belong to somebody, but not to this owner.

    among: a condition on events, so that few are looked into.
    """
    e, f, p, s = t.audit_event.c, t.fact.c, t.fact_proposal.c, t.session.c

    def touching(member: str, kind: str, number: ColumnElement[int], owner: ColumnElement[str]) -> Select[Any]:
        theirs = owner.not_in((WORKSPACE, whose))
        return (
            select(e.action_id).join(number.table, number == _number(tx, e.body, member)).where(among, e.kind.like(kind), theirs)
        )

    found = union(
        touching("fact", "fact.%", f.id, f.owner),
        touching("proposal", "fact.%", p.id, p.owner),
        touching("session", "session.%", s.number, s.owner),
    ).subquery()
    return select(found.c[0])


def _inside(tx: Tx, number: int) -> list[int]:
    v = t.category_version.c
    below: dict[int, list[int]] = {}
    for child, parent in tx.execute(select(v.category_id, v.parent_key).where(v.parent_key != ROOT).distinct()):
        below.setdefault(parent, []).append(child)
    found, new = {number}, [number]
    while new:
        new = [child for parent in new for child in below.get(parent, ()) if child not in found]
        found |= set(new)
    return sorted(found)


def _any(column: ColumnElement[int], numbers: list[int]) -> ColumnElement[bool]:
    return or_(*(column.in_(some) for some in portions(numbers, _MANY)))


def _filed(condition: ColumnElement[bool]) -> Subquery:
    f = t.filing.c
    return union(select(f.from_seq).where(condition), select(f.to_seq).where(condition)).subquery()


def _of_seqs(seqs: Subquery) -> Select[Any]:
    return select(t.audit_event.c.action_id).where(t.audit_event.c.seq.in_(select(seqs.c[0])))


def _reviewed(tx: Tx, condition: ColumnElement[bool]) -> Select[Any]:
    """Verdicts stand in their filing's row, the last of them only: the others in their events."""
    e, f = t.audit_event.c, t.filing.c
    chunk, filing = _number(tx, e.body, "chunk"), _number(tx, e.body, "filing")
    mine = (f.chunk_id == chunk) & (f.from_seq == filing)
    return select(e.action_id).join(t.filing, mine).where(e.kind.startswith("filing."), condition)


def _signed(subject: str, numbers: list[int]) -> Select[Any]:
    o = t.sign_off.c
    mine = (o.subject == subject) & _any(o.subject_id, numbers)
    return _of_seqs(union(select(o.from_seq).where(mine), select(o.to_seq).where(mine)).subquery())


def _says(body: ColumnElement[str], key: str, number: int) -> ColumnElement[bool]:
    """In canonical JSON a number ends with a comma or a brace."""
    return or_(body.contains(f'"{key}":{number},'), body.contains(f'"{key}":{number}}}'))


def _number(tx: Tx, body: ColumnElement[str], key: str) -> ColumnElement[int]:
    return cast(_json(tx, body, key), BigInteger)


def _json(tx: Tx, body: ColumnElement[str], key: str) -> ColumnElement[str]:
    """A member of a JSON object, as text."""
    if tx.dialect.name == "postgresql":
        member: ColumnElement[str] = cast(body, JSON)[key].astext
        return member
    found = func.json_extract(body, literal(f"$.{key}"))
    return found if tx.dialect.name == "sqlite" else cast(func.json_unquote(found), String(4000))
