"""What only reports ask for: the reviews of many chunks at once.

Source: API "The ledger and the audit" (memory.reports).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import exists, select

from memoir_engine.store import tables as t
from memoir_engine.store.canon import moment_of
from memoir_engine.store.types import FAR, Tx, portions
from memoir_engine.store.verdicts import REJECTED


def reviews(tx: Tx, chunk_ids: Iterable[int]) -> dict[int, tuple[str, str | None, datetime]]:
    """Of chunks whose open filing was reviewed, or that were rejected and filed nowhere since: by whom, the verdict, and when."""
    f, e, later = t.filing.c, t.audit_event.c, t.filing.alias()
    wanted = select(f.chunk_id, f.reviewed_by, f.verdict, e.at).join(t.audit_event, e.seq == f.reviewed_seq)
    last = ~exists().where(later.c.chunk_id == f.chunk_id, later.c.from_seq > f.from_seq)
    wanted = wanted.where(f.reviewed_by.is_not(None), (f.to_seq == FAR) | ((f.verdict == REJECTED) & last))
    found: dict[int, tuple[str, str | None, datetime]] = {}
    for some in portions(sorted(set(chunk_ids))):
        found |= {row[0]: (row[1], row[2], moment_of(row[3])) for row in tx.execute(wanted.where(f.chunk_id.in_(some)))}
    return found


def leaves_below(tx: Tx, category_id: int) -> tuple[int, ...]:
    """The open categories at or below one, by id."""
    v = t.category_version.c
    below: dict[int, list[int]] = {}
    for child, parent in tx.execute(select(v.category_id, v.parent_key).where(v.to_seq == FAR)):
        below.setdefault(parent, []).append(child)
    found, new = {category_id}, [category_id]
    while new:
        new = [child for parent in new for child in below.get(parent, ())]
        found |= set(new)
    return tuple(sorted(found))
