"""Answer one question: traverse, order, read, fit, answer; and show the chunks of the safety net apart.

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
from memoir_engine.prompts.answer import fixed_text
from memoir_engine.query import answer, budget
from memoir_engine.query.record import Progress
from memoir_engine.query.strategies import Widths
from memoir_engine.query.traverse import OpenPath, PresetChoice, Record, Walk, drop_path, ends_at_leaf, reading_order, traverse
from memoir_engine.runtime.model import AskQuestion
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.types import ROOT, Tx
from memoir_engine.store.sources import sources as source_rows
from memoir_engine.store.tree import chunks as chunk_rows
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
    preset: Mapping[int, Sequence[PresetChoice]] = field(default_factory=dict)  # by level, followed without asking
    at_seq: int | None = None  # the moment asked about; None: now


@dataclass(frozen=True)
class QueryContext:
    """Everything a question works with. tree, nearness: as of the moment asked about. count: tokens of the model."""

    db: Database
    tree: TreeSnapshot
    nearness: ScoreMap  # the BM25 score of every chunk that shares a word with the question
    config: MemoirConfig
    ask: AskQuestion
    record: Record
    written: Callable[[], Awaitable[None]]  # waits until the recorded decisions are stored; called before the longest call
    count: Callable[[str], int]


@dataclass(frozen=True)
class Retrieved:
    """Chunks read for a question: whole leaves by path, the safety net, and the sources of the leaves' chunks."""

    whole: list[budget.PathReading]
    net: tuple[Chunk, ...]
    about: dict[int, answer.SourceContext]


async def query(request: QueryRequest, context: QueryContext, run: Run, progress: Progress) -> None:
    """Answer into `progress`. Raises a MemoirError; progress then holds what was considered and dropped."""
    if not request.question.strip():
        raise QuestionEmpty()
    tree, nearness = context.tree, context.nearness
    about: dict[int, answer.SourceContext] = {}
    if request.sources is not None:
        tree, about = await context.db.aread(lambda tx: _limited_to(tx, request.sources or (), tree, request))
    if not tree.offered(ROOT):
        for row in tree.empty(ROOT):
            drop_path((row.name,), (row.id,), "empty", progress, run)
        raise _nothing_filed(request)
    walk = Walk(
        tree=tree,
        opinion=tree.profiles.question(terms(request.question), nearness),
        widths=request.widths,
        helpers=tuple(source.helper.text for source in about.values() if source.helper is not None),
        ask=context.ask,
        record=context.record,
        run=run,
        profile_terms=context.config.profile_terms,
        per_path=request.width_scope == "path",
        preset=request.preset,
    )
    paths = reading_order(await traverse(request.question, walk, progress), use_rankings=request.use_rankings)
    if not ends_at_leaf(paths, tree.depth):  # MEMOIR 4.2.1: no chunk stands above a leaf
        raise QueryError(problem="a path ended above the leaves")
    progress.paths = tuple(path.choice() for path in paths)
    read = await _retrieve(paths, tree, nearness, request, context, run, progress)
    if not read.whole:
        raise PathsEmpty(count=len(paths))
    readings: Sequence[budget.PathReading] = read.whole
    if isinstance(request.per_path_limit, int):  # before any page is cut: all pages together give no more (MEMOIR 4.3.3)
        readings, progress.left_out = budget.limit_per_path(readings, request.per_path_limit)
    readings = _page(readings, request, progress)
    progress.chunks = tuple(chunk for reading in readings for chunk in reading.chunks)
    final = await _fit(request, readings, read.about, nearness, context, progress)
    await answer.answer(request.question, final, context.ask, progress, run)


def _limited_to(
    tx: Tx, sources: Sequence[int], tree: TreeSnapshot, request: QueryRequest
) -> tuple[TreeSnapshot, dict[int, answer.SourceContext]]:
    """Return the tree with the leaves of these sources alone, and the sources themselves."""
    about = _contexts(tx, sources, request)
    return tree.limited_to(chunk_rows.leaves_of_sources(tx, sources, at_seq=request.at_seq)), about


def _nothing_filed(request: QueryRequest) -> QueryError:
    if request.sources is not None:
        return SourcesNotFiled(count=len(request.sources))
    return MemoryEmpty() if request.at_seq is None else NothingFiledThen(seq=request.at_seq)


async def _retrieve(
    paths: Sequence[OpenPath],
    tree: TreeSnapshot,
    nearness: ScoreMap,
    request: QueryRequest,
    context: QueryContext,
    run: Run,
    progress: Progress,
) -> Retrieved:
    """Read the chunks of each leaf, once; drop the paths whose leaf is empty (MEMOIR 4.3)."""
    began = run.clock.tick_ms()
    read: Retrieved
    read, _ = await asyncio.gather(
        context.db.aread(lambda tx: _read_chunks(tx, paths, tree, nearness, request)), context.written()
    )
    not_empty = {reading.path.category_ids for reading in read.whole}
    for path in paths:
        if path.ids not in not_empty:
            drop_path(path.names, path.ids, "empty", progress, run)
    progress.net = read.net
    progress.retrieval_ms += run.clock.tick_ms() - began
    counts = sum(len(reading.chunks) for reading in read.whole), sum(reading.tokens for reading in read.whole)
    run.emit(ChunksRetrieved(len(read.whole), *counts, progress.retrieval_ms))
    if request.safety_net:
        run.emit(NetCaught(len(read.net)))
    return read


def _read_chunks(tx: Tx, paths: Sequence[OpenPath], tree: TreeSnapshot, nearness: ScoreMap, request: QueryRequest) -> Retrieved:
    """Read all chunks that a question shows, on one snapshot."""
    leaves = _leaves(tx, {path.tip: path.choice() for path in paths}, tree, request)
    whole = []
    for path in paths:
        remaining = (chunk for chunk in leaves[path.tip] if chunk.text)  # an erased chunk has no text
        chunks = tuple(chunk for chunk in remaining if request.sources is None or chunk.source_id in request.sources)
        if chunks:
            whole.append(budget.PathReading(path.choice(), chunks))
    sources = dict.fromkeys(chunk.source_id for reading in whole for chunk in reading.chunks)
    return Retrieved(whole, _safety_net(tx, tree, nearness, whole, request), _contexts(tx, list(sources), request))


def _page(readings: Sequence[budget.PathReading], request: QueryRequest, progress: Progress) -> Sequence[budget.PathReading]:
    """Return the page that begins behind `after`, at most `page_size` chunks in reading order. Raises InvalidSetting."""
    if request.page_size is None and request.after is None:
        return readings
    ids = [chunk.id for reading in readings for chunk in reading.chunks]
    try:
        first = 0 if request.after is None else ids.index(int(request.after)) + 1
    except ValueError:
        problem, advice = "no chunk of this question has that cursor", "Give the `after` of the page before, or leave it out."
        raise InvalidSetting(name="after", value=request.after, problem=problem, advice=advice) from None
    last = len(ids) if request.page_size is None else min(len(ids), first + request.page_size)
    progress.after = str(ids[last - 1]) if last < len(ids) else None
    page = set(ids[first:last])
    paged = [budget.PathReading(r.path, tuple(chunk for chunk in r.chunks if chunk.id in page)) for r in readings]
    return [reading for reading in paged if reading.chunks]


def _leaves(tx: Tx, choices: Mapping[int, PathChoice], tree: TreeSnapshot, request: QueryRequest) -> dict[int, tuple[Chunk, ...]]:
    """Read each leaf, ranked as it was chosen; leaves that an earlier question read of the same tree come from the cache."""
    ranks = {leaf: choice.ranked_relevance for leaf, choice in choices.items()}
    cached = {leaf: chunks for leaf, rank in ranks.items() if (chunks := tree.held.get(leaf, rank)) is not None}
    missing = [leaf for leaf in choices if leaf not in cached]
    paths = {leaf: choice.names for leaf, choice in choices.items()}
    read = chunk_rows.of_leaves(tx, missing, at_seq=request.at_seq, paths=paths, ranks=ranks)
    for leaf, chunks in read.items():
        tree.held.keep(leaf, ranks[leaf], chunks)
    return cached | read


def _safety_net(
    tx: Tx, tree: TreeSnapshot, nearness: ScoreMap, whole: Sequence[budget.PathReading], request: QueryRequest
) -> tuple[Chunk, ...]:
    """Return the best chunks by words outside the paths: shown apart, never in the prompt."""
    if not request.safety_net:
        return ()
    read = {chunk.id for reading in whole for chunk in reading.chunks}
    best = nearness.highest(request.safety_net if request.sources is None else len(nearness), but=read)
    matches = chunk_rows.of_ids(tx, best, at_seq=request.at_seq, paths=tree.paths)
    return tuple(chunk for chunk in matches if request.sources is None or chunk.source_id in request.sources)[
        : request.safety_net
    ]


def _limit(
    request: QueryRequest, readings: Sequence[budget.PathReading], nearness: ScoreMap, context: QueryContext, progress: Progress
) -> tuple[budget.PathReading, ...]:
    """With "auto", keep of each path the nearest chunks, as many as let every path fit; count the others as left out."""
    if request.per_path_limit != "auto":
        return tuple(readings)
    fixed = context.count(fixed_text(request.question))
    most = budget.automatic_limit(
        readings, request.token_budget, fixed_tokens=fixed, chunk_max_tokens=context.config.chunk_max_tokens + FRAME_TOKENS
    )
    near = nearness.among([chunk.id for reading in readings for chunk in reading.chunks])
    limited, progress.left_out = budget.nearest_per_path(readings, most, near)
    return limited


async def _fit(
    request: QueryRequest,
    readings: Sequence[budget.PathReading],
    about: Mapping[int, answer.SourceContext],
    nearness: ScoreMap,
    context: QueryContext,
    progress: Progress,
) -> answer.Final:
    """Fit the final prompt into its budget: by dropping paths or by shortening chunks, never both."""
    if request.prompt_limiting_strategy == "PRUNE":
        return await asyncio.to_thread(
            lambda: _prune(request, _limit(request, readings, nearness, context, progress), about, context, progress)
        )
    limited = await asyncio.to_thread(_limit, request, readings, nearness, context, progress)

    async def summarise(chunks: Sequence[Chunk], target: budget.Compression) -> dict[int, str]:
        config = context.config
        progress.compression = target
        progress.summaries = await budget.summarise(
            chunks,
            target,
            context.ask,
            cap=request.token_budget - config.summarization_instruction_headroom_tokens,
            retries=config.summary_max_retries,
            tolerance_percent=config.summary_char_overage_tolerance_percent,
            count=context.count,
            heard=lambda answer: progress.heard("condense", answer),
        )
        return {key: summary.text for key, summary in progress.summaries.items()}

    return await answer.fit_summarised(
        request.question, limited, about, summarise, budget=request.token_budget, count=context.count
    )


def _prune(
    request: QueryRequest,
    readings: Sequence[budget.PathReading],
    about: Mapping[int, answer.SourceContext],
    context: QueryContext,
    progress: Progress,
) -> answer.Final:
    try:
        return answer.fit(request.question, readings, about, budget=request.token_budget, count=context.count)
    except BudgetTooSmall:  # the error shows what was considered (MEMOIR 9.B2.4)
        progress.dropped.extend(answer.dropped(reading) for reading in reversed(readings))
        raise


def _contexts(tx: Tx, sources: Sequence[int], request: QueryRequest) -> dict[int, answer.SourceContext]:
    """Return the sources with the helpers in force at the moment asked about."""
    rows = source_rows.in_brief(tx, sources, at_seq=request.at_seq)
    return {source.id: answer.SourceContext(source, helper) for source, helper in rows}
