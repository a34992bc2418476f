"""Commit an ingestion: one plan, one transaction, one action.

Invariant: all or nothing, and once per run: a retried unit finds its own action and returns the same receipt. The plan is
checked against the current tree under `ids.lock_tree`: a draft becomes the open category of the same name under the same parent
if there is one, else a new one; no parent exceeds its limit; what is closed, moved or full raises PlanStale. Counters are
reserved in alphabetical order, the order of the locks; rows that need no seq are written before the chain's head is locked.
Source: DESIGN §2.2, §5, §6, §8; MEMOIR 2.8–2.11, 3.3–3.6, 7.8, 7.9, 7B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update

from memoir_engine.core.errors import DocIdExists, ErasedMeanwhile, IngestionError, NotALeaf
from memoir_engine.core.results import AuditHead, Source
from memoir_engine.core.results.documents import Path
from memoir_engine.core.run import Clock
from memoir_engine.store import tables
from memoir_engine.store.chain import actions, payloads, tombstones
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import canonical, roll_up, seal
from memoir_engine.store.db import ids, schema
from memoir_engine.store.db.statements import Prepared
from memoir_engine.store.db.text_rules import check_name, name_key
from memoir_engine.store.db.types import FAR, ROOT, Tx
from memoir_engine.store.ledger import decisions, runs
from memoir_engine.store.ledger.runs import close_with, hold
from memoir_engine.store.search import embeddings, passages
from memoir_engine.store.sources import helpers, sources
from memoir_engine.store.sources.plan import (
    AlreadyStored,
    IngestPlan,
    NewCategory,
    NewChunk,
    NewSource,
    PlanStale,
    Receipt,
    StoredSource,
    check_source,
)
from memoir_engine.store.tables.sources import LIVE
from memoir_engine.store.tree import categories, filings
from memoir_engine.store.tree.categories import OpenCategory


@dataclass(frozen=True)
class ResolvedCategory:
    """A category to be created. `parent` is an id, or the draft of one that is created before it."""

    draft: int
    parent: int
    level: int
    name: str
    name_key: str


@dataclass(frozen=True)
class ResolvedPlan:
    """A plan mapped to the current tree. `ids` maps drafts to ids; new categories get theirs when numbers are reserved.

    `merged`: categories merged meanwhile, and their targets. A decision keeps what was chosen; its chunk is filed in the target.
    """

    made: tuple[ResolvedCategory, ...]
    ids: dict[int, int]
    paths: dict[int, Path] = field(default_factory=dict)
    merged: dict[int, int] = field(default_factory=dict)

    def id_of(self, number: int) -> int:
        return self.ids[number] if number < ROOT else number

    def now(self, number: int) -> int:
        """Return the category where what was planned for this one is filed."""
        return self.merged.get(number, self.id_of(number))

    def path(self, number: int) -> Path:
        return self.paths.get(number, ())

    def numbered(self, first: int) -> ResolvedPlan:
        return replace(self, ids=self.ids | {one.draft: first + i for i, one in enumerate(self.made)})


def resolve(tx: Tx, plan: IngestPlan, limits: Callable[[int], int]) -> ResolvedPlan:
    """Map a plan's categories to the current tree. Raises PlanStale, NameInvalid."""
    known, merged = _still_open(tx, plan)
    resolver = _PlanResolver(tx, limits, known, merged)
    for level in sorted({new.level for new in plan.categories}):
        resolver.settle(level, [new for new in plan.categories if new.level == level])
    return ResolvedPlan(tuple(resolver.made), resolver.ids, _paths(tx, plan), merged)


class _PlanResolver:
    """Resolve level by level, so that a draft's parent is resolved before it."""

    def __init__(self, tx: Tx, limits: Callable[[int], int], known: dict[int, OpenCategory], merged: dict[int, int]) -> None:
        self._tx = tx
        self._limits = limits
        self._known = known
        self._merged = merged
        self._levels: dict[int, int] = {}
        self.made: list[ResolvedCategory] = []
        self.ids: dict[int, int] = {}

    def settle(self, level: int, drafts: list[NewCategory]) -> None:
        parents = {self._parent(new) for new in drafts}
        children = categories.open_children(self._tx, (one for one in parents if one >= ROOT)).values()
        names = {(one.parent_id, one.name_key): one.id for one in children}
        sizes: dict[int, int] = {}
        for one in children:
            sizes[one.parent_id] = sizes.get(one.parent_id, 0) + 1
        for new in drafts:
            self._settle_one(new, self._parent(new), names, sizes)
            self._levels[new.draft] = level

    def _settle_one(self, new: NewCategory, parent: int, names: dict[tuple[int, str], int], sizes: dict[int, int]) -> None:
        name = check_name(new.name)
        key = name_key(name)
        if (parent, key) in names:
            self.ids[new.draft] = names[parent, key]  # made meanwhile, or twice in this plan
            return
        if sizes.get(parent, 0) >= self._limits(new.level):
            raise PlanStale(f"category {parent} has reached the limit of level {new.level}")
        sizes[parent] = sizes.get(parent, 0) + 1
        names[parent, key] = self.ids[new.draft] = new.draft
        self.made.append(ResolvedCategory(new.draft, parent, new.level, name, key))

    def _parent(self, new: NewCategory) -> int:
        parent = self.ids.get(new.parent, self._merged.get(new.parent, new.parent))
        above = 0 if parent == ROOT else self._levels.get(new.parent, getattr(self._known.get(parent), "level", None))
        if above != new.level - 1:
            raise IngestionError(problem=f"{new.name!r} at level {new.level} stands under level {above}")
        return parent


def _still_open(tx: Tx, plan: IngestPlan) -> tuple[dict[int, OpenCategory], dict[int, int]]:
    """Return the categories the plan names as they are now, and the targets of those merged meanwhile."""
    named = {new.parent for new in plan.categories} | {one.chosen for one in plan.decisions}
    named |= {one.parent for one in plan.decisions}
    named = {one for one in named if one > ROOT}
    open_nodes = categories.open_categories(tx, named)
    merged = categories.merged_into(tx, named - open_nodes.keys())
    closed = tuple(sorted(named - open_nodes.keys() - merged.keys()))
    if closed:
        raise PlanStale(f"categories {list(closed)} are closed", closed)
    open_nodes |= categories.open_categories(tx, merged.values())
    chosen = {(one.chosen, one.parent, one.level) for one in plan.decisions if one.chosen > ROOT and one.parent >= ROOT}
    for number, parent, level in sorted(chosen):
        now = open_nodes.get(number)  # a merged category counts as its target, wherever that is
        if now is not None and (now.parent_id, now.level) != (merged.get(parent, parent), level):
            raise PlanStale(f"category {number} has moved", (number,))
    return open_nodes, merged


def _paths(tx: Tx, plan: IngestPlan) -> dict[int, Path]:
    """Return the names above each offer, for categories and drafts alike."""
    drafts = {new.draft: new for new in plan.categories}
    parents = {offer.parent for offer in plan.offers} | {new.parent for new in plan.categories}
    found: dict[int, Path] = dict(categories.paths(tx, (one for one in parents if one > ROOT)))
    found[ROOT] = ()
    for new in sorted(drafts.values(), key=lambda one: one.level):
        found[new.draft] = (*found[new.parent], new.name.strip())
    return found


Row = dict[str, Any]

_ADD_CHUNKS = Prepared(insert(tables.chunk))


@dataclass(frozen=True)
class IngestRows:
    """Written rows for the events to name. `first`: the reserved ids."""

    first: dict[str, int]
    placed: ResolvedPlan
    now: datetime
    source: Row
    helper: Row | None
    chunks: list[Row]
    leaves: dict[int, tuple[int, int]]  # position → the decision that chose its leaf, and the leaf

    @property
    def helper_id(self) -> int | None:
        return self.first["helper"] if self.helper else None

    def told(self) -> Row:
        """Return what a retried unit rebuilds its receipt from."""
        categories = [list(pair) for pair in sorted(self.placed.ids.items())]
        first = self.first
        return {"source": first["source"], "helper": self.helper_id, "first_chunk": first["chunk"], "categories": categories}

    def receipt(self, action_id: str, head: AuditHead) -> Receipt:
        return Receipt(self.first["source"], self.helper_id, action_id, self.first["chunk"], self.placed.ids, head.seq, head.hash)


def write(tx: Tx, plan: IngestPlan, placed: ResolvedPlan, run_id: str, version: int, now: datetime) -> IngestRows:
    """Write all rows except those that begin at an event."""
    first = {name: ids.reserve(tx, name, count) for name, count in _counts(plan, placed).items()}
    placed = placed.numbered(first["category"])
    source = sources.write_source(
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
    return IngestRows(first, placed, now, source, helper, chunks, _decisions(tx, plan, placed, first, run_id))


def _counts(plan: IngestPlan, placed: ResolvedPlan) -> dict[str, int]:
    """Return how many ids to reserve, in alphabetical order: the order of the locks."""
    return {
        "category": len(placed.made),
        "chunk": len(plan.chunks),
        "decision": len(plan.decisions),
        "helper": 1 if plan.helper else 0,
        "source": 1,
    }


def _chunks(tx: Tx, plan: IngestPlan, first: dict[str, int], now: datetime) -> list[Row]:
    def row(i: int, one: NewChunk) -> Row:
        text = plan.source.text[one.start : one.end]
        ends: Row = {"position": one.position, "start": one.start, "end": one.end, "tokens": one.tokens, "text": text}
        return {"id": first["chunk"] + i, "source_id": first["source"], "created_at": now, **ends}

    sealed = seal(tables.chunk, [row(i, one) for i, one in enumerate(plan.chunks)])
    if sealed:
        _ADD_CHUNKS.run_all(tx, sealed)
    return sealed


def _decisions(tx: Tx, plan: IngestPlan, placed: ResolvedPlan, first: dict[str, int], run_id: str) -> dict[int, tuple[int, int]]:
    """Write the decisions; return for each position the decision that chose its leaf, and the leaf."""
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


VERB = "ingest"
_FILED = ("chunk_id", "from_seq", "to_seq", "category_id", "created_at", "decision_id", "reviewed_by", "reviewed_seq")
_FILE = Prepared(insert(tables.filing), _FILED)


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
    result: Callable[[StoredSource], Row] = StoredSource._asdict,
) -> Receipt:
    """Write the plan with its action and events, and close its run as done.

    limits: level → how many categories one parent may have there.
    result: builds what the run's record holds about the ingestion.
    Raises PlanStale (plan again), AlreadyStored, SourceNotFound and SourceNotCurrent (of the replaced source), TextInvalid,
    WriteFailed if the run has ended or belongs to another process by now, and ErasedMeanwhile: erased names could come back.
    """
    done = actions.find(tx, run_id=run_id, verb=VERB)
    if done is not None:
        return _receipt(tx, done)
    _check(tx, plan)
    ids.erasures(tx, hold=True)
    if plan.tree_seq and tombstones.erased_since(tx, plan.tree_seq):
        raise ErasedMeanwhile
    ids.lock_tree(tx)
    _refuse_twin(tx, plan)
    plan, version = _numbered(tx, plan)
    rows = write(tx, plan, resolve(tx, plan, limits), run_id, version, clock.now())
    hold(tx, run_id, owner, f"the ingestion of {plan.source.name!r}")
    action = OpenAction(tx, verb=VERB, actor=actor, clock=clock)
    action.describe(reason=reason, run_id=run_id, receipt=rows.told())
    _tell(tx, action, plan, rows)
    _replace(tx, action, plan, rows.first["source"])
    passages.add_source(tx, rows.first["source"], plan.source.text, plan.source.dated)
    if plan.source.replaces is not None:
        embeddings.inherit(tx, plan.source.replaces, rows.first["source"])
    stored = StoredSource(rows.first["source"], action.id, len(plan.chunks), len(rows.placed.made))
    head = close_with(tx, action, run_id, now=rows.now, result=result(stored))
    runs.release(tx, run_id)  # the next planner need not wait for a transaction of its own
    runs.forget_ended_inputs(tx, tx.execute(select(tables.run.c.subject).where(tables.run.c.id == run_id)).scalar_one())
    return rows.receipt(action.id, head)


def _tell(tx: Tx, action: OpenAction, plan: IngestPlan, rows: IngestRows) -> None:
    """Add the events, with the rows that begin at them."""
    number = rows.first["source"]
    seq = action.add("source.added", source=number, replaces=plan.source.replaces, digest=rows.source["digest"])
    tx.execute(update(tables.source).where(tables.source.c.id == number).values(status_seq=seq))
    if rows.helper:
        helpers.add_event(action, rows.helper, was=None, in_force=True)
    covered = roll_up(row["digest"] for row in rows.chunks)
    action.add("chunks.added", source=number, first=rows.first["chunk"], count=len(rows.chunks), digest=covered)
    write_categories(tx, action, rows.placed)
    _file(tx, action, plan, rows)


def write_categories(tx: Tx, action: OpenAction, placed: ResolvedPlan) -> None:
    """Create categories with their first version and one event each, parents first."""
    rows = []
    made = []
    for i, new in enumerate(placed.made):
        seq = action.next_seq + i
        made.append({"id": placed.ids[new.draft], "level": new.level, "created_seq": seq})
        rows.append(categories.row_of(placed.ids[new.draft], placed.id_of(new.parent), new.name, seq))
    sealed = seal(tables.category_version, rows)
    for row, new in zip(sealed, placed.made, strict=True):
        numbers = {"category": row["category_id"], "level": new.level, "parent": row["parent_key"]}
        action.add("category.created", **numbers, digest=row["digest"])
    if sealed:
        tx.execute(insert(tables.category), made)
        tx.execute(insert(tables.category_version), sealed)


def _numbered(tx: Tx, plan: IngestPlan) -> tuple[IngestPlan, int]:
    """Return the plan with its version number; a newer version keeps the doc_id of the one before. Raises SourceNotCurrent."""
    if plan.source.replaces is None:
        return plan, 1
    before = sources.current(tx, plan.source.replaces)
    return replace(plan, source=replace(plan.source, doc_id=plan.source.doc_id or before.doc_id)), before.version + 1


def _refuse_twin(tx: Tx, plan: IngestPlan) -> None:
    stored = sources.find_by_digest(tx, plan.source.owner, plan.source.sha256)
    if stored is not None and stored.status == "filed":  # stored knowledge may be filed now
        raise AlreadyStored(stored.id)


def _receipt(tx: Tx, action_id: str) -> Receipt:
    digest = tx.execute(select(tables.action.c.payload).where(tables.action.c.id == action_id)).scalar_one()
    receipt = payloads.get(tx, [digest])[digest]["receipt"]
    event = tables.audit_event.c
    last = tx.execute(select(event.seq, event.hash).where(event.action_id == action_id).order_by(event.seq.desc()).limit(1)).one()
    drafts: dict[int, int] = dict(receipt["categories"])
    return Receipt(receipt["source"], receipt["helper"], action_id, receipt["first_chunk"], drafts, last.seq, last.hash)


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
    """Take the replaced version out of the tree; it stays readable."""
    if plan.source.replaces is not None:
        leaves = filings.withdraw_source(tx, action, plan.source.replaces, by=number)
        filings.close_empty_categories(tx, action, leaves)


def _file(tx: Tx, action: OpenAction, plan: IngestPlan, rows: IngestRows) -> None:
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


KNOWLEDGE_VERB = "add_knowledge"
STORED = "stored"


def find_knowledge(tx: Tx, doc_id: str) -> Source | None:
    """Return the source in force with exactly this doc_id; some databases treat ids as equal that differ in trailing spaces."""
    c = tables.source.c
    rows = tx.execute(select(c.id, c.doc_id).where(c.doc_id == doc_id, c.status.in_(LIVE)).order_by(c.id)).all()
    number = next((row.id for row in rows if row.doc_id == doc_id), None)
    return None if number is None else sources.get(tx, number)


def add_knowledge(
    tx: Tx, new: NewSource, *, run_id: str, actor: str, clock: Clock, owner: str | None = None
) -> tuple[Source, str]:
    """Write the source with its passages and events, close its run as done, and return the source and the action's id.

    Raises DocIdExists, TextInvalid; WriteFailed if the run has ended or belongs to another process by now.
    """
    done = actions.find(tx, run_id=run_id, verb=KNOWLEDGE_VERB)
    if done is not None:
        return sources.get(tx, tx.execute(select(tables.source.c.id).where(tables.source.c.run_id == run_id)).scalar_one()), done
    check_source(new)
    ids.erasures(tx, hold=True)
    ids.lock_tree(tx)
    if new.doc_id is None or find_knowledge(tx, new.doc_id) is not None:
        raise DocIdExists()
    number, now = ids.reserve(tx, "source", 1), clock.now()
    row = sources.write_source(tx, new, number, run_id=run_id, now=now, version=1, status=STORED)
    hold(tx, run_id, owner, f"the knowledge {new.doc_id!r}")
    action = OpenAction(tx, verb=KNOWLEDGE_VERB, actor=actor, clock=clock)
    action.describe(reason=None, run_id=run_id)
    seq = action.add("source.added", source=number, replaces=None, status=STORED, digest=row["digest"])
    tx.execute(update(tables.source).where(tables.source.c.id == number).values(status_seq=seq))
    cut = passages.add_source(tx, number, new.text, new.dated)
    close_with(tx, action, run_id, now=now, result={"source_id": number, "passages": len(cut), "action_id": action.id})
    return sources.get(tx, number), action.id
