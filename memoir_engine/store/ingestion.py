"""The commit of an ingestion: one plan, one transaction, one action.

Invariant: all of it or nothing, and once per run: a unit that runs again finds its own action and answers with the same
receipt. What was planned is checked again against the tree of now: a name that somebody else made meanwhile is used, what
was closed or is full raises PlanStale.
Source: DESIGN §2.2, §6, §8; MEMOIR 2.8–2.11, 3.3–3.6, 7.8, 7.9, 7B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import insert, select, update

from memoir_engine.errors import ErasedMeanwhile, IngestionError, NotALeaf
from memoir_engine.run import Clock
from memoir_engine.store import (
    chain,
    embeddings,
    erasures,
    filings,
    helpers,
    ids,
    inputs,
    orphans,
    passages,
    payloads,
    schema,
    sources,
    versions,
)
from memoir_engine.store import tables as t
from memoir_engine.store.canon import roll_up, seal
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.closing import close_with
from memoir_engine.store.holding import hold
from memoir_engine.store.ingested import Written, write
from memoir_engine.store.placing import Placed, place
from memoir_engine.store.plan import AlreadyStored, IngestPlan, Receipt, Stored
from memoir_engine.store.prepared import Prepared
from memoir_engine.store.rules import check_source
from memoir_engine.store.types import FAR, Tx

VERB = "ingest"
_FILED = ("chunk_id", "from_seq", "to_seq", "category_id", "created_at", "decision_id", "reviewed_by", "reviewed_seq")
_FILE = Prepared(insert(t.filing), _FILED)

Row = dict[str, Any]


def commit(
    tx: Tx,
    plan: IngestPlan,
    *,
    run_id: str,
    actor: str,
    clock: Clock,
    limits: Callable[[int], int],
    reason: str | None = None,
    owner: str | None = None,
    result: Callable[[Stored], Row] = Stored._asdict,
) -> Receipt:
    """Write the plan with its action and events, and close its run as done.

    limits: level → how many categories one parent may have there.
    result: what the run's record says of the ingestion.
    Raises PlanStale (plan again), AlreadyStored, SourceNotFound and SourceNotCurrent (of what it replaces), TextInvalid, and
    WriteFailed when the run has ended or has another owner by now, and ErasedMeanwhile: names of then could come back.
    """
    done = chain.find(tx, run_id=run_id, verb=VERB)
    if done is not None:
        return _receipt(tx, done)
    _check(tx, plan)
    ids.erasures(tx, hold=True)
    if plan.tree_seq and erasures.since(tx, plan.tree_seq):
        raise ErasedMeanwhile
    ids.lock_tree(tx)
    _refuse_twin(tx, plan)
    plan, version = _numbered(tx, plan)
    rows = write(tx, plan, place(tx, plan, limits), run_id, version, clock.now())
    hold(tx, run_id, owner, f"the ingestion of {plan.source.name!r}")
    action = OpenAction(tx, verb=VERB, actor=actor, clock=clock)
    action.describe(reason=reason, run_id=run_id, receipt=rows.told())
    _tell(tx, action, plan, rows)
    _replace(tx, action, plan, rows.first["source"])
    passages.add_source(tx, rows.first["source"], plan.source.text, plan.source.dated)
    if plan.source.replaces is not None:
        embeddings.inherit(tx, plan.source.replaces, rows.first["source"])
    stored = Stored(rows.first["source"], action.id, len(plan.chunks), len(rows.placed.made))
    head = close_with(tx, action, run_id, now=rows.now, result=result(stored))
    inputs.forget_ended(tx, tx.execute(select(t.run.c.subject).where(t.run.c.id == run_id)).scalar_one())
    return rows.receipt(action.id, head)


def _tell(tx: Tx, action: OpenAction, plan: IngestPlan, rows: Written) -> None:
    """The events, with the rows that begin at them."""
    number = rows.first["source"]
    seq = action.add("source.added", source=number, replaces=plan.source.replaces, digest=rows.source["digest"])
    tx.execute(update(t.source).where(t.source.c.id == number).values(status_seq=seq))
    if rows.helper:
        helpers.tell(action, rows.helper, was=None, in_force=True)
    covered = roll_up(row["digest"] for row in rows.chunks)
    action.add("chunks.added", source=number, first=rows.first["chunk"], count=len(rows.chunks), digest=covered)
    write_categories(tx, action, rows.placed)
    _file(tx, action, plan, rows)


def write_categories(tx: Tx, action: OpenAction, placed: Placed) -> None:
    """New categories with their first version and an event each, parents first."""
    rows = []
    made = []
    for i, new in enumerate(placed.made):
        seq = action.next_seq + i
        made.append({"id": placed.ids[new.draft], "level": new.level, "created_seq": seq})
        rows.append(versions.row_of(placed.ids[new.draft], placed.id_of(new.parent), new.name, seq))
    sealed = seal(t.category_version, rows)
    for row, new in zip(sealed, placed.made, strict=True):
        numbers = {"category": row["category_id"], "level": new.level, "parent": row["parent_key"]}
        action.add("category.created", **numbers, digest=row["digest"])
    if sealed:
        tx.execute(insert(t.category), made)
        tx.execute(insert(t.category_version), sealed)


def _numbered(tx: Tx, plan: IngestPlan) -> tuple[IngestPlan, int]:
    """With the number of its version; a newer one is known by the doc_id of the one before. Raises SourceNotCurrent."""
    if plan.source.replaces is None:
        return plan, 1
    before = sources.current(tx, plan.source.replaces)
    return replace(plan, source=replace(plan.source, doc_id=plan.source.doc_id or before.doc_id)), before.version + 1


def _refuse_twin(tx: Tx, plan: IngestPlan) -> None:
    stored = sources.find_by_digest(tx, plan.source.owner, plan.source.sha256)
    if stored is not None and stored.status == "filed":  # knowledge that is not may be filed now
        raise AlreadyStored(stored.id)


def _receipt(tx: Tx, action_id: str) -> Receipt:
    written = tx.execute(select(t.action.c.payload).where(t.action.c.id == action_id)).scalar_one()
    told = payloads.get(tx, [written])[written]["receipt"]
    event = t.audit_event.c
    last = tx.execute(select(event.seq, event.hash).where(event.action_id == action_id).order_by(event.seq.desc()).limit(1)).one()
    drafts: dict[int, int] = dict(told["categories"])
    return Receipt(told["source"], told["helper"], action_id, told["first_chunk"], drafts, last.seq, last.hash)


def _check(tx: Tx, plan: IngestPlan) -> None:
    new = plan.source
    check_source(new, plan.helper.text if plan.helper else "")
    depth = schema.stored_depth(tx)
    leaves = {one.position: one.level for one in plan.decisions}  # the last of a position is its leaf's
    wrong = [level for level in leaves.values() if depth is not None and level != depth]
    if wrong:
        raise NotALeaf(name=new.name, level=wrong[0], depth=depth)
    if len(leaves) != len(plan.chunks):
        raise IngestionError(problem=f"{len(plan.chunks) - len(leaves)} chunks have no category")


def _replace(tx: Tx, action: OpenAction, plan: IngestPlan, number: int) -> None:
    """What the new version replaces leaves the tree, and stays readable."""
    if plan.source.replaces is not None:
        leaves = filings.withdraw_source(tx, action, plan.source.replaces, by=number)
        orphans.close(tx, action, leaves)


def _file(tx: Tx, action: OpenAction, plan: IngestPlan, rows: Written) -> None:
    filed = []
    for i, one in enumerate(plan.chunks):
        decision, leaf = rows.leaves[one.position]
        chunk = rows.first["chunk"] + i
        seq = action.add("chunk.filed", chunk=chunk, category=leaf, decision=decision)
        filed.append(
            {
                "chunk_id": chunk,
                "from_seq": seq,
                "to_seq": FAR,
                "category_id": leaf,
                "created_at": rows.now,
                "decision_id": decision,
                "reviewed_by": None,
                "reviewed_seq": None,
            }
        )
    if filed:
        _FILE.run_all(tx, filed)
