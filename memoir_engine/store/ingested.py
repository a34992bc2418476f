"""The rows of an ingestion that need no seq of the chain: written before its head is locked.

Invariant: counters are reserved in alphabetical order, the order of the locks; chunks are numbered in position order.
Source: DESIGN §5, §6, §8.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert

from memoir_engine.results import AuditHead
from memoir_engine.store import decisions, helpers, ids, payloads, sources
from memoir_engine.store import tables as t
from memoir_engine.store.canon import canonical, seal
from memoir_engine.store.placing import Placed
from memoir_engine.store.plan import IngestPlan, NewChunk, NewSource, Receipt
from memoir_engine.store.prepared import Prepared
from memoir_engine.store.types import Tx

Row = dict[str, Any]

_ADD_CHUNKS = Prepared(insert(t.chunk))


@dataclass(frozen=True)
class Written:
    """For the events to name. `first` are the reserved ids."""

    first: dict[str, int]
    placed: Placed
    now: datetime
    source: Row
    helper: Row | None
    chunks: list[Row]
    leaves: dict[int, tuple[int, int]]  # position → the decision that chose its leaf, and the leaf

    @property
    def helper_id(self) -> int | None:
        return self.first["helper"] if self.helper else None

    def told(self) -> Row:
        """What a unit that runs again reads its receipt from."""
        categories = [list(pair) for pair in sorted(self.placed.ids.items())]
        first = self.first
        return {"source": first["source"], "helper": self.helper_id, "first_chunk": first["chunk"], "categories": categories}

    def receipt(self, action_id: str, head: AuditHead) -> Receipt:
        return Receipt(self.first["source"], self.helper_id, action_id, self.first["chunk"], self.placed.ids, head.seq, head.hash)


def write(tx: Tx, plan: IngestPlan, placed: Placed, run_id: str, version: int, now: datetime) -> Written:
    """All rows but those that begin at an event."""
    first = {name: ids.reserve(tx, name, count) for name, count in _counts(plan, placed).items()}
    placed = placed.numbered(first["category"])
    source = write_source(
        tx,
        plan.source,
        first["source"],
        run_id=run_id,
        now=now,
        version=version,
        status="filed",
        chunks=len(plan.chunks),
        helper_version=1 if plan.helper else None,
    )
    new, number = plan.helper, first["helper"]
    helper = None if new is None else helpers.write(tx, first["source"], 1, new, number=number, now=now)
    chunks = _chunks(tx, plan, first, now)
    return Written(first, placed, now, source, helper, chunks, _decisions(tx, plan, placed, first, run_id))


def _counts(plan: IngestPlan, placed: Placed) -> dict[str, int]:
    """In alphabetical order: the order of the locks."""
    return {
        "category": len(placed.made),
        "chunk": len(plan.chunks),
        "decision": len(plan.decisions),
        "helper": 1 if plan.helper else 0,
        "source": 1,
    }


def write_source(
    tx: Tx,
    new: NewSource,
    number: int,
    *,
    run_id: str,
    now: datetime,
    version: int,
    status: str,
    chunks: int = 0,
    helper_version: int | None = None,
) -> Row:
    """The source with its text and bytes; its row, with the digest."""
    row: Row = {
        "id": number,
        "name": new.name,
        "kind": new.kind,
        "sha256": new.sha256,
        "text_sha256": hashlib.sha256(new.text.encode()).hexdigest(),
        "version": version,
        "status": status,
        "status_seq": 0,  # set as soon as the head is locked
        "chars": len(new.text),
        "tokens": new.tokens,
        "chunks": chunks,
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
        "helper_version": helper_version,
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
        _ADD_CHUNKS.run_all(tx, sealed)
    return sealed


def _decisions(tx: Tx, plan: IngestPlan, placed: Placed, first: dict[str, int], run_id: str) -> dict[int, tuple[int, int]]:
    """Write them; for each position the decision that chose its leaf, and the leaf."""
    bodies = []
    for offer in plan.offers:
        parent = placed.id_of(offer.parent)
        options = [(placed.id_of(one), name) for one, name in offer.options]
        bodies.append(decisions.offer_body(offer.level, parent, placed.path(offer.parent), options, offer.taught))
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
        decisions.write(tx, rows)
    return leaves
