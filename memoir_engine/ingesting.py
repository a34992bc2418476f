"""The verb ingest: bytes or text in, an IngestResult out.

Invariant: errors of the core become `status="error"` here and nowhere else; the same bytes twice give the source there is.
Source: MEMOIR 6.2, 6.4–6.5, 7; API "Documents and the tree".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memoir_engine.errors import HelperInvalid, IngestionCancelled
from memoir_engine.events import FileRead, Warned
from memoir_engine.results import ErrorReport, IngestResult, Source
from memoir_engine.run import Actor, Listener, Run
from memoir_engine.running import Verb
from memoir_engine.wiring import Asking, Engine, digest, subject_of

if TYPE_CHECKING:
    from memoir_engine.files import Document


@dataclass(frozen=True)
class Upload:
    """What was given: original bytes, a name, and how to read them."""

    name: str
    data: bytes
    read: Callable[[], Document]
    helper: str | None
    metadata: dict[str, Any]

    @classmethod
    def of(cls, verb: str, data: bytes, name: str, helper: str | None, metadata: dict[str, Any] | None, *, max_mb: int) -> Upload:
        """A file, or with the verb ingest_text the UTF-8 of a text that was given as one."""

        def read() -> Document:
            from memoir_engine import files

            if verb == "ingest_text":
                return files.read_text(data.decode("utf-8", "surrogatepass"), name, max_mb=max_mb)
            return files.read(data, name, max_mb=max_mb)

        return cls(name, data, read, helper, dict(metadata or {}))


def ingest_verb(
    engine: Engine, actor: Actor, upload: Upload, verb: str, listeners: tuple[Listener, ...] = ()
) -> Verb[IngestResult]:
    sha256 = digest(upload.data)

    async def work(run: Run) -> IngestResult:
        return await _ingest(engine, actor, upload, sha256, run)

    return Verb(
        name=verb,
        request={"name": upload.name, "bytes": len(upload.data), "sha256": sha256},
        subject=subject_of(sha256, actor.user),
        work=work,
        failed=lambda run, error: IngestResult("error", run.id, name=upload.name, error=ErrorReport.of(error)),
        stopped=lambda: IngestionCancelled(name=upload.name),
        record=to_record,
        listeners=listeners,
    )


def to_record(result: IngestResult) -> dict[str, Any]:
    return {
        "source_id": result.source_id,
        "chunks": result.chunks,
        "new_categories": result.new_categories,
        "calls": result.calls,
        "latency_ms": round(result.latency_ms, 3),
        "warnings": list(result.warnings),
        "action_id": result.action_id,
    }


async def _ingest(engine: Engine, actor: Actor, upload: Upload, sha256: str, run: Run) -> IngestResult:
    from memoir_engine.store.plan import AlreadyStored

    began = run.clock.tick_ms()
    document = await asyncio.to_thread(upload.read)
    run.emit(FileRead(upload.name, document.kind, len(document.text), document.title))
    for warning in document.warnings:
        run.emit(Warned("file", warning))
    async with engine.planning(run, upload.name):
        existing = await _existing(engine, sha256, actor.user)
        if existing is not None:
            return _again(existing, run, run.clock.tick_ms() - began)
        try:
            result = await _file(engine, actor, upload, document, sha256, run)
        except AlreadyStored as faster:  # another process, which had taken this one for dead
            stored = await _source(engine, faster.source_id)
            return _again(stored, run, run.clock.tick_ms() - began)
    engine.keeper.later()
    return _timed(result, document.warnings, run.clock.tick_ms() - began)


async def _file(engine: Engine, actor: Actor, upload: Upload, document: Document, sha256: str, run: Run) -> IngestResult:
    from memoir_engine.ingest.pipeline import Means, ingest
    from memoir_engine.store.plan import NewSource

    if upload.helper is None and not engine.resolved.config.auto_source_identification:
        raise HelperInvalid(
            problem="none was given, and auto_source_identification is off",
            advice="Give contextual_helper=…. Nothing was stored.",
        )
    ask = Asking(engine, run, IngestionCancelled(name=upload.name))
    source = NewSource(
        name=upload.name,
        kind=document.kind,
        sha256=sha256,
        text=document.text,
        tokens=0,  # known when it is cut
        original=upload.data,
        title=document.title,
        author=document.author,
        dated=document.dated,
        headings=document.headings,
        pages=document.pages,
        metadata=upload.metadata,
        owner=actor.user,
    )
    means = Means(engine.db, engine.cache, engine.resolved.config, ask, engine.cut, engine.tokens.count)
    ingested = await ingest(source, upload.helper, means, run)
    return IngestResult(
        status="success",
        run_id=run.id,
        source_id=ingested.receipt.source_id,
        name=upload.name,
        chunks=len(ingested.plan.chunks),
        new_categories=len(ingested.plan.categories),
        calls=ask.calls,
        warnings=ingested.warnings,
        action_id=ingested.receipt.action_id,
        helper=None if ingested.plan.helper is None else ingested.plan.helper.text,
    )


async def _existing(engine: Engine, sha256: str, owner: str | None) -> Source | None:
    from memoir_engine.store import sources

    return await engine.db.aread(lambda tx: sources.find_by_digest(tx, owner, sha256))


async def _source(engine: Engine, source_id: int) -> Source:
    from memoir_engine.store import sources

    return await engine.db.aread(lambda tx: sources.get(tx, source_id))


def _again(source: Source, run: Run, latency_ms: float) -> IngestResult:
    warning = f"{source.name!r} holds the same bytes and is in memory already; nothing was stored again"
    run.emit(Warned("again", warning))
    return IngestResult(
        "success", run.id, source_id=source.id, name=source.name, chunks=source.chunks, latency_ms=latency_ms, warnings=(warning,)
    )


def _timed(result: IngestResult, warnings: tuple[str, ...], latency_ms: float) -> IngestResult:
    from dataclasses import replace

    return replace(result, latency_ms=latency_ms, warnings=(*warnings, *result.warnings))
