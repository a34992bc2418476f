"""A reviewer's verdict, written: on the filing that it is about, by an event of its own.

Invariant: a verdict belongs to one filing and goes with no other; the event says what stood there before, so that it can be put
back. A filing that is rejected closes, and its chunk is filed nowhere until somebody files it: a chunk of a live source without
an open filing is a rejected one.
Source: DESIGN §4 (filing), §6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, update

from memoir_engine.store import tables as t
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.sources import LIVE
from memoir_engine.store.types import FAR, Tx

NOW = 0  # as the seq of a review: the event that is being written is the review

APPROVED, REJECTED, SKIPPED = "approved", "rejected", "skipped"


@dataclass(frozen=True)
class Review:
    """By whom, the seq of the event by which they said so, and what; a verdict of None with a reviewer: filed here by them."""

    by: str | None = None
    seq: int | None = None
    verdict: str | None = None


def stamp(tx: Tx, action: OpenAction, row: Any, review: Review) -> None:
    """Say of an open filing what somebody thinks of it, or thinks no more."""
    seq = action.next_seq if review.seq == NOW else review.seq
    action.add(
        "filing.reviewed", chunk=row.chunk_id, filing=row.from_seq, verdict=review.verdict, reviewed=seq, before=_before(row)
    )
    _write(tx, row, reviewed_by=review.by, reviewed_seq=seq, verdict=review.verdict)


def take_out(tx: Tx, action: OpenAction, row: Any, review: Review, payload: str | None = None) -> None:
    """Close an open filing as rejected."""
    seq = action.next_seq
    reviewed = seq if review.seq == NOW else review.seq
    numbers = {"chunk": row.chunk_id, "filing": row.from_seq, "category": row.category_id}
    action.add("chunk.rejected", payload=payload, **numbers, reviewed=reviewed, before=_before(row))
    _write(tx, row, to_seq=seq, reviewed_by=review.by, reviewed_seq=reviewed, verdict=REJECTED)


def give_back(
    tx: Tx, action: OpenAction, rejected: Any, category_id: int, decision: int | None, review: Review, payload: str | None = None
) -> None:
    """File a rejected chunk again. `rejected`: its last filing."""
    seq = action.next_seq
    reviewed = seq if review.seq == NOW else review.seq
    body = {"chunk": rejected.chunk_id, "category": category_id, "decision": decision, "verdict": review.verdict}
    action.add("chunk.returned", payload=payload, **body, reviewed=reviewed, before=_before(rejected))
    row = {"chunk_id": rejected.chunk_id, "from_seq": seq, "to_seq": FAR, "category_id": category_id, "decision_id": decision}
    stamps = {"reviewed_by": review.by, "reviewed_seq": reviewed, "verdict": review.verdict}
    tx.execute(insert(t.filing), [{**row, **stamps, "created_at": rejected.created_at}])


def review_of(tx: Tx, said: tuple[str | None, int | None]) -> Review:
    """The review an event spoke of as (verdict, seq), with who gave it."""
    verdict, seq = said
    wanted = select(t.action.c.actor).join(t.audit_event, t.audit_event.c.action_id == t.action.c.id)
    by = None if seq is None else tx.execute(wanted.where(t.audit_event.c.seq == seq)).scalar_one()
    return Review(by, seq, verdict)


def last_filing(tx: Tx, chunk_id: int) -> Any | None:
    """The filing of a chunk that is open, or that was the last to close."""
    c = t.filing.c
    return tx.execute(select(t.filing).where(c.chunk_id == chunk_id).order_by(c.from_seq.desc()).limit(1)).one_or_none()


def rejected_filing(tx: Tx, chunk_id: int) -> Any | None:
    """The last filing of a chunk that is rejected now."""
    row = last_filing(tx, chunk_id)
    if row is None or row.to_seq == FAR or row.verdict != REJECTED:
        return None
    wanted = select(t.source.c.status).join(t.chunk, t.chunk.c.source_id == t.source.c.id).where(t.chunk.c.id == chunk_id)
    return row if tx.execute(wanted).scalar() in LIVE else None


def _before(row: Any) -> list[Any]:
    return [row.verdict, row.reviewed_seq]


def _write(tx: Tx, row: Any, **values: Any) -> None:
    c = t.filing.c
    tx.execute(update(t.filing).where(c.chunk_id == row.chunk_id, c.from_seq == row.from_seq).values(**values))
