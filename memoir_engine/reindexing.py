"""The verb reindex: all that is searched, made anew from the texts that SQL holds.

Invariant: nothing of the truth is touched; searching goes on meanwhile, by what is there. Vectors that were paid for are kept:
they are asked for only where they are missing.
Source: DESIGN §2.3; MEMOLLA F-05; API `memory.reindex`.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from memoir_engine.errors import MemoirError, NotAllowed, QueryCancelled
from memoir_engine.events import Reindexing, Warned
from memoir_engine.nearest import NearestUnavailable
from memoir_engine.results import Reindexed
from memoir_engine.run import Actor, Listener, Run
from memoir_engine.running import Verb
from memoir_engine.searching import OFF
from memoir_engine.wiring import Engine

NAME = "reindex"


def reindex_verb(engine: Engine, actor: Actor, listeners: tuple[Listener, ...] = ()) -> Verb[Reindexed | MemoirError]:
    """Raises NotAllowed: it takes time, and money where vectors are missing."""
    if "admin" not in actor.roles:
        raise NotAllowed(actor=actor.name, verb="make the indexes anew", role="admin")

    async def work(run: Run) -> Reindexed:
        return await _reindex(engine, run)

    def record(outcome: Reindexed | MemoirError) -> dict[str, Any]:
        return {} if isinstance(outcome, MemoirError) else asdict(outcome)

    request = {"embedder": engine.embedder.id}
    return Verb(NAME, request, None, work, lambda _run, error: error, QueryCancelled, record, listeners)


async def _reindex(engine: Engine, run: Run) -> Reindexed:
    """Texts first, so that words are found whatever becomes of the vectors."""
    from memoir_engine.store import embeddings, passages

    began = run.clock.tick_ms()
    run.emit(Reindexing("passages", 0, 0))
    await asyncio.to_thread(engine.keeper.cut_missing)
    total = await engine.db.aread(passages.count)
    run.emit(Reindexing("passages", total, total))
    run.check(QueryCancelled)
    await asyncio.to_thread(_words, engine)
    run.emit(Reindexing("words", total, total))
    made, problem = 0, None
    if engine.resolved.config.vector_store != OFF:
        made = await _vectors(engine, run, total)
        problem = await asyncio.to_thread(_nearest, engine)
    if problem:
        run.emit(Warned("dense", problem))
    kept = await engine.db.aread(lambda tx: embeddings.count(tx, engine.embedder.id))
    run.emit(Reindexing("vectors", kept, total))
    return Reindexed(run.id, total, kept, made, engine.embedder.id, round(run.clock.tick_ms() - began, 3), problem)


def _words(engine: Engine) -> None:
    """Those of passages, and those of what is filed."""
    engine.passages.clear()
    engine.lexical.clear()
    engine.keeper.catch_up()
    engine.passages.catch_up()


async def _vectors(engine: Engine, run: Run, total: int) -> int:
    """Those that are missing; told of while they come."""
    from memoir_engine.store.owners import WORKSPACE

    engine.vectoring.forget()
    return await engine.vectoring.catch_up(WORKSPACE, run, told=lambda done: run.emit(Reindexing("vectors", done, total)))


def _nearest(engine: Engine) -> str | None:
    """The index of vectors takes them in; or why it cannot be had."""
    from memoir_engine.store.owners import WORKSPACE

    dim = engine.embedder.dim
    if dim is None:  # nothing was ever embedded
        return None
    try:
        indexes = engine.passages.vectors(WORKSPACE, engine.embedder.id, dim)
        return next((index.health.reason for index in indexes if not index.health.ok), None)
    except NearestUnavailable as cannot:
        return cannot.health.reason
