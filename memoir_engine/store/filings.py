"""Where chunks are filed, changed by a person: re-file a chunk, withdraw a source.

Invariant: a filing is closed and another opened at one seq, in the action that says who and why; nothing is overwritten.
Source: DESIGN §2.7, §2.8, §6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from memoir_engine.errors import CategoryNotFound, ChunkNotFound, NotALeaf, NothingChanges
from memoir_engine.results import Action
from memoir_engine.run import Clock
from memoir_engine.store import chain, ids, orphans, passages, payloads, schema, sources, tree, verdicts
from memoir_engine.store import tables as t
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.types import FAR, Tx
from memoir_engine.store.verdicts import Review

NOW = verdicts.NOW


def refile(
    tx: Tx,
    chunk_id: int,
    category_id: int,
    *,
    actor: str,
    reason: str | None,
    clock: Clock,
    action_id: str | None = None,
) -> Action:
    """File the chunk in another leaf, or a rejected one again, as reviewed by `actor`. With an `action_id` it happens once.

    Raises ChunkNotFound, CategoryNotFound, NotALeaf, NothingChanges.
    """
    ids.lock_tree(tx)
    if action_id is not None and chain.exists(tx, action_id):
        return chain.get(tx, action_id)
    old, rejected = open_filing(tx, chunk_id), verdicts.rejected_filing(tx, chunk_id)
    if old is None and rejected is None:
        raise ChunkNotFound(chunk_id=chunk_id)
    check_leaf(tx, old or rejected, category_id)
    before = [] if old is None else [old.category_id]
    paths = tree.paths(tx, (*before, category_id))
    before_after = {"before": list(paths[before[0]]) if before else None, "after": list(paths[category_id])}
    payload = payloads.put(tx, [before_after])[0]
    action = OpenAction(tx, verb="refile", actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    if old is None:
        verdicts.give_back(tx, action, rejected, category_id, None, Review(actor, NOW), payload)
    else:
        move(tx, action, [Move(old, category_id, None, (actor, NOW), payload)])
        orphans.close(tx, action, before)
    action.seal()
    return chain.get(tx, action.id)


def withdraw(tx: Tx, source_id: int, *, actor: str, reason: str | None, clock: Clock, action_id: str | None = None) -> Action:
    """Take a source and its filings out of the tree; it stays readable. Raises SourceNotFound, NothingChanges."""
    ids.lock_tree(tx)
    if action_id is not None and chain.exists(tx, action_id):
        return chain.get(tx, action_id)
    if sources.get(tx, source_id).status not in sources.LIVE:
        raise NothingChanges(problem=f"source {source_id} is {sources.get(tx, source_id).status} already")
    action = OpenAction(tx, verb="withdraw", actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    leaves = withdraw_source(tx, action, source_id)
    orphans.close(tx, action, leaves)
    action.seal()
    return chain.get(tx, action.id)


@dataclass(frozen=True)
class Move:
    """A filing `old` that ends, and the next of its chunk. `reviewed`: by whom and the seq of that review; a seq of 0 is now.

    verdict: what that review said, where the filing is one that stood before.
    """

    old: Any
    category_id: int
    decision: int | None
    reviewed: tuple[str | None, int | None]
    payload: str | None = None
    verdict: str | None = None


def move(tx: Tx, action: OpenAction, moves: Sequence[Move]) -> None:
    """Close filings and open the next ones, by one event each."""
    ended, rows = [], []
    for one in moves:
        old, (by, review_seq) = one.old, one.reviewed
        review_seq = action.next_seq if review_seq == NOW else review_seq
        numbers: dict[str, Any] = {"chunk": old.chunk_id, "category": one.category_id, "was": old.category_id}
        said = {} if one.verdict is None else {"verdict": one.verdict}
        seq = action.add("chunk.refiled", payload=one.payload, **numbers, decision=one.decision, reviewed=review_seq, **said)
        ended.append((old.chunk_id, old.from_seq, seq))
        row = {"chunk_id": old.chunk_id, "from_seq": seq, "to_seq": FAR, "category_id": one.category_id}
        row |= {"created_at": old.created_at, "decision_id": one.decision}
        rows.append({**row, "reviewed_by": by, "reviewed_seq": review_seq, "verdict": one.verdict})
    _end(tx, ended)
    if rows:
        tx.execute(insert(t.filing), rows)


def withdraw_source(tx: Tx, action: OpenAction, source_id: int, *, by: int | None = None) -> list[int]:
    """Close its filings by one event; the leaves they leave. `by`: the newer version that takes its place."""
    open_filings = filings_of(tx, source_id, to_seq=FAR)
    kind = "source.withdrawn" if by is None else "source.replaced"
    body: dict[str, Any] = {"source": source_id, "filings": len(open_filings)} | ({} if by is None else {"by": by})
    seq = action.add(kind, **body)
    close(tx, [(row.chunk_id, row.from_seq) for row in open_filings], seq)
    _set_status(tx, source_id, "withdrawn" if by is None else "replaced", seq)
    return sorted({row.category_id for row in open_filings})


def restore_source(tx: Tx, action: OpenAction, source_id: int, withdrawn_seq: int, *, by: int | None = None) -> None:
    """Open again, by one event, the filings that a withdrawal closed, or a replacement `by` a newer version."""
    closed = filings_of(tx, source_id, to_seq=withdrawn_seq)
    chunks = tx.execute(select(t.source.c.chunks).where(t.source.c.id == source_id)).scalar_one()
    status = "filed" if chunks else "stored"
    said = {} if chunks else {"status": status}
    seq = action.add("source.restored", source=source_id, withdrawn=withdrawn_seq, filings=len(closed), by=by, **said)
    rows = [{**row._mapping, "from_seq": seq, "to_seq": FAR} for row in closed]
    if rows:
        tx.execute(insert(t.filing), rows)
    _set_status(tx, source_id, status, seq)


def filings_of(tx: Tx, source_id: int, *, to_seq: int) -> Sequence[Any]:
    """The filings of a source's chunks that end at `to_seq`."""
    wanted = select(t.filing).join(t.chunk, t.chunk.c.id == t.filing.c.chunk_id)
    wanted = wanted.where(t.chunk.c.source_id == source_id, t.filing.c.to_seq == to_seq)
    return tx.execute(wanted.order_by(t.filing.c.chunk_id)).all()


def close(tx: Tx, filings: Sequence[tuple[int, int]], seq: int) -> None:
    """filings: (chunk, from_seq)."""
    _end(tx, [(chunk, since, seq) for chunk, since in filings])


def _end(tx: Tx, filings: Sequence[tuple[int, int, int]]) -> None:
    """filings: (chunk, from_seq, the seq at which it ends)."""
    if filings:
        which = (t.filing.c.chunk_id == bindparam("which")) & (t.filing.c.from_seq == bindparam("since"))
        ends = update(t.filing).where(which).values(to_seq=bindparam("until"))
        tx.execute(ends, [{"which": chunk, "since": since, "until": until} for chunk, since, until in filings])


def open_filing(tx: Tx, chunk_id: int) -> Any | None:
    return tx.execute(select(t.filing).where(t.filing.c.chunk_id == chunk_id, t.filing.c.to_seq == FAR)).one_or_none()


def check_leaf(tx: Tx, filing: Any, category_id: int) -> None:
    """Whether the chunk of this filing can go there. Raises CategoryNotFound, NotALeaf, NothingChanges."""
    leaf = _leaf(tx, category_id)
    if filing.to_seq == FAR and filing.category_id == category_id:
        raise NothingChanges(problem=f"chunk {filing.chunk_id} is already filed in {leaf.name!r}")


def _leaf(tx: Tx, category_id: int) -> tree.OpenCategory:
    found = tree.open_categories(tx, [category_id]).get(category_id)
    if found is None:
        raise CategoryNotFound(category_id=category_id)
    depth = schema.stored_depth(tx)
    if depth is not None and found.level != depth:
        raise NotALeaf(name=found.name, level=found.level, depth=depth)
    return found


def _set_status(tx: Tx, source_id: int, status: str, seq: int) -> None:
    tx.execute(update(t.source).where(t.source.c.id == source_id).values(status=status, status_seq=seq))
    passages.follow(tx, source_id, live=status in sources.LIVE)
