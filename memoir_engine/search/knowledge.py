"""The verbs add_knowledge and reindex: store a text under a doc_id; rebuild all indexes from the texts in SQL.

Invariant: errors have MEMOLLA's exact messages; a refused call has changed nothing. Anybody may add. A reindex changes no text,
searches go on meanwhile, and vectors that were paid for are kept: only missing ones are computed.
Source: MEMOLLA F-02, F-04, F-05; DESIGN §2.3; API "Knowledge, conversations, search", `memory.reindex`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import asdict
from datetime import UTC
from functools import partial
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

DOC_ID_CHARS = 200
NAME = "reindex"


def reindex_verb(engine: Engine, actor: Actor, listeners: tuple[Listener, ...] = ()) -> Verb[Reindexed | MemoirError]:
    """Needs an admin: it takes time, and money when vectors are missing. Raises NotAllowed."""
    if "admin" not in actor.roles:
        raise NotAllowed(actor=actor.name, verb="make the indexes anew", role="admin")

    def record(outcome: Reindexed | MemoirError) -> dict[str, Any]:
        return {} if isinstance(outcome, MemoirError) else asdict(outcome)

    request = {"embedder": engine.embedder.id}
    return Verb(NAME, request, None, partial(_reindex, engine), lambda _run, error: error, QueryCancelled, record, listeners)


async def _reindex(engine: Engine, run: Run) -> Reindexed:
    """Rebuild the words first, so that they can be searched whatever happens to the vectors."""
    began = run.clock.tick_ms()
    run.emit(Reindexing("passages", 0, 0))
    await asyncio.to_thread(engine.keeper.cut_missing)
    total = await engine.db.aread(passages.count)
    run.emit(Reindexing("passages", total, total))
    run.check(QueryCancelled)
    await asyncio.to_thread(_rebuild_words, engine)
    run.emit(Reindexing("words", total, total))
    embedded, problem = 0, None
    if engine.resolved.config.vector_store != OFF:
        engine.vectoring.forget()
        embedded = await engine.vectoring.catch_up(
            WORKSPACE, run, told=lambda count: run.emit(Reindexing("vectors", count, total))
        )
        problem = await asyncio.to_thread(_fill_vectors, engine)
    if problem:
        run.emit(Warned("dense", problem))
    kept = await engine.db.aread(lambda tx: embeddings.count(tx, engine.embedder.id))
    run.emit(Reindexing("vectors", kept, total))
    return Reindexed(run.id, total, kept, embedded, engine.embedder.id, round(run.clock.tick_ms() - began, 3), problem)


def _rebuild_words(engine: Engine) -> None:
    engine.passages.clear()
    engine.lexical.clear()
    engine.keeper.catch_up()
    engine.passages.catch_up()


def _fill_vectors(engine: Engine) -> str | None:
    """Have the vector index absorb the vectors. Return why it is unavailable, or None."""
    dim = engine.embedder.dim
    if dim is None:  # nothing was ever embedded
        return None
    try:
        indexes = engine.passages.vectors(WORKSPACE, engine.embedder.id, dim)
        return next((index.health.reason for index in indexes if not index.health.ok), None)
    except VectorIndexUnavailable as unavailable:
        return unavailable.health.reason


T = TypeVar("T")


class AsyncKnowing:
    """The verbs on AsyncMemory."""

    _engine: Engine
    _actor: Actor

    async def add_knowledge(self, doc_id: str, text: str, metadata: dict[str, Any] | None = None) -> Knowledge:
        """Store a text under a doc_id: searchable at once, filed in the tree when it is ingested (MEMOLLA F-02).

        metadata: kept as it is; its `date` (ISO 8601 of a year, month or day) is used by the date filters of a search, and texts
        without one pass no such filter. Ingesting the same text later files it, as the next version under its doc_id.
        Raises DocIdExists (E002), InvalidSetting, FileTooLarge, TextInvalid.
        """
        return await self._engine.loop.bridge(_add(self._engine, self._actor, doc_id, text, metadata), verb="add_knowledge")

    async def create_summary(
        self, session_id: str | None = None, doc_id: str | None = None, options: dict[str, Any] | None = None
    ) -> str:
        """Summarise a session or a document in a few sentences (MEMOLLA F-04).

        options: `timeout` or `timeout_s` (seconds, 30), `max_retries` (2), `model`, `max_chars` (1200), `summarizer` (a function
        of the text that replaces the model). Raises SummaryTargetUnclear (E003), TargetNotFound (E006), InvalidSetting,
        ModelError.
        """
        summary = create_summary(self._engine, self._actor, session_id, doc_id, options)
        return await self._engine.loop.bridge(summary, verb="create_summary")

    def optimize(self, level: object = None) -> None:
        """Raises OptimizeNotImplemented (E005), whatever the level (MEMOLLA F-05): indexes need no upkeep."""
        raise OptimizeNotImplemented()

    async def reindex(self, *, on_event: OnEvent | None = None) -> Reindexed:
        """Rebuild passages, vectors and indexes from the texts. Needs the role admin. Raises NotAllowed."""
        return await self._engine.loop.bridge(_reindexed(self._engine, self._actor, on_event), verb="reindex")


class _Waiting(Protocol):
    """The parts of Memory that the synchronous face needs: the asynchronous face, and a way to wait."""

    @property
    def _async(self) -> AsyncKnowing: ...
    def _wait(self, verb: str, coroutine: Coroutine[Any, Any, T]) -> T: ...


class Knowing:
    """The same on Memory, waited for."""

    def add_knowledge(self: _Waiting, doc_id: str, text: str, metadata: dict[str, Any] | None = None) -> Knowledge:
        """Store a text under a doc_id: searchable at once, filed in the tree when it is ingested (MEMOLLA F-02).

        metadata: kept as it is; its `date` (ISO 8601 of a year, month or day) is used by the date filters of a search, and texts
        without one pass no such filter. Ingesting the same text later files it, as the next version under its doc_id.
        Raises DocIdExists (E002), InvalidSetting, FileTooLarge, TextInvalid.
        """
        return self._wait("add_knowledge", self._async.add_knowledge(doc_id, text, metadata))

    def create_summary(
        self: _Waiting, session_id: str | None = None, doc_id: str | None = None, options: dict[str, Any] | None = None
    ) -> str:
        """Summarise a session or a document in a few sentences (MEMOLLA F-04).

        options: `timeout` or `timeout_s` (seconds, 30), `max_retries` (2), `model`, `max_chars` (1200), `summarizer` (a function
        of the text that replaces the model). Raises SummaryTargetUnclear (E003), TargetNotFound (E006), InvalidSetting,
        ModelError.
        """
        return self._wait("create_summary", self._async.create_summary(session_id, doc_id, options))

    def optimize(self: _Waiting, level: object = None) -> None:
        """Raises OptimizeNotImplemented (E005), whatever the level (MEMOLLA F-05): indexes need no upkeep."""
        self._async.optimize(level)

    def reindex(self: _Waiting, *, on_event: OnEvent | None = None) -> Reindexed:
        """Rebuild passages, vectors and indexes from the texts. Needs the role admin. Raises NotAllowed."""
        return self._wait("reindex", self._async.reindex(on_event=on_event))


async def _reindexed(engine: Engine, actor: Actor, on_event: OnEvent | None) -> Reindexed:
    outcome = await engine.runner.perform(reindex_verb(engine, actor, listeners(on_event)), actor)
    if isinstance(outcome, MemoirError):
        raise outcome
    return outcome


async def _add(engine: Engine, actor: Actor, doc_id: object, text: object, metadata: object) -> Knowledge:
    """Check everything before there is a run, then add in one."""
    new = await asyncio.to_thread(_new_source, engine, actor, doc_id, text, metadata)
    name = new.doc_id or ""
    if await engine.db.aread(lambda tx: knowledge.find(tx, name)) is not None:
        raise DocIdExists()
    outcome = await engine.runner.perform(add_knowledge_verb(engine, new), actor)
    if isinstance(outcome, MemoirError):
        raise outcome
    engine.keeper.later()
    embed_behind(engine, actor)
    return outcome


def add_knowledge_verb(engine: Engine, new: NewSource) -> Verb[Knowledge | MemoirError]:
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


def _new_source(engine: Engine, actor: Actor, doc_id: object, text: object, metadata: object) -> NewSource:
    """Read the text as an ingestion would. Raises InvalidSetting, FileTooLarge, TextInvalid."""
    doc_id, text = validation.text("doc_id", doc_id), validation.text("text", text)
    for name, value in (("doc_id", doc_id), ("text", text)):
        if not value.strip():
            raise InvalidSetting(name=name, value=value[:20], problem="it is empty", advice="Give both as non-empty strings.")
    if len(doc_id) > DOC_ID_CHARS:
        problem, advice = f"it is {len(doc_id)} characters long", f"Shorten it to {DOC_ID_CHARS} characters."
        raise InvalidSetting(name="doc_id", value=f"{doc_id[:50]}…", problem=problem, advice=advice)
    kept = {} if metadata is None else validation.metadata(metadata)
    document = readers.read_text(text, doc_id, max_mb=engine.resolved.config.max_file_mb)
    data = text.encode()
    new = NewSource(
        name=doc_id,
        kind=document.kind,
        sha256=digest(data),
        text=text,
        tokens=engine.tokens.count(text),
        original=data,
        title=document.title,
        author=document.author,
        dated=_date(kept.get("date")) or document.dated,
        headings=document.headings if document.text == text else (),
        metadata=kept,
        doc_id=doc_id,
        owner=actor.user,
    )
    check_source(new)
    return new


def _date(value: object) -> str | None:
    """Return a year, a month or a day (also of a time), or None: metadata are the caller's and need not hold a date."""
    if not isinstance(value, str):
        return None
    written = value.strip()
    day = written[:10] if len(written) > 10 and written[10] in "T " else written
    return day if parse_date_range(day, UTC) else None
