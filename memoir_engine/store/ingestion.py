"""The commit of an ingestion: one plan, one transaction, one action.

Invariant: all of it or nothing, and once per run: a unit that runs again finds its own action and answers with the same
receipt. What was planned is checked again against the tree of now: a name that somebody else made meanwhile is used, what
was closed or is full raises PlanStale.
Source: DESIGN §2.2, §6, §8; MEMOIR 2.8–2.11, 3.3–3.6, 7.8, 7.9, 7B.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update

from memoir_engine.errors import IngestionError, NotALeaf
from memoir_engine.run import Clock
from memoir_engine.store import (
    chain,
    decisions,
    filings,
    helpers,
    ids,
    inputs,
    orphans,
    payloads,
    schema,
    sources,
    versions,
)
from memoir_engine.store import tables as t
from memoir_engine.store.canon import canonical, roll_up, seal
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.closing import close_with
from memoir_engine.store.placing import Placed, place
from memoir_engine.store.plan import AlreadyStored, IngestPlan, NewChunk, Receipt, Stored
from memoir_engine.store.rules import check_field, check_text
from memoir_engine.store.types import FAR, Tx

VERB = "ingest"

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
    result: Callable[[Stored], Row] = Stored._asdict,
) -> Receipt:
    """Write the plan with its action and events, and close its run as done.

    limits: level → how many categories one parent may have there.
    result: what the run's record says of the ingestion.
    Raises PlanStale (plan again), AlreadyStored, SourceNotFound and SourceNotCurrent (of what it replaces), TextInvalid.
    """
    done = chain.find(tx, run_id=run_id, verb=VERB)
    if done is not None:
        return _receipt(tx, done)
    _check(tx, plan)
    ids.lock_tree(tx)
    _refuse_twin(tx, plan)
    version = 1 if plan.source.replaces is None else sources.current(tx, plan.source.replaces).version + 1
    subject = tx.execute(select(t.run.c.subject).where(t.run.c.id == run_id)).scalar_one()
    placed = place(tx, plan, limits)
    first = {name: ids.reserve(tx, name, count) for name, count in _counts(plan, placed).items()}
    placed = placed.numbered(first["category"])
    now = clock.now()
    source = _source(tx, plan, first["source"], run_id, now, version)
    new, number = plan.helper, first["helper"]
    helper = None if new is None else helpers.write(tx, first["source"], 1, new, number=number, now=now)
    chunk_rows = _chunks(tx, plan, first, now)
    leaf_decisions = _decisions(tx, plan, placed, first, run_id)

    action = OpenAction(tx, verb=VERB, actor=actor, clock=clock)
    receipt = _told(first, placed, helper is not None)
    action.describe(reason=reason, run_id=run_id, receipt=receipt)
    seq = action.add("source.added", source=first["source"], replaces=plan.source.replaces, digest=source["digest"])
    tx.execute(update(t.source).where(t.source.c.id == first["source"]).values(status_seq=seq))
    if helper:
        helpers.tell(action, helper, was=None, in_force=True)
    covered = roll_up(row["digest"] for row in chunk_rows)
    action.add("chunks.added", source=first["source"], first=first["chunk"], count=len(chunk_rows), digest=covered)
    write_categories(tx, action, placed)
    _file(tx, action, plan, placed, first, leaf_decisions, now)
    _replace(tx, action, plan, first["source"])
    stored = Stored(first["source"], action.id, len(plan.chunks), len(placed.made))
    head = close_with(tx, action, run_id, now=now, result=result(stored))
    inputs.forget_ended(tx, subject)
    return Receipt(first["source"], receipt["helper"], action.id, first["chunk"], placed.ids, head.seq, head.hash)


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


def _refuse_twin(tx: Tx, plan: IngestPlan) -> None:
    stored = sources.find_by_digest(tx, plan.source.owner, plan.source.sha256)
    if stored is not None:
        raise AlreadyStored(stored.id)


def _told(first: dict[str, int], placed: Placed, helped: bool) -> Row:
    """What a unit that runs again reads its receipt from."""
    categories = [list(pair) for pair in sorted(placed.ids.items())]
    helper = first["helper"] if helped else None
    return {"source": first["source"], "helper": helper, "first_chunk": first["chunk"], "categories": categories}


def _receipt(tx: Tx, action_id: str) -> Receipt:
    written = tx.execute(select(t.action.c.payload).where(t.action.c.id == action_id)).scalar_one()
    told = payloads.get(tx, [written])[written]["receipt"]
    event = t.audit_event.c
    last = tx.execute(select(event.seq, event.hash).where(event.action_id == action_id).order_by(event.seq.desc()).limit(1)).one()
    drafts: dict[int, int] = dict(told["categories"])
    return Receipt(told["source"], told["helper"], action_id, told["first_chunk"], drafts, last.seq, last.hash)


def _check(tx: Tx, plan: IngestPlan) -> None:
    new = plan.source
    check_field(new.name, "the source's name", 500)
    check_text(new.text, new.name)
    for field, value in (("title", new.title), ("author", new.author), ("dated", new.dated)):
        check_text(value or "", field)
    for field, value in (("doc_id", new.doc_id), ("owner", new.owner)):
        check_field(value or "", field)
    check_text(plan.helper.text if plan.helper else "", "contextual_helper")
    depth = schema.stored_depth(tx)
    leaves = {one.position: one.level for one in plan.decisions}  # the last of a position is its leaf's
    wrong = [level for level in leaves.values() if depth is not None and level != depth]
    if wrong:
        raise NotALeaf(name=new.name, level=wrong[0], depth=depth)
    if len(leaves) != len(plan.chunks):
        raise IngestionError(problem=f"{len(plan.chunks) - len(leaves)} chunks have no category")


def _counts(plan: IngestPlan, placed: Placed) -> dict[str, int]:
    """In alphabetical order: the order of the locks."""
    return {
        "category": len(placed.made),
        "chunk": len(plan.chunks),
        "decision": len(plan.decisions),
        "helper": 1 if plan.helper else 0,
        "source": 1,
    }


def _replace(tx: Tx, action: OpenAction, plan: IngestPlan, number: int) -> None:
    """What the new version replaces leaves the tree, and stays readable."""
    if plan.source.replaces is not None:
        leaves = filings.withdraw_source(tx, action, plan.source.replaces, by=number)
        orphans.close(tx, action, leaves)


def _source(tx: Tx, plan: IngestPlan, number: int, run_id: str, now: datetime, version: int) -> Row:
    new = plan.source
    row: Row = {
        "id": number,
        "name": new.name,
        "kind": new.kind,
        "sha256": new.sha256,
        "text_sha256": hashlib.sha256(new.text.encode()).hexdigest(),
        "version": version,
        "status": "filed",
        "status_seq": 0,  # set as soon as the head is locked
        "chars": len(new.text),
        "tokens": new.tokens,
        "chunks": len(plan.chunks),
        "title": new.title,
        "author": new.author,
        "dated": new.dated,
        "headings": canonical([[one.level, one.text, one.start] for one in new.headings]),
        "pages": canonical(list(new.pages)),
        "metadata": canonical(new.metadata),
        "doc_id": new.doc_id,
        "owner": new.owner,
        "created_at": now,
        "run_id": run_id,
        "replaces": new.replaces,
        "helper_version": 1 if plan.helper else None,
    }
    sealed = seal(t.source, [row])[0]
    tx.execute(insert(t.source), [sealed])
    sources.write_parts(tx, number, new.text, new.original)
    return sealed


def _chunks(tx: Tx, plan: IngestPlan, first: dict[str, int], now: datetime) -> list[Row]:
    def row(i: int, one: NewChunk) -> Row:
        text = plan.source.text[one.start : one.end]
        ends: Row = {"position": one.position, "start": one.start, "end": one.end, "tokens": one.tokens, "text": text}
        return {"id": first["chunk"] + i, "source_id": first["source"], "created_at": now, **ends}

    sealed = seal(t.chunk, [row(i, one) for i, one in enumerate(plan.chunks)])
    if sealed:
        tx.execute(insert(t.chunk), sealed)
    return sealed


def _decisions(tx: Tx, plan: IngestPlan, placed: Placed, first: dict[str, int], run_id: str) -> dict[int, tuple[int, int]]:
    """Write them; for each position the decision that chose its leaf, and the leaf."""
    bodies = []
    for offer in plan.offers:
        parent = placed.id_of(offer.parent)
        options = [(placed.id_of(one), name) for one, name in offer.options]
        bodies.append(decisions.offer_body(offer.level, parent, placed.path(offer.parent), options))
    offers = payloads.put(tx, bodies)
    chunk_of = {one.position: first["chunk"] + i for i, one in enumerate(plan.chunks)}
    rows: list[Row] = []
    leaves: dict[int, tuple[int, int]] = {}
    for i, new in enumerate(plan.decisions):
        chosen = placed.id_of(new.chosen)
        rows.append(
            {
                "id": first["decision"] + i,
                "run_id": run_id,
                "call_id": new.call_id,
                "chunk_id": chunk_of[new.position],
                "level": new.level,
                "parent_id": placed.id_of(new.parent),
                "offer": offers[new.offer],
                "chosen": f"[[{chosen},1]]",
                "opinions": canonical([[placed.id_of(one), value] for one, value in new.opinions]),
                "decided_by": new.decided_by,
                "seen": int(new.seen),
                "attempts": new.attempts,
                "note": new.note,
            }
        )
        leaves[new.position] = (first["decision"] + i, placed.now(new.chosen))
    if rows:
        tx.execute(insert(t.decision), seal(t.decision, rows))
    return leaves


def _file(
    tx: Tx,
    action: OpenAction,
    plan: IngestPlan,
    placed: Placed,
    first: dict[str, int],
    leaves: dict[int, tuple[int, int]],
    now: datetime,
) -> None:
    rows = []
    for i, one in enumerate(plan.chunks):
        decision, leaf = leaves[one.position]
        chunk = first["chunk"] + i
        seq = action.add("chunk.filed", chunk=chunk, category=leaf, decision=decision)
        rows.append(
            {
                "chunk_id": chunk,
                "from_seq": seq,
                "to_seq": FAR,
                "category_id": leaf,
                "created_at": now,
                "decision_id": decision,
                "reviewed_by": None,
                "reviewed_seq": None,
            }
        )
    if rows:
        tx.execute(insert(t.filing), rows)
