"""The verbs of knowledge: texts added under a doc_id, summarised, and what is searched made anew.

Invariant: errors are raised with MEMOLLA's exact messages; what is refused has changed nothing. Anybody may add.
Source: MEMOLLA F-02, F-04, F-05; API "Knowledge, conversations, search".
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import asdict
from datetime import UTC
from typing import Any, Protocol, TypeVar

from memoir_engine import readers
from memoir_engine.core import validation
from memoir_engine.core.errors import DocIdExists, InvalidSetting, MemoirError, NotAllowed, OptimizeNotImplemented, QueryCancelled
from memoir_engine.core.events import Reindexing, Warned
from memoir_engine.core.ports import VectorIndexUnavailable
from memoir_engine.core.results import Knowledge, Reindexed
from memoir_engine.core.run import Actor, Listener, Run
from memoir_engine.runtime.background_embedding import embed_behind
from memoir_engine.runtime.embedding import OFF
from memoir_engine.runtime.engine import Engine, digest
from memoir_engine.runtime.runner import OnEvent, Verb, listeners
from memoir_engine.search.summary import create_summary
from memoir_engine.store.db.text_rules import WORKSPACE
from memoir_engine.store.db.types import Tx
from memoir_engine.store.search import embeddings, passages
from memoir_engine.store.sources import knowledge
from memoir_engine.store.sources.plan import NewSource, check_source
from memoir_engine.text.partial_dates import parse_date_range

# === reindexing: The verb reindex: all that is searched, made anew from the texts that SQL holds.
#
# Invariant: nothing of the truth is touched; searching goes on meanwhile, by what is there. Vectors that were paid for
# are kept:
# they are asked for only where they are missing.
# Source: DESIGN §2.3; MEMOLLA F-05; API `memory.reindex`.


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
    engine.vectoring.forget()
    return await engine.vectoring.catch_up(WORKSPACE, run, told=lambda done: run.emit(Reindexing("vectors", done, total)))


def _nearest(engine: Engine) -> str | None:
    """The index of vectors takes them in; or why it cannot be had."""
    dim = engine.embedder.dim
    if dim is None:  # nothing was ever embedded
        return None
    try:
        indexes = engine.passages.vectors(WORKSPACE, engine.embedder.id, dim)
        return next((index.health.reason for index in indexes if not index.health.ok), None)
    except VectorIndexUnavailable as cannot:
        return cannot.health.reason


# === knowing


T = TypeVar("T")
DOC_ID_CHARS = 200


class AsyncKnowing:
    """The verbs on AsyncMemory."""

    _engine: Engine
    _actor: Actor

    async def add_knowledge(self, doc_id: str, text: str, metadata: dict[str, Any] | None = None) -> Knowledge:
        """Store a text whole under a name of its own: searchable at once, filed in the tree when it is ingested (MEMOLLA F-02).

        metadata: kept as it is; its `date`, ISO 8601 of a year, month or day, is what filters of a search by date go by, and
        texts without any pass none of them. Ingesting the same text later files it, as the next version under its doc_id.
        Raises DocIdExists (E002), InvalidSetting, FileTooLarge, TextInvalid.
        """
        return await self._engine.loop.bridge(_add(self._engine, self._actor, doc_id, text, metadata), verb="add_knowledge")

    async def create_summary(
        self, session_id: str | None = None, doc_id: str | None = None, options: dict[str, Any] | None = None
    ) -> str:
        """What a session or a document says, in a few sentences (MEMOLLA F-04).

        options: `timeout` or `timeout_s` (seconds, 30), `max_retries` (2), `model`, `max_chars` (1200), `summarizer` (a function
        that takes the text, in the model's place). Raises SummaryTargetUnclear (E003), TargetNotFound (E006), InvalidSetting,
        ModelError.
        """
        summary = create_summary(self._engine, self._actor, session_id, doc_id, options)
        return await self._engine.loop.bridge(summary, verb="create_summary")

    def optimize(self, level: object = None) -> None:
        """Raises OptimizeNotImplemented (E005), whatever the level (MEMOLLA F-05): indexes keep themselves."""
        raise OptimizeNotImplemented()

    async def reindex(self, *, on_event: OnEvent | None = None) -> Reindexed:
        """Make all that is searched anew from the texts: passages, vectors, indexes. Needs the role admin. Raises NotAllowed."""
        return await self._engine.loop.bridge(_reindexed(self._engine, self._actor, on_event), verb="reindex")


class _Waiting(Protocol):
    """What the twins stand on: the engine as coroutines have it, and a way to wait."""

    @property
    def _async(self) -> AsyncKnowing: ...
    def _wait(self, verb: str, coroutine: Coroutine[Any, Any, T]) -> T: ...


class Knowing:
    """The same on Memory, waited for."""

    def add_knowledge(self: _Waiting, doc_id: str, text: str, metadata: dict[str, Any] | None = None) -> Knowledge:
        """Store a text whole under a name of its own: searchable at once, filed in the tree when it is ingested (MEMOLLA F-02).

        metadata: kept as it is; its `date`, ISO 8601 of a year, month or day, is what filters of a search by date go by, and
        texts without any pass none of them. Ingesting the same text later files it, as the next version under its doc_id.
        Raises DocIdExists (E002), InvalidSetting, FileTooLarge, TextInvalid.
        """
        return self._wait("add_knowledge", self._async.add_knowledge(doc_id, text, metadata))

    def create_summary(
        self: _Waiting, session_id: str | None = None, doc_id: str | None = None, options: dict[str, Any] | None = None
    ) -> str:
        """What a session or a document says, in a few sentences (MEMOLLA F-04).

        options: `timeout` or `timeout_s` (seconds, 30), `max_retries` (2), `model`, `max_chars` (1200), `summarizer` (a function
        that takes the text, in the model's place). Raises SummaryTargetUnclear (E003), TargetNotFound (E006), InvalidSetting,
        ModelError.
        """
        return self._wait("create_summary", self._async.create_summary(session_id, doc_id, options))

    def optimize(self: _Waiting, level: object = None) -> None:
        """Raises OptimizeNotImplemented (E005), whatever the level (MEMOLLA F-05): indexes keep themselves."""
        self._async.optimize(level)

    def reindex(self: _Waiting, *, on_event: OnEvent | None = None) -> Reindexed:
        """Make all that is searched anew from the texts: passages, vectors, indexes. Needs the role admin. Raises NotAllowed."""
        return self._wait("reindex", self._async.reindex(on_event=on_event))


async def _reindexed(engine: Engine, actor: Actor, on_event: OnEvent | None) -> Reindexed:
    outcome = await engine.runner.perform(reindex_verb(engine, actor, listeners(on_event)), actor)
    if isinstance(outcome, MemoirError):
        raise outcome
    return outcome


async def _add(engine: Engine, actor: Actor, doc_id: object, text: object, metadata: object) -> Knowledge:
    """What can be refused is refused before there is a run."""
    new = await asyncio.to_thread(_new, engine, actor, doc_id, text, metadata)
    named = new.doc_id or ""
    if await engine.db.aread(lambda tx: knowledge.find(tx, named)) is not None:
        raise DocIdExists()
    outcome = await engine.runner.perform(_verb(engine, new), actor)
    if isinstance(outcome, MemoirError):
        raise outcome
    engine.keeper.later()
    embed_behind(engine, actor)
    return outcome


def _verb(engine: Engine, new: NewSource) -> Verb[Knowledge | MemoirError]:
    async def work(run: Run) -> Knowledge:
        def write(tx: Tx) -> Knowledge:
            source, action = knowledge.add(tx, new, run_id=run.id, actor=run.actor.name, clock=run.clock, owner=run.owner)
            return Knowledge(source, new.text, passages.counts(tx, [source.id]).get(source.id, 0), run.id, action)

        if not run.cancellation.begin_commit():
            raise QueryCancelled()
        return await engine.db.awrite(write, operation=f"the knowledge {new.doc_id!r}")

    def record(outcome: Knowledge | MemoirError) -> dict[str, Any]:
        if isinstance(outcome, MemoirError):
            return {}
        return {"source_id": outcome.source_id, "passages": outcome.passages, "action_id": outcome.action_id}

    request = {"doc_id": new.doc_id, "chars": len(new.text), "sha256": new.sha256}
    return Verb(knowledge.VERB, request, None, work, lambda _run, error: error, QueryCancelled, record)


def _new(engine: Engine, actor: Actor, doc_id: object, text: object, metadata: object) -> NewSource:
    """As an ingestion of the same text would read it. Raises InvalidSetting, FileTooLarge, TextInvalid."""
    named, told = validation.text("doc_id", doc_id), validation.text("text", text)
    for name, value in (("doc_id", named), ("text", told)):
        if not value.strip():
            raise InvalidSetting(name=name, value=value[:20], problem="it is empty", advice="Give both as non-empty strings.")
    if len(named) > DOC_ID_CHARS:
        problem, advice = f"it is {len(named)} characters long", f"Shorten it to {DOC_ID_CHARS} characters."
        raise InvalidSetting(name="doc_id", value=f"{named[:50]}…", problem=problem, advice=advice)
    meta = {} if metadata is None else validation.metadata(metadata)
    document = readers.read_text(told, named, max_mb=engine.resolved.config.max_file_mb)
    data = told.encode()
    new = NewSource(
        name=named,
        kind=document.kind,
        sha256=digest(data),
        text=told,
        tokens=engine.tokens.count(told),
        original=data,
        title=document.title,
        author=document.author,
        dated=_date(meta.get("date")) or document.dated,
        headings=document.headings if document.text == told else (),
        metadata=meta,
        doc_id=named,
        owner=actor.user,
    )
    check_source(new)
    return new


def _date(value: object) -> str | None:
    """A year, a month or a day; of a longer time its day. None for what is no date: metadata are the caller's."""
    if not isinstance(value, str):
        return None
    written = value.strip()
    day = written[:10] if len(written) > 10 and written[10] in "T " else written
    return day if parse_date_range(day, UTC) else None
