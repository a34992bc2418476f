"""Write reviewers' verdicts on filings, one event each; and read them for reports.

Invariant: a verdict belongs to one filing; its event holds the verdict before, so that it can be restored. A rejected filing
closes and its chunk is filed nowhere until somebody files it: a chunk of a live source without an open filing is rejected.
Source: DESIGN §4 (filing), §6; API "The ledger and the audit" (memory.reports).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import exists, insert, select, update

from memoir_engine.store import tables
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import moment_of
from memoir_engine.store.db.types import FAR, Tx, portions
from memoir_engine.store.tables.sources import LIVE

NOW = 0  # seq of a review recorded by the event being written

APPROVED, REJECTED, SKIPPED = "approved", "rejected", "skipped"


@dataclass(frozen=True)
class FilingReview:
    """Reviewer, seq of the review, and verdict; a reviewer without a verdict filed the chunk here."""

    by: str | None = None
    seq: int | None = None
    verdict: str | None = None


def stamp(tx: Tx, action: OpenAction, row: Any, review: FilingReview) -> None:
    """Set or withdraw the verdict on an open filing."""
    seq = action.next_seq if review.seq == NOW else review.seq
    action.add(
        "filing.reviewed", chunk=row.chunk_id, filing=row.from_seq, verdict=review.verdict, reviewed=seq, before=_before(row)
    )
    _write(tx, row, reviewed_by=review.by, reviewed_seq=seq, verdict=review.verdict)


def reject_filing(tx: Tx, action: OpenAction, row: Any, review: FilingReview, payload: str | None = None) -> None:
    """Close an open filing as rejected."""
    seq = action.next_seq
    reviewed = seq if review.seq == NOW else review.seq
    numbers = {"chunk": row.chunk_id, "filing": row.from_seq, "category": row.category_id}
    action.add("chunk.rejected", payload=payload, **numbers, reviewed=reviewed, before=_before(row))
    _write(tx, row, to_seq=seq, reviewed_by=review.by, reviewed_seq=reviewed, verdict=REJECTED)


def refile_rejected(
    tx: Tx,
    action: OpenAction,
    rejected: Any,
    category_id: int,
    decision: int | None,
    review: FilingReview,
    payload: str | None = None,
) -> None:
    """File a rejected chunk again. `rejected`: its last filing."""
    seq = action.next_seq
    reviewed = seq if review.seq == NOW else review.seq
    body = {"chunk": rejected.chunk_id, "category": category_id, "decision": decision, "verdict": review.verdict}
    action.add("chunk.returned", payload=payload, **body, reviewed=reviewed, before=_before(rejected))
    row = {"chunk_id": rejected.chunk_id, "from_seq": seq, "to_seq": FAR, "category_id": category_id, "decision_id": decision}
    stamps = {"reviewed_by": review.by, "reviewed_seq": reviewed, "verdict": review.verdict}
    tx.execute(insert(tables.filing), [{**row, **stamps, "created_at": rejected.created_at}])


def review_of(tx: Tx, stamp_: tuple[str | None, int | None]) -> FilingReview:
    """Return the review an event names as (verdict, seq), with its reviewer."""
    verdict, seq = stamp_
    wanted = select(tables.action.c.actor).join(tables.audit_event, tables.audit_event.c.action_id == tables.action.c.id)
    by = None if seq is None else tx.execute(wanted.where(tables.audit_event.c.seq == seq)).scalar_one()
    return FilingReview(by, seq, verdict)


def last_filing(tx: Tx, chunk_id: int) -> Any | None:
    """Return a chunk's open filing, or the last one closed."""
    c = tables.filing.c
    return tx.execute(select(tables.filing).where(c.chunk_id == chunk_id).order_by(c.from_seq.desc()).limit(1)).one_or_none()


def rejected_filing(tx: Tx, chunk_id: int) -> Any | None:
    """Return a chunk's last filing if it is rejected now."""
    row = last_filing(tx, chunk_id)
    if row is None or row.to_seq == FAR or row.verdict != REJECTED:
        return None
    wanted = (
        select(tables.source.c.status)
        .join(tables.chunk, tables.chunk.c.source_id == tables.source.c.id)
        .where(tables.chunk.c.id == chunk_id)
    )
    return row if tx.execute(wanted).scalar() in LIVE else None


def _before(row: Any) -> list[Any]:
    return [row.verdict, row.reviewed_seq]


def _write(tx: Tx, row: Any, **values: Any) -> None:
    c = tables.filing.c
    tx.execute(update(tables.filing).where(c.chunk_id == row.chunk_id, c.from_seq == row.from_seq).values(**values))


def chunk_reviews(tx: Tx, chunk_ids: Iterable[int]) -> dict[int, tuple[str, str | None, datetime]]:
    """Return reviewer, verdict and time of chunks whose open filing was reviewed, or that are rejected."""
    f, e, later = tables.filing.c, tables.audit_event.c, tables.filing.alias()
    wanted = select(f.chunk_id, f.reviewed_by, f.verdict, e.at).join(tables.audit_event, e.seq == f.reviewed_seq)
    last = ~exists().where(later.c.chunk_id == f.chunk_id, later.c.from_seq > f.from_seq)
    wanted = wanted.where(f.reviewed_by.is_not(None), (f.to_seq == FAR) | ((f.verdict == REJECTED) & last))
    reviews: dict[int, tuple[str, str | None, datetime]] = {}
    for some in portions(sorted(set(chunk_ids))):
        reviews |= {row[0]: (row[1], row[2], moment_of(row[3])) for row in tx.execute(wanted.where(f.chunk_id.in_(some)))}
    return reviews


def leaves_below(tx: Tx, category_id: int) -> tuple[int, ...]:
    """Return the open categories at or below one, by id."""
    v = tables.category_version.c
    below: dict[int, list[int]] = {}
    for child, parent in tx.execute(select(v.category_id, v.parent_key).where(v.to_seq == FAR)):
        below.setdefault(parent, []).append(child)
    found, new = {category_id}, [category_id]
    while new:
        new = [child for parent in new for child in below.get(parent, ())]
        found |= set(new)
    return tuple(sorted(found))
