"""One question, walked: traverse, order, read, fit, answer; and what the safety net caught, apart.

Invariant: each leaf is read once; the same selections give the same chunks in the same order and the same final prompt.
Source: MEMOIR 4, 8, 9; DESIGN §9.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from memoir_engine.core.config import MemoirConfig
from memoir_engine.core.errors import (
    BudgetTooSmall,
    InvalidSetting,
    MemoryEmpty,
    NothingFiledThen,
    PathsEmpty,
    QueryError,
    QuestionEmpty,
    SourcesNotFiled,
)
from memoir_engine.core.events import ChunksRetrieved, NetCaught
from memoir_engine.core.results import Chunk, PathChoice
from memoir_engine.core.run import Run
from memoir_engine.index.bm25 import LexicalIndex
from memoir_engine.prompts.answer import fixed_text
from memoir_engine.query import answer, budget
from memoir_engine.query.record import Progress
from memoir_engine.query.strategies import Widths
from memoir_engine.query.traverse import OpenPath, PresetChoice, Record, Walk, drop_path, ends_at_leaf, reading_order, traverse
from memoir_engine.runtime.model import AskQuestion
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.types import ROOT, Tx
from memoir_engine.store.sources import chunks as sources_chunks
from memoir_engine.store.sources import sources as sources_sources
from memoir_engine.store.tree.cache import TreeSnapshot
from memoir_engine.text.terms import ScoreMap, terms

FRAME_TOKENS = 40  # of a chunk in the final prompt: its number, its path, its quote lines


@dataclass(frozen=True)
class QueryRequest:
    """A question with its options, checked."""

    question: str
    widths: Widths
    token_budget: int
    use_rankings: bool
    prompt_limiting_strategy: Literal["PRUNE", "SUMMARIZE"] = "PRUNE"
    per_path_limit: int | Literal["auto"] | None = None
    page_size: int | None = None
    after: str | None = None
    sources: tuple[int, ...] | None = None
    safety_net: int = 0
    width_scope: Literal["level", "path"] = "level"
    taken: Mapping[int, Sequence[PresetChoice]] = field(default_factory=dict)  # by level: what is followed without asking
    at_seq: int | None = None  # the moment asked about; None: now


@dataclass(frozen=True)
class QueryContext:
    """What a question works with. `tree` and `lexical` hold what is filed at the moment asked about; `count` is the model's."""

    db: Database
    tree: TreeSnapshot
    lexical: LexicalIndex
    config: MemoirConfig
    ask: AskQuestion
    record: Record
    written: Callable[[], Awaitable[None]]  # what was recorded stands when it returns: before the longest call is waited for
    count: Callable[[str], int]


@dataclass(frozen=True)
class Retrieved:
    """What was read for a question: per path its whole leaf, what the safety net caught, and the sources of what was read."""

    whole: list[budget.PathReading]
    net: tuple[Chunk, ...]
    about: dict[int, answer.SourceContext]


async def query(asked: QueryRequest, means: QueryContext, run: Run, progress: Progress) -> None:
    """Answer into `progress`. Raises what went wrong; progress then holds what was considered and dropped."""
    if not asked.question.strip():
        raise QuestionEmpty()
    about = {} if asked.sources is None else await means.db.aread(lambda tx: _about(tx, asked.sources or (), asked))
    tree, nearness = await asyncio.to_thread(_opened, asked, means)
    if not tree.offered(ROOT):
        for row in tree.empty(ROOT):
            drop_path((row.name,), (row.id,), "empty", progress, run)
        raise _nothing(asked)
    walk = Walk(
        tree=tree,
        opinion=tree.profiles.question(terms(asked.question), nearness),
        widths=asked.widths,
        helpers=tuple(each.helper.text for each in about.values() if each.helper is not None),
        ask=means.ask,
        record=means.record,
        run=run,
        profile_terms=means.config.profile_terms,
        per_path=asked.width_scope == "path",
        taken=asked.taken,
    )
    paths = reading_order(await traverse(asked.question, walk, progress), use_rankings=asked.use_rankings)
    if not ends_at_leaf(paths, tree.depth):  # MEMOIR 4.2.1: no chunk stands above a leaf
        raise QueryError(problem="a path ended above the leaves")
    progress.paths = tuple(path.choice() for path in paths)
    read = await _retrieve(paths, tree, nearness, asked, means, run, progress)
    if not read.whole:
        raise PathsEmpty(count=len(paths))
    readings, about = _page(_firsts(read.whole, asked, progress), asked, progress), read.about
    progress.chunks = tuple(chunk for reading in readings for chunk in reading.chunks)
    limited = await asyncio.to_thread(_limited, asked, readings, nearness, means, progress)
    final = await _fitted(asked, limited, about, means, progress)
    await answer.answer(asked.question, final, means.ask, progress, run)


def _opened(asked: QueryRequest, means: QueryContext) -> tuple[TreeSnapshot, ScoreMap]:
    """The tree as it stands, or stood, and the BM25 score of every chunk that shares a word with the question."""
    tree = means.tree
    if asked.sources is not None:
        sources, at_seq = asked.sources, asked.at_seq
        tree = tree.limited_to(means.db.read(lambda tx: sources_chunks.leaves_of_sources(tx, sources, at_seq=at_seq)))
    return tree, ScoreMap(*means.lexical.scores(asked.question))


def _nothing(asked: QueryRequest) -> QueryError:
    if asked.sources is not None:
        return SourcesNotFiled(count=len(asked.sources))
    return MemoryEmpty() if asked.at_seq is None else NothingFiledThen(seq=asked.at_seq)


async def _retrieve(
    paths: Sequence[OpenPath],
    tree: TreeSnapshot,
    nearness: ScoreMap,
    asked: QueryRequest,
    means: QueryContext,
    run: Run,
    progress: Progress,
) -> Retrieved:
    """The chunks of each leaf, once; an empty leaf is an error of that path (MEMOIR 4.3)."""
    began = run.clock.tick_ms()
    read, _ = await asyncio.gather(means.db.aread(lambda tx: _read(tx, paths, tree, nearness, asked)), means.written())
    there = {reading.path.category_ids for reading in read.whole}
    for path in paths:
        if path.ids not in there:
            drop_path(path.names, path.ids, "empty", progress, run)
    progress.net = read.net
    progress.retrieval_ms += run.clock.tick_ms() - began
    counts = sum(len(reading.chunks) for reading in read.whole), sum(reading.tokens for reading in read.whole)
    run.emit(ChunksRetrieved(len(read.whole), *counts, progress.retrieval_ms))
    if asked.safety_net:
        run.emit(NetCaught(len(read.net)))
    return read


def _read(tx: Tx, paths: Sequence[OpenPath], tree: TreeSnapshot, nearness: ScoreMap, asked: QueryRequest) -> Retrieved:
    """All a question shows of chunks, on one snapshot."""
    leaves = _leaves(tx, {path.tip: path.choice() for path in paths}, tree, asked)
    whole = []
    for path in paths:
        here = (chunk for chunk in leaves[path.tip] if chunk.text)  # one that was erased since says nothing
        chunks = tuple(chunk for chunk in here if asked.sources is None or chunk.source_id in asked.sources)
        if chunks:
            whole.append(budget.PathReading(path.choice(), chunks))
    sources = dict.fromkeys(chunk.source_id for reading in whole for chunk in reading.chunks)
    return Retrieved(whole, _net(tx, tree, nearness, whole, asked), _about(tx, list(sources), asked))


def _firsts(readings: list[budget.PathReading], asked: QueryRequest, progress: Progress) -> list[budget.PathReading]:
    """At most `per_path_limit` chunks of each path, before any page is cut: all pages together give no more (MEMOIR 4.3.3)."""
    if not isinstance(asked.per_path_limit, int):
        return readings
    limited, progress.left_out = budget.limit_per_path(readings, asked.per_path_limit)
    return list(limited)


def _page(readings: list[budget.PathReading], asked: QueryRequest, progress: Progress) -> list[budget.PathReading]:
    """The page that begins behind `after`, at most `page_size` chunks in reading order; the order never changes."""
    if asked.page_size is None and asked.after is None:
        return readings
    ids = [chunk.id for reading in readings for chunk in reading.chunks]
    first = _behind(ids, asked.after)
    last = len(ids) if asked.page_size is None else min(len(ids), first + asked.page_size)
    page = set(ids[first:last])
    progress.after = str(ids[last - 1]) if last < len(ids) else None
    paged = [budget.PathReading(r.path, tuple(chunk for chunk in r.chunks if chunk.id in page)) for r in readings]
    return [reading for reading in paged if reading.chunks]


def _behind(ids: Sequence[int], after: str | None) -> int:
    if after is None:
        return 0
    try:
        return ids.index(int(after)) + 1
    except ValueError:
        raise InvalidSetting(
            name="after",
            value=after,
            problem="no chunk of this question has that cursor",
            advice="Give the `after` of the page before, or leave it out to begin anew.",
        ) from None


def _leaves(tx: Tx, choices: Mapping[int, PathChoice], tree: TreeSnapshot, asked: QueryRequest) -> dict[int, tuple[Chunk, ...]]:
    """Each leaf, ranked as it was chosen; what a question before has read of the same tree is not read again."""
    ranks = {leaf: choice.ranked_relevance for leaf, choice in choices.items()}
    held = {leaf: found for leaf, rank in ranks.items() if (found := tree.held.get(leaf, rank)) is not None}
    missing = [leaf for leaf in choices if leaf not in held]
    paths = {leaf: choice.names for leaf, choice in choices.items()}
    read = sources_chunks.of_leaves(tx, missing, at_seq=asked.at_seq, paths=paths, ranks=ranks)
    for leaf, chunks in read.items():
        tree.held.keep(leaf, ranks[leaf], chunks)
    return held | read


def _net(
    tx: Tx, tree: TreeSnapshot, nearness: ScoreMap, whole: Sequence[budget.PathReading], asked: QueryRequest
) -> tuple[Chunk, ...]:
    """The chunks that words alone find outside the paths: shown apart, never in the prompt."""
    if not asked.safety_net:
        return ()
    read = {chunk.id for reading in whole for chunk in reading.chunks}
    best = nearness.highest(asked.safety_net if asked.sources is None else len(nearness), but=read)
    found = sources_chunks.of_ids(tx, best, at_seq=asked.at_seq, paths=tree.paths)
    return tuple(chunk for chunk in found if asked.sources is None or chunk.source_id in asked.sources)[: asked.safety_net]


def _limited(
    asked: QueryRequest, readings: Sequence[budget.PathReading], nearness: ScoreMap, means: QueryContext, progress: Progress
) -> tuple[budget.PathReading, ...]:
    """Asked for by "auto": at most so many chunks of each path as let every path fit; what that leaves out is counted."""
    if asked.per_path_limit != "auto":
        return tuple(readings)
    fixed = means.count(fixed_text(asked.question))
    most = budget.automatic_limit(
        readings, asked.token_budget, fixed_tokens=fixed, chunk_max_tokens=means.config.chunk_max_tokens + FRAME_TOKENS
    )
    near = nearness.among([chunk.id for reading in readings for chunk in reading.chunks])
    limited, progress.left_out = budget.nearest_per_path(readings, most, near)
    return limited


async def _fitted(
    asked: QueryRequest,
    readings: Sequence[budget.PathReading],
    about: Mapping[int, answer.SourceContext],
    means: QueryContext,
    progress: Progress,
) -> answer.Final:
    """The final prompt within its budget: by dropping paths or by shortening chunks, never both."""
    if asked.prompt_limiting_strategy == "PRUNE":
        return await asyncio.to_thread(_pruned, asked, readings, about, means, progress)

    async def summarise(chunks: Sequence[Chunk], wanted: budget.Compression) -> dict[int, str]:
        config = means.config
        progress.compression = wanted
        progress.summaries = await budget.summarise(
            chunks,
            wanted,
            means.ask,
            cap=asked.token_budget - config.summarization_instruction_headroom_tokens,
            retries=config.summary_max_retries,
            tolerance_percent=config.summary_char_overage_tolerance_percent,
            count=means.count,
            heard=lambda answer: progress.heard("condense", answer),
        )
        return {key: summary.text for key, summary in progress.summaries.items()}

    return await answer.fit_summarised(asked.question, readings, about, summarise, budget=asked.token_budget, count=means.count)


def _pruned(
    asked: QueryRequest,
    readings: Sequence[budget.PathReading],
    about: Mapping[int, answer.SourceContext],
    means: QueryContext,
    progress: Progress,
) -> answer.Final:
    try:
        return answer.fit(asked.question, readings, about, budget=asked.token_budget, count=means.count)
    except BudgetTooSmall:  # an error that shows what was considered (MEMOIR 9.B2.4)
        progress.dropped.extend(answer.dropped(reading) for reading in reversed(readings))
        raise


def _about(tx: Tx, sources: Sequence[int], asked: QueryRequest) -> dict[int, answer.SourceContext]:
    """The sources with the helpers that were in force at the moment asked about."""
    told = sources_sources.in_brief(tx, sources, at_seq=asked.at_seq)
    return {source.id: answer.SourceContext(source, helper) for source, helper in told}
