"""What is known of filings beside where they are: how they were decided, what categories were made by whom, when it was.

Invariant: decisions never change, so what was read of them once need not be read again.
Source: DESIGN §5, §9.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, or_, select

from memoir_engine.store import tables as t
from memoir_engine.store.canon import moment_of, parse
from memoir_engine.store.sources import LIVE
from memoir_engine.store.types import FAR, Tx, portions
from memoir_engine.store.verdicts import APPROVED

MOST_LESSONS = 4096


class Chosen(NamedTuple):
    """A decision about a chunk. `is_new`: what was chosen was made by the very same run."""

    id: int
    chunk_id: int
    level: int
    chosen: int
    opinions: tuple[tuple[int, float], ...]
    decided_by: str
    seen: bool
    attempts: int
    is_new: bool


def chosen_since(tx: Tx, decision_id: int) -> list[Chosen]:
    """Decisions about chunks after this one, by id."""
    c = t.decision.c
    columns = (c.id, c.chunk_id, c.level, c.chosen, c.opinions, c.decided_by, c.seen, c.attempts, c.run_id)
    rows = tx.execute(select(*columns).where(c.id > decision_id, c.chunk_id.is_not(None)).order_by(c.id)).all()
    made = _makers(tx) if rows else {}
    found = []
    for number, chunk, level, chosen, opinions, by, seen, attempts, run in rows:
        category = parse(chosen)[0][0]
        nearest = tuple((one, near) for one, near in parse(opinions))
        found.append(Chosen(number, chunk, level, category, nearest, by, bool(seen), attempts, made.get(category) == run))
    return found


def taught(tx: Tx, *, quoted: int, most: int = MOST_LESSONS) -> list[tuple[int, int, str]]:
    """What people filed by hand or approved and is filed so now: (chunk, leaf, the first `quoted` characters), by chunk.

    Of more than `most` those that were reviewed last.
    """
    f, c = t.filing.c, t.chunk.c
    wanted = select(f.chunk_id, f.category_id, func.substr(c.text, 1, quoted)).join(t.chunk, c.id == f.chunk_id)
    wanted = wanted.where(f.to_seq == FAR, f.reviewed_seq.is_not(None), or_(f.verdict.is_(None), f.verdict == APPROVED))
    rows = tx.execute(wanted.order_by(f.reviewed_seq.desc(), f.chunk_id).limit(most)).all()
    return sorted((row[0], row[1], row[2]) for row in rows)


def unhelped(tx: Tx) -> frozenset[int]:
    """Sources in force without a contextual helper."""
    c = t.source.c
    return frozenset(tx.execute(select(c.id).where(c.helper_version.is_(None), c.status.in_(LIVE))).scalars())


def times(tx: Tx, seqs: Iterable[int]) -> dict[int, datetime]:
    """When these events happened."""
    c = t.audit_event.c
    found: dict[int, datetime] = {}
    for some in portions(sorted(set(seqs))):
        found |= {row.seq: moment_of(row.at) for row in tx.execute(select(c.seq, c.at).where(c.seq.in_(some)))}
    return found


def rejected_from(tx: Tx, seqs: Iterable[int]) -> dict[int, int]:
    """The leaf each of these rejections took its chunk from, by the seq of the rejection."""
    c = t.audit_event.c
    found: dict[int, int] = {}
    for some in portions(sorted(set(seqs))):
        rows = tx.execute(select(c.seq, c.body).where(c.kind == "chunk.rejected", c.seq.in_(some)))
        found |= {row.seq: parse(row.body)["category"] for row in rows}
    return found


def _makers(tx: Tx) -> dict[int, str]:
    """Category → the run that made it."""
    event, action = t.audit_event.c, t.action.c
    wanted = select(t.category.c.id, action.run_id).join(t.audit_event, event.seq == t.category.c.created_seq)
    wanted = wanted.join(t.action, action.id == event.action_id).where(action.run_id.is_not(None))
    return {row[0]: row[1] for row in tx.execute(wanted)}
