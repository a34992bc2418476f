"""What takes back a reviewer's verdict, and what may stand in its way.

Invariant: a verdict can be taken back while the filing that it is about still carries it, or carries it again; a chunk that was
rejected goes back to the leaf from which that verdict took it.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from memoir_engine.results import AuditEvent
from memoir_engine.store import filings, sources, tree, verdicts
from memoir_engine.store import tables as t
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.types import FAR, Tx
from memoir_engine.store.undoing import Found, Inverse, Step


def reviewed(inverse: Inverse, event: AuditEvent) -> Found:
    """The verdict before it, again."""
    body = event.body
    chunk, was = body["chunk"], _was(event)
    in_the_way = inverse.moved([_filing(inverse.tx, chunk, body["filing"])])
    if in_the_way:
        return in_the_way
    row = filings.open_filing(inverse.tx, chunk)
    if row is None or (row.verdict, row.reviewed_seq) != (body["verdict"], body["reviewed"]):
        return inverse.changed(_since(inverse.tx, chunk, event.seq))
    says = f"chunk {chunk} is {was[0] or 'unreviewed'} again" if was[1] is None or was[0] else f"chunk {chunk} is re-filed again"
    return Found((Step("review", chunk, event.seq, says, review=was),))


def rejected(inverse: Inverse, event: AuditEvent) -> Found:
    """It is filed again where it was."""
    tx, body = inverse.tx, event.body
    chunk = body["chunk"]
    row = verdicts.last_filing(tx, chunk)
    if row is None or row.to_seq == FAR or (row.verdict, row.reviewed_seq) != (verdicts.REJECTED, body["reviewed"]):
        return inverse.changed(_since(tx, chunk, event.seq))
    wanted = select(t.source.c.status, t.source.c.status_seq).join(t.chunk, t.chunk.c.source_id == t.source.c.id)
    source = tx.execute(wanted.where(t.chunk.c.id == chunk)).one()
    if source.status not in sources.LIVE:
        return inverse.changed([source.status_seq])
    leaf = _filing(tx, chunk, body["filing"]).category_id
    back = " › ".join(tree.paths(tx, [leaf]).get(leaf, ()))
    step = Step("return", chunk, event.seq, f"chunk {chunk} goes back to {back}", body["filing"], _was(event))
    return inverse.closed({leaf}) or Found((step,))


def returned(inverse: Inverse, event: AuditEvent) -> Found:
    """It is rejected again, by whom it was."""
    chunk = event.body["chunk"]
    in_the_way = inverse.moved([_filing(inverse.tx, chunk, event.seq)])
    if in_the_way:
        return in_the_way
    inverse.leaving.add(chunk)
    return Found((Step("reject", chunk, event.seq, f"chunk {chunk} is rejected again", review=_was(event)),))


def take(tx: Tx, action: OpenAction, step: Step) -> set[int]:
    """Do one of these steps; the leaf it may have emptied."""
    review, row = verdicts.review_of(tx, step.review), verdicts.last_filing(tx, step.number)
    assert row is not None
    if step.kind == "review":
        verdicts.stamp(tx, action, row, review)
    elif step.kind == "return":
        before = _filing(tx, step.number, step.other or 0)
        verdicts.give_back(tx, action, row, before.category_id, before.decision_id, review)
    else:
        verdicts.take_out(tx, action, row, review)
        return {row.category_id}
    return set()


def _was(event: AuditEvent) -> tuple[str | None, int | None]:
    verdict, seq = event.body["before"]
    return verdict, seq


def _filing(tx: Tx, chunk_id: int, from_seq: int) -> Any:
    return tx.execute(select(t.filing).where(t.filing.c.chunk_id == chunk_id, t.filing.c.from_seq == from_seq)).one()


def _since(tx: Tx, chunk_id: int, seq: int) -> list[int]:
    """Whatever opened, closed or judged a filing of the chunk after it."""
    rows = tx.execute(select(t.filing).where(t.filing.c.chunk_id == chunk_id)).all()
    found = {one for row in rows for one in (row.from_seq, row.to_seq, row.reviewed_seq or 0)}
    return sorted(one for one in found if seq < one < FAR)
