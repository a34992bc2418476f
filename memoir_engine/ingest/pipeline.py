"""One upload, walked: cut, helper, filing, plan, one transaction.

Invariant: nothing is stored before the plan is whole; whatever fails leaves the ledger of paid calls and nothing else.
Source: DESIGN §8; MEMOIR 7.8–7.9, 7B.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memoir_engine.core.config import MemoirConfig
from memoir_engine.core.errors import IngestionCancelled, MemoirError, WriteFailed
from memoir_engine.core.events import ChunksCut, CommitStarted, Committed, HelperReady, Warned
from memoir_engine.core.run import Run
from memoir_engine.ingest.draft import DraftTree, Lesson, Lessons, Node
from memoir_engine.ingest.filing import Ask, CategoryChoice, SourceFiling, SourceMaterial
from memoir_engine.ingest.helper import generate
from memoir_engine.ingest.schedule import Gate
from memoir_engine.prompts.examples import QUOTE_CHARS
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.types import Tx
from memoir_engine.store.review.reviews import reviewed_examples
from memoir_engine.store.sources.ingestion import commit
from memoir_engine.store.sources.plan import (
    IngestPlan,
    NewCategory,
    NewChunk,
    NewDecision,
    NewHelper,
    NewSource,
    Offer,
    PlanStale,
    Receipt,
    StoredSource,
)
from memoir_engine.store.tree.cache import TreeCache, TreeSnapshot
from memoir_engine.text.chunks import Piece
from memoir_engine.text.terms import terms

# === planning: The choices of an ingestion as the frozen plan the store commits. Pure.
#
# Invariant: drafts are numbered by the first chunk that needs them, so the plan does not depend on which call came back
# first.
# Source: DESIGN §8 (IngestPlan).


def make_plan(
    source: NewSource,
    helper: NewHelper | None,
    chunks: Sequence[NewChunk],
    chosen: Sequence[CategoryChoice],
    tree: DraftTree,
    *,
    tree_seq: int,
) -> IngestPlan:
    """chosen: by position, then level, as `Filing.walk` returns them."""
    numbers = _numbers(chosen)
    drafts = {node.id: node for node in tree.drafts}
    offers = list(dict.fromkeys(_offer(choice.offer, numbers) for choice in chosen))
    index = {offer: i for i, offer in enumerate(offers)}
    return IngestPlan(
        source=source,
        helper=helper,
        chunks=tuple(chunks),
        categories=tuple(_category(drafts[old], numbers) for old in numbers),
        offers=tuple(offers),
        decisions=tuple(_decision(choice, index[_offer(choice.offer, numbers)], numbers) for choice in chosen),
        tree_seq=tree_seq,
    )


def _numbers(chosen: Sequence[CategoryChoice]) -> dict[int, int]:
    """Old draft → −1, −2, … in the order of first need; parents come before their children."""
    needed = dict.fromkeys(choice.category for choice in chosen if choice.category < 0)
    return {old: -1 - i for i, old in enumerate(needed)}


def _category(node: Node, numbers: dict[int, int]) -> NewCategory:
    return NewCategory(numbers[node.id], numbers.get(node.parent, node.parent), node.level, node.name)


def _offer(offer: Offer, numbers: dict[int, int]) -> Offer:
    options = tuple((numbers.get(category, category), name) for category, name in offer.options)
    return Offer(offer.level, numbers.get(offer.parent, offer.parent), options, offer.taught)


def _decision(choice: CategoryChoice, offer: int, numbers: dict[int, int]) -> NewDecision:
    placed = choice.placed
    return NewDecision(
        position=placed.position,
        level=choice.level,
        parent=numbers.get(choice.parent, choice.parent),
        offer=offer,
        chosen=numbers.get(choice.category, choice.category),
        call_id=placed.call_id,
        opinions=tuple((numbers.get(category, category), round(score, 4)) for category, score in placed.opinions),
        seen=placed.seen,
        decided_by=placed.decided_by,
        attempts=placed.attempts,
        note="the limit was reached; chosen from the existing names" if placed.decided_by == "limit" else None,
    )


# === pipeline


PLANS = 3  # the tree may be corrected by people while a model is waited for


@dataclass(frozen=True)
class IngestContext:
    """What an ingestion works with. `cut` and `count` are of the model's own tokens."""

    db: Database
    cache: TreeCache
    config: MemoirConfig
    ask: Ask
    cut: Callable[[str], list[Piece]]
    count: Callable[[str], int]


@dataclass(frozen=True)
class Ingested:
    receipt: Receipt
    plan: IngestPlan
    warnings: tuple[str, ...]


BuildRecord = Callable[[StoredSource, tuple[str, ...]], dict[str, Any]]  # what is stored, and the warnings → the run's record


async def ingest(
    source: NewSource, helper: NewHelper | None, means: IngestContext, run: Run, *, recorded: BuildRecord, reused: bool = False
) -> Ingested:
    """File a source that is not stored yet. Raises what went wrong, with nothing stored.

    helper: settled already, by a person or (`reused`) for an earlier version; None: to be generated.
    recorded: called in the commit, so that the run is done and has its record in one.
    """
    chunks, warnings = await _cut(source, means, run)
    source = replace(source, tokens=sum(chunk.tokens for chunk in chunks))
    _still_wanted(source, run)
    texts = [source.text[chunk.start : chunk.end] for chunk in chunks]
    before = run.ledger.sent
    settled = helper or await generate(source, texts, means.ask, means.count)
    kept = reused and helper is not None
    run.emit(HelperReady(settled.origin, settled.tokens, reused=kept, calls=run.ledger.sent - before))
    material = SourceMaterial(source.name, settled.text, texts, await asyncio.to_thread(lambda: [terms(text) for text in texts]))
    for _ in range(PLANS):
        plan = await _plan(source, settled, chunks, material, means, run)
        try:
            receipt = await _commit(plan, means, run, lambda stored: recorded(stored, warnings))
            means.cache.counted({receipt.first_chunk_id + i: words for i, words in enumerate(material.terms)})
            return Ingested(receipt, plan, warnings)
        except PlanStale as stale:
            # Somebody corrected the tree meanwhile: plan again. What is asked unchanged is answered from the ledger.
            run.cancellation.commit_failed()
            run.emit(Warned("plan", str(stale)))
    raise WriteFailed(
        operation=f"the ingestion of {source.name!r}", problem=f"the tree changed {PLANS} times while it was planned"
    )


async def _cut(source: NewSource, means: IngestContext, run: Run) -> tuple[tuple[NewChunk, ...], tuple[str, ...]]:
    pieces = await asyncio.to_thread(means.cut, source.text)
    short = [piece for piece in pieces if piece.tokens < means.config.chunk_min_tokens]
    run.emit(ChunksCut(len(pieces), sum(piece.tokens for piece in pieces), len(short)))
    chunks = tuple(NewChunk(piece.position, piece.start, piece.end, piece.tokens) for piece in pieces)
    if not short:
        return chunks, ()
    message = f"{len(short)} of {len(pieces)} chunks below chunk_min_tokens ({means.config.chunk_min_tokens}); kept as they are"
    run.emit(Warned("short", message))
    return chunks, (message,)


async def _plan(
    source: NewSource, helper: NewHelper, chunks: Sequence[NewChunk], material: SourceMaterial, means: IngestContext, run: Run
) -> IngestPlan:
    now = await asyncio.to_thread(means.cache.current)
    nodes = [Node(row.id, row.parent_id, row.level, row.name) for row in now.rows]
    tree = DraftTree(nodes, depth=means.config.hierarchy_depth, limit=means.config.limit)
    profiles = now.profiles.fork()
    await asyncio.to_thread(profiles.learn, material.terms)
    lessons = await means.db.aread(lambda tx: _lessons(tx, now, means.config.teaching_examples))
    filing = SourceFiling(
        material,
        tree,
        profiles,
        ask=means.ask,
        run=run,
        gate=Gate(means.config.max_concurrency),
        batch_size=means.config.batch_size,
        profile_terms=means.config.profile_terms,
        lessons=lessons,
    )
    try:
        chosen = await filing.walk()
    except BaseExceptionGroup as group:
        raise first_error(group) from group
    return make_plan(source, helper, chunks, chosen, tree, tree_seq=now.seq)


def _lessons(tx: Tx, now: TreeSnapshot, per_text: int) -> Lessons:
    """What people have corrected or approved up to now, as far as it stands in the tree that is being added to."""
    parents = {row.id: row.parent_id for row in now.rows}
    known: list[Lesson] = []
    for chunk, leaf, text in reviewed_examples(tx, quoted=2 * QUOTE_CHARS) if per_text else ():
        above: list[tuple[int, int]] = []
        while leaf in parents:
            above.insert(0, (parents[leaf], leaf))
            leaf = parents[leaf]
        row = now.profiles.vector_of(chunk)
        known += [Lesson(chunk, tuple(above), text, row)] if row and above else []
    return Lessons(known, per_text=per_text)


async def _commit(plan: IngestPlan, means: IngestContext, run: Run, result: Callable[[StoredSource], dict[str, Any]]) -> Receipt:
    if not run.cancellation.begin_commit():
        raise IngestionCancelled(name=plan.source.name)
    run.emit(CommitStarted(len(plan.chunks), len(plan.categories)))

    def write(tx: Tx) -> Receipt:
        limits, actor = means.config.limit, run.actor.name
        return commit(tx, plan, run_id=run.id, actor=actor, clock=run.clock, limits=limits, owner=run.owner, result=result)

    receipt = await means.db.awrite(write, operation=f"the ingestion of {plan.source.name!r}")
    run.emit(Committed(receipt.source_id, len(plan.chunks), len(plan.categories), receipt.seq, receipt.head))
    return receipt


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Of several failures at once the one to tell: Memoir's own before others, then the first."""
    leaves: list[BaseException] = []
    for error in group.exceptions:
        leaves.append(first_error(error) if isinstance(error, BaseExceptionGroup) else error)
    return next((error for error in leaves if isinstance(error, MemoirError)), leaves[0])


def _still_wanted(source: NewSource, run: Run) -> None:
    run.check(IngestionCancelled, name=source.name)
