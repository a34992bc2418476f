"""Show a reviewer an item in words, its evidence in context, and what a list of steps would do.

Invariant: nothing here decides or changes anything; the chunk under review never speaks for its own place.
Source: DESIGN §6, §9.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from memoir_engine.core.errors import MemoirError, NothingChanges, ReviewOvertaken
from memoir_engine.core.results import (
    LeafEffect,
    Neighbour,
    Place,
    ReviewEvidence,
    ReviewItem,
    ReviewState,
    ReviewStep,
    StepOutcome,
    StepsPreview,
)
from memoir_engine.core.results.documents import Path
from memoir_engine.review.order import QueueItem, key_of
from memoir_engine.review.queue_cache import WaitingList
from memoir_engine.review.risk import reasons
from memoir_engine.runtime.engine import Engine
from memoir_engine.store.db.types import FAR, Tx
from memoir_engine.store.ledger import decisions
from memoir_engine.store.review import reviews
from memoir_engine.store.review.reviews import ReviewDecision
from memoir_engine.store.sources import sources
from memoir_engine.store.tree import categories, chunks, filings
from memoir_engine.store.tree.cache import TreeSnapshot
from memoir_engine.text.terms import terms

AROUND_CHARS = 1_200  # of the source's text, before the chunk and behind it
NEIGHBOURS = 5
PLACES = 8
FOLLOWED = 6  # likeliest categories of a level that are looked into


def items(tx: Tx, waiting: Sequence[QueueItem]) -> tuple[ReviewItem, ...]:
    """In their order, with their texts, paths and reasons."""
    filed = [one.filed for one in waiting]
    found = {one.id: one for one in chunks.of_ids(tx, [one.chunk_id for one in filed])}
    seqs = [seq for one in filed for seq in (one.filed_seq, one.reviewed_seq) if seq]
    times = reviews.times(tx, seqs)
    were = reviews.rejected_from(tx, [one.reviewed_seq for one in filed if one.state == "rejected" and one.reviewed_seq])
    leaves = {one.chunk_id: were.get(one.reviewed_seq or 0, one.category_id) for one in filed}
    named = {number for one in waiting for sign in one.signs for number in (sign.chosen, sign.rival)}
    paths = categories.paths(tx, named | set(leaves.values()))
    return tuple(
        ReviewItem(
            key=key_of(one.filed.chunk_id, one.filed.filed_seq),
            kind="filing",
            chunk_id=one.filed.chunk_id,
            filed_seq=one.filed.filed_seq,
            source_id=one.filed.source_id,
            source_name=found[one.filed.chunk_id].source_name,
            category_id=leaves[one.filed.chunk_id],
            path=paths.get(leaves[one.filed.chunk_id], ()),
            text=found[one.filed.chunk_id].text,
            state=one.filed.state,
            risk=one.risk,
            reasons=reasons(one.signs, lambda number: _quoted(paths.get(number, ()))),
            filed_at=times[one.filed.filed_seq],
            reviewer=one.filed.reviewer,
            reviewed_at=times.get(one.filed.reviewed_seq or 0),
        )
        for one in waiting
        if one.filed.chunk_id in found
    )


def evidence(engine: Engine, waiting: QueueItem) -> ReviewEvidence:
    """From the store of now, with what the caches know of its words."""
    engine.keeper.catch_up()
    now = engine.cache.current()
    chunk_id, source_id = waiting.filed.chunk_id, waiting.filed.source_id
    near = _near(engine, engine.db.read(lambda tx: chunks.get(tx, chunk_id)).text, chunk_id)
    states = {one.chunk_id: one.state for one in engine.cache_of(WaitingList).now(engine.db).filed if one.chunk_id in near}

    def work(tx: Tx) -> ReviewEvidence:
        item, chunk = items(tx, [waiting])[0], chunks.get(tx, chunk_id)
        text, helper = sources.text(tx, source_id), sources.helper(tx, source_id)
        return ReviewEvidence(
            item=item,
            before=text[max(0, chunk.start - AROUND_CHARS) : chunk.start],
            behind=text[chunk.end : chunk.end + AROUND_CHARS],
            start=chunk.start,
            end=chunk.end,
            helper=helper.text if helper else None,
            decisions=decisions.of_chunk(tx, chunk_id),
            neighbours=_neighbours(tx, near, states),
            places=_places(tx, now, item),
        )

    return engine.db.read(work)


def preview(tx: Tx, steps: Sequence[ReviewStep], asked_of: Callable[[ReviewStep], ReviewDecision], *, actor: str) -> StepsPreview:
    """Preview steps as if each were done before the next: an item is decided by the first step about it."""
    counts, gains, loses = Counter[str](), Counter[int](), Counter[int]()
    not_done, judged = list[StepOutcome](), set[str]()
    for step in steps:
        try:
            asked = asked_of(step)
            if reviews.done_before(tx, asked, actor=actor, action_id=step.step_id):
                not_done.append(StepOutcome(step.step_id, step.key, "again", action_id=step.step_id))
                continue
            leaf = _checked(tx, asked, actor, judged)
        except MemoirError as refused:
            not_done.append(outcome_of(step, refused))
            continue
        judged.add(step.key)
        counts[step.verdict] += 1
        if step.verdict in ("refile", "reject"):
            loses.update([leaf] if leaf else [])
            gains.update([asked.category_id] if asked.category_id else [])
    paths = categories.paths(tx, {*gains, *loses})
    leaves = (LeafEffect(one, path, gains[one], loses[one]) for one, path in paths.items())
    return StepsPreview(dict(counts), tuple(sorted(leaves, key=lambda one: (one.path, one.category_id))), tuple(not_done))


def _checked(tx: Tx, asked: ReviewDecision, actor: str, judged: set[str]) -> int | None:
    """The leaf that the chunk leaves, None when it is in none. Raises what keeps the step from being done."""
    if asked.key in judged:
        raise NothingChanges(problem="a step before it decides the same item")
    row = reviews.check(tx, asked, actor=actor)
    if asked.verdict == "refile":
        filings.check_leaf(tx, row, asked.category_id or 0)
    return row.category_id if row.to_seq == FAR else None


def outcome_of(step: ReviewStep, why: MemoirError) -> StepOutcome:
    """Return the outcome of a step that could not be done."""
    says = f"{why.message}. {why.remedy}"
    if isinstance(why, ReviewOvertaken):
        return StepOutcome(step.step_id, step.key, "overtaken", says, by=why.facts.get("by"))
    return StepOutcome(step.step_id, step.key, "refused", says)


def _near(engine: Engine, text: str, chunk_id: int) -> dict[int, float]:
    """Chunks near in words by BM25, as parts of what the chunk scores for itself; the likest first."""
    keys, scores = engine.lexical.scores(text)
    known = dict(zip(keys.tolist(), scores.tolist(), strict=True))
    whole = max(known.values(), default=0.0)
    hits = engine.lexical.top(text, NEIGHBOURS, exclude=[chunk_id])
    return {hit.key: round(min(hit.score / whole, 1.0), 4) for hit in hits} if whole > 0 else {}


def _neighbours(tx: Tx, near: dict[int, float], states: Mapping[int, ReviewState]) -> tuple[Neighbour, ...]:
    return tuple(
        Neighbour(one.id, one.source_name, one.category_path, one.text, near[one.id], states.get(one.id, "unreviewed"))
        for one in chunks.of_ids(tx, list(near))
        if one.category_id is not None
    )


def _places(tx: Tx, now: TreeSnapshot, item: ReviewItem) -> tuple[Place, ...]:
    """The likeliest leaves by what is filed in them beside the chunk itself, its present one among them."""
    profiles, words = now.profiles.fork(), terms(item.text)
    above, open_paths = _above(now, item.category_id), [(0, 0.0)]
    if item.category_id in above:
        profiles.remove(item.category_id, item.chunk_id)
    for level in range(1, now.depth + 1):
        reached: dict[int, float] = {}
        for parent, sum_above in open_paths:
            children = [row.id for row in now.children(parent)]
            near = profiles.opinion(parent, children, [words])[0] if children else []
            reached |= {child: sum_above + float(one) for child, one in zip(children, near, strict=True)}
        own = [one for one in above if one in reached]
        best = sorted(reached, key=lambda one: (-reached[one], one))[: FOLLOWED if level < now.depth else PLACES]
        open_paths = [(one, reached[one]) for one in dict.fromkeys((*best, *own))]
    found = {one: round(total / now.depth, 4) for one, total in open_paths}
    paths = categories.paths(tx, found)
    likeliest = sorted(found, key=lambda one: (-found[one], one))
    return tuple(Place(one, paths.get(one, ()), found[one]) for one in likeliest)


def _above(now: TreeSnapshot, category_id: int) -> set[int]:
    """The category and all that is above it."""
    parents, found = {row.id: row.parent_id for row in now.rows}, set[int]()
    while category_id in parents:
        found.add(category_id)
        category_id = parents[category_id]
    return found


def _quoted(path: Path) -> str:
    return f"“{path[-1]}”" if path else "another"
