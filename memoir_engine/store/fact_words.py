"""Words of an erased source in facts, and in the names of who said them: taken out, and the rest of the fact stays.

Invariant: what stands, and why, is as it was: the words alone go. A fact that lost words has lost its salt, and its
vectors, which say what it said; they are made anew of what is left. Spans follow their messages, which change their lengths.
Source: DESIGN §6 (erasure names facts).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

from sqlalchemy import select, update

from memoir_engine.store import embeddings, fact_nearest
from memoir_engine.store import tables as t
from memoir_engine.store.quoting import FACT_TEXTS, SAID, told
from memoir_engine.store.said import as_message, record
from memoir_engine.store.stones import NO_SALT
from memoir_engine.store.types import Tx
from memoir_engine.text.traces import Own


def take_out(tx: Tx, own: Own, keys: Sequence[str]) -> None:
    """keys: of facts."""
    c = t.fact.c
    owners: set[str] = set()
    for key in keys:
        row = tx.execute(select(c.owner, *(c[name] for name in FACT_TEXTS)).where(c.id == int(key))).one()
        tx.execute(update(t.fact).where(c.id == int(key)).values(**told(row, FACT_TEXTS, own), salt=NO_SALT))
        owners.add(row.owner)
    embeddings.drop(tx, "fact", map(int, keys))
    fact_nearest.begin_anew(tx, owners)


def origins(tx: Tx, speakers: Iterable[str], messages: Iterable[str]) -> list[str]:
    """Keys of those with such a speaker, and of those in messages that lose words. Both are given by their keys."""
    c = t.fact_origin.c
    there = set(speakers)
    for session, n in (key.split("/") for key in messages):
        this = (c.session_number == int(session)) & (c.message == int(n)) & c.start.is_not(None)
        there.update(f"{row.fact_id}/{row.n}" for row in tx.execute(select(c.fact_id, c.n).where(this)))
    return sorted(there)


def follow(tx: Tx, own: Own, keys: Sequence[str]) -> None:
    """Names of speakers lose the words; spans follow what is about to be left of their messages. keys: of origins."""
    c = t.fact_origin.c
    for key in keys:
        number, n = (int(part) for part in key.split("/"))
        this = (c.fact_id == number) & (c.n == n)
        row = tx.execute(select(c.speaker, c.session_number, c.message, c.start, c.end).where(this)).one()
        changed = told(row, ["speaker"], own) | _span(tx, own, row)
        tx.execute(update(t.fact_origin).where(this).values(**changed, salt=NO_SALT))


def _span(tx: Tx, own: Own, origin: Any) -> dict[str, int]:
    """All of the message, where it does not lose the words as a text does."""
    c = t.message.c
    this = (c.session_number == origin.session_number) & (c.n == origin.message)
    row = None if origin.start is None else tx.execute(select(t.message).where(this)).one_or_none()
    if row is None:
        return {}
    left = SimpleNamespace(**{**row._mapping, **told(row, SAID, own)})
    before, after = (as_message(record(one, "")).text for one in (row, left))
    is_plain = own.redacted(before) == after
    start, end = own.moved(before, origin.start, origin.end) if is_plain else (0, len(after))
    return {"start": start, "end": end}
