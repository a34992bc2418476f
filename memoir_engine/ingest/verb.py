"""The sample corpus, loaded: each document an ingestion of its own, one after another.

Invariant: loading it again changes nothing; the same bytes are recognised. What was loaded stays, whatever comes after it.
Source: API `make demo`; DESIGN §7 (Job).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from math import ceil, sqrt
from typing import Any

from memoir_engine.core import validation
from memoir_engine.core.errors import HelperNeeded, IngestionCancelled, MemoirError, NothingChanges, SameAsAnother
from memoir_engine.core.events import Estimated, FileRead, HelperRequested, Warned
from memoir_engine.core.results import ErrorReport, Estimate, IngestResult, Source
from memoir_engine.core.run import Actor, Listener, Run
from memoir_engine.ingest.helper import user_helper
from memoir_engine.ingest.helper_update import regenerate, set_helper
from memoir_engine.ingest.pipeline import IngestContext, ingest
from memoir_engine.ingest.upload import UNNAMED, Upload
from memoir_engine.models.price_list import cost
from memoir_engine.readers import Document
from memoir_engine.runtime.access import needs_auditor
from memoir_engine.runtime.background_embedding import embed_behind
from memoir_engine.runtime.engine import Engine, digest, subject_of
from memoir_engine.runtime.model import Asking
from memoir_engine.runtime.runner import Verb
from memoir_engine.samples import documents
from memoir_engine.store.sources import sources
from memoir_engine.store.sources.plan import AlreadyStored, NewHelper, NewSource, StoredSource, check_source
from memoir_engine.text.chunks import Piece

# === estimating: What an ingestion will ask for, before anything is asked: from the chunks actually cut.
#
# Level 1 is asked in full batches. Below it a batch holds chunks of one category only, so there are more of them: of as
# many
# categories as the square root of the chunks, each leaves a batch that is not full. What a prompt takes beside its chunks
# was
# measured on nine of the long texts; an estimate is right within about a third.
# Source: MEMOIR 2A.6, 2B; API `memory.estimate`; DESIGN §1 (what a choice costs).


FRAME_TOKENS = 700  # instructions, helper, options and evidence of a classify prompt: 540 to 910
HELPER_PROMPT_TOKENS = 2000  # what a helper may be derived from (MEMOIR 2B.2)
HELPER_FRAME_TOKENS = 200
HELPER_REPLY_TOKENS = 200
ITEM_REPLY_TOKENS = 15  # {"id": 1, "category": "…"}


def estimate(engine: Engine, content: str | bytes, name: str) -> Estimate:
    """Of a text, or of the bytes of a file; an empty or blank one costs nothing. Raises what reading the file raises."""
    engine.check_open()
    text = validation.text("text", content) if isinstance(content, str) else _text(engine, content, name)
    pieces = engine.cut(text) if text.strip() else []
    return estimate_chunks(engine, [piece.tokens for piece in pieces], helper=engine.resolved.config.auto_source_identification)


def estimate_chunks(engine: Engine, tokens: Sequence[int], *, helper: bool) -> Estimate:
    """tokens: of each chunk. helper: whether one will be generated."""
    config, model = engine.resolved.config, engine.client.name
    if not tokens:
        return Estimate(0, 0, 0, 0, 0.0, model)
    depth, whole = config.hierarchy_depth, sum(tokens)
    calls = _calls(len(tokens), config.batch_size, depth)
    prompt = calls * FRAME_TOKENS + whole * depth
    reply = len(tokens) * depth * ITEM_REPLY_TOKENS
    if helper:
        told = HELPER_FRAME_TOKENS + min(whole, HELPER_PROMPT_TOKENS)
        calls, prompt, reply = calls + 1, prompt + told, reply + HELPER_REPLY_TOKENS
    return Estimate(len(tokens), calls, prompt, reply, cost(engine.client.choice, prompt, reply), model)


def _calls(chunks: int, batch: int, depth: int) -> int:
    level_1 = ceil(chunks / batch)
    below = round(chunks / batch + (1 - 1 / batch) * sqrt(chunks))
    return level_1 + max(level_1, min(chunks, below)) * (depth - 1)


def estimate_from_record(told: dict[str, Any] | None) -> Estimate | None:
    """The estimate of a run, as its record has it."""
    return None if told is None else Estimate(**told)


def _text(engine: Engine, data: bytes, name: str) -> str:
    upload = Upload.of("ingest_file", data, name, None, None, max_mb=engine.resolved.config.max_file_mb)
    return upload.read().text


# === ingesting: The verb ingest: bytes or text in, an IngestResult out.
#
# Invariant: errors of the core become `status="error"` here and nowhere else; the same bytes twice give the source there
# is.
# Source: MEMOIR 6.2, 6.4–6.5, 7; API "Documents and the tree".


@dataclass
class IngestProgress:
    """What a run has found out so far, for its record however it ends."""

    estimate: Estimate | None = None
    suggested: dict[str, str] = field(default_factory=dict)  # for the helper's form, from the file itself
    filed: IngestResult | None = None  # what the commit has recorded


@dataclass(frozen=True)
class Ingestion:
    """One upload on its way."""

    engine: Engine
    actor: Actor
    upload: Upload
    sha256: str
    known: IngestProgress
    run: Run
    began: float  # ms on the run's clock

    @property
    def latency_ms(self) -> float:
        return self.run.clock.tick_ms() - self.began


def ingest_verb(engine: Engine, actor: Actor, upload: Upload, listeners: tuple[Listener, ...] = ()) -> Verb[IngestResult]:
    sha256, known = digest(upload.data), IngestProgress()

    async def work(run: Run) -> IngestResult:
        one = Ingestion(engine, actor, upload, sha256, known, run, run.clock.tick_ms())
        return replace(await _ingest(one), latency_ms=one.latency_ms)

    def failed(run: Run, error: MemoirError) -> IngestResult:
        failed = IngestResult("error", run.id, name=upload.name, error=ErrorReport.of(error), estimate=known.estimate)
        return _counted(failed, run)

    return Verb(
        name=upload.verb,
        request={"name": upload.shown_name, "bytes": len(upload.data), "sha256": sha256},
        subject=subject_of(sha256, actor.user),
        work=work,
        failed=failed,
        stopped=lambda: IngestionCancelled(name=upload.name),
        record=lambda result: to_record(result) | ({"suggested": known.suggested} if result.draft else {}),
        listeners=listeners,
        waits=lambda result: result.draft is not None,
        kept=upload.kept(),
        unopened=lambda error: IngestResult("error", "", name=upload.name, error=ErrorReport.of(error)),
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
        "estimate": None if result.estimate is None else asdict(result.estimate),
    }


async def _ingest(one: Ingestion) -> IngestResult:
    engine, upload, run = one.engine, one.upload, one.run
    if upload.replaces is not None:
        needs_auditor(one.actor, "withdraw a source by a newer version")
    document = await asyncio.to_thread(upload.read)
    await asyncio.to_thread(_check, one, document)
    run.emit(FileRead(upload.name, document.kind, len(document.text), document.title))
    for warning in document.warnings:
        run.emit(Warned("file", warning))
    helper = await _settled(engine, upload)
    asked_for = engine.resolved.config.auto_source_identification or upload.regenerate
    if helper is None and not asked_for and await _existing(one) is None:
        return _waiting(one, document)
    async with engine.planning(run, upload.name):
        outcome = await _existing(one) or await _file(one, document, helper)
    if isinstance(outcome, Source):
        return await _again(one, outcome)
    engine.keeper.later()
    embed_behind(engine, one.actor)
    return outcome


def _check(one: Ingestion, document: Document) -> None:
    """What cannot be stored is refused before anything is paid for. Raises TextInvalid."""
    check_source(_source_of(one, document), "" if one.upload.helper is None else one.upload.helper.text)


async def _settled(engine: Engine, upload: Upload) -> NewHelper | None:
    """The helper that need not be generated: the user's, before the stored one of the version that is replaced."""
    before = upload.replaces
    if before is not None:
        await engine.db.aread(lambda tx: sources.current(tx, before))
    if upload.helper is not None:
        said = upload.helper
        return replace(user_helper(said.text, engine.tokens.count), author=said.author, dated=said.dated, topic=said.topic)
    stored = None if before is None else await engine.db.aread(lambda tx: sources.helper(tx, before))
    if stored is None or (upload.regenerate and stored.origin != "user"):
        return None
    return NewHelper(stored.origin, stored.text, stored.tokens, stored.author, stored.dated, stored.topic)


def _waiting(one: Ingestion, document: Document) -> IngestResult:
    name, run_id = one.upload.name, one.run.id
    one.known.suggested = _suggested(document)
    one.run.emit(HelperRequested(name))
    needed = ErrorReport.of(HelperNeeded(name=name, draft=run_id))
    return IngestResult("needs_helper", run_id, name=name, draft=run_id, error=needed, warnings=document.warnings)


def _suggested(document: Document) -> dict[str, str]:
    return {"date": document.dated or "", "author": document.author or "", "topic": document.title or "", "description": ""}


async def _file(one: Ingestion, document: Document, helper: NewHelper | None) -> IngestResult | Source:
    """The source filed; or the source there is, when another process was faster, which had taken this one for dead."""
    engine, run = one.engine, one.run
    ask = Asking(engine, run, IngestionCancelled(name=one.upload.name))

    def cut(text: str) -> list[Piece]:
        pieces = engine.cut(text)
        one.known.estimate = estimate_chunks(engine, [piece.tokens for piece in pieces], helper=helper is None)
        run.emit(_told(one.known.estimate))
        return pieces

    def recorded(stored: StoredSource, warnings: tuple[str, ...]) -> dict[str, Any]:
        """In the commit: all but the latency of its last step is known by then, and a run that is done has its result."""
        said = (*document.warnings, *warnings, *ask.warnings)
        one.known.filed = replace(_counted(_filed(one, stored), one.run), warnings=said)
        return to_record(one.known.filed)

    means = IngestContext(engine.db, engine.cache, engine.resolved.config, ask, cut, engine.tokens.count)
    source, reused = await _as_knowledge(one, _source_of(one, document), ask), one.upload.helper is None
    try:
        ingested = await ingest(source, helper, means, run, recorded=recorded, reused=reused)
    except AlreadyStored as faster:
        return await _source(engine, faster.source_id)
    assert one.known.filed is not None  # by the commit
    return replace(one.known.filed, helper=None if ingested.plan.helper is None else ingested.plan.helper.text)


def _filed(one: Ingestion, stored: StoredSource) -> IngestResult:
    return IngestResult(
        status="success",
        run_id=one.run.id,
        source_id=stored.source_id,
        name=one.upload.name,
        chunks=stored.chunks,
        new_categories=stored.new_categories,
        latency_ms=one.latency_ms,
        action_id=stored.action_id,
        estimate=one.known.estimate,
    )


def _source_of(one: Ingestion, document: Document) -> NewSource:
    return NewSource(
        name=one.upload.name,
        kind=document.kind,
        sha256=one.sha256,
        text=document.text,
        tokens=0,  # known when it is cut
        original=one.upload.data,
        title=document.title,
        author=document.author,
        dated=document.dated,
        headings=document.headings,
        pages=document.pages,
        metadata=one.upload.metadata,
        owner=one.actor.user,
        replaces=one.upload.replaces,
    )


def _told(foreseen: Estimate) -> Estimated:
    return Estimated(foreseen.chunks, foreseen.calls, foreseen.tokens_prompt, foreseen.tokens_completion, foreseen.cost)


async def _existing(one: Ingestion) -> Source | None:
    """The source that is filed with these bytes."""
    stored = await _same(one)
    return stored if stored is not None and stored.status == "filed" else None


async def _same(one: Ingestion) -> Source | None:
    return await one.engine.db.aread(lambda tx: sources.find_by_digest(tx, one.actor.user, one.sha256))


async def _as_knowledge(one: Ingestion, source: NewSource, ask: Asking) -> NewSource:
    """Where the same text is known by a doc_id and not filed yet, this files it: as its next version, under its doc_id."""
    known = await _same(one)
    if known is None or known.status == "filed" or source.replaces is not None:
        return source
    ask.warnings.append(f"this text is known as {known.doc_id!r}; it is filed as its version {known.version + 1}")
    one.run.emit(Warned("knowledge", ask.warnings[-1]))
    named = known.name if one.upload.name == UNNAMED else source.name
    told = {**known.metadata, **source.metadata}
    return replace(source, name=named, doc_id=known.doc_id, metadata=told, replaces=known.id)


async def _source(engine: Engine, source_id: int) -> Source:
    return await engine.db.aread(lambda tx: sources.get(tx, source_id))


async def _again(one: Ingestion, source: Source) -> IngestResult:
    """The same bytes are stored: nothing is stored again, but their helper where one is given or asked for (MEMOIR 2B.8–2B.9).

    Raises SameAsAnother.
    """
    if one.upload.replaces not in (None, source.id):
        raise SameAsAnother(name=source.name, replaces=one.upload.replaces)
    said, action, held = one.upload.helper, None, f"{source.name!r} holds the same bytes and is in memory already;"
    warnings = [f"{held} nothing was stored again{'' if said is None else ' but what was said of it'}"]
    if not one.upload.metadata.items() <= source.metadata.items():
        warnings.append("the metadata that was given is not kept: a source has those of its first time")
    for warning in warnings:
        one.run.emit(Warned("again", warning))
    same = IngestResult("success", one.run.id, source.id, source.name, source.chunks, warnings=tuple(warnings))
    if said is not None:
        with suppress(NothingChanges):
            action = await asyncio.to_thread(set_helper, one.engine, one.actor, source.id, said.text, None)
        same = replace(same, helper=said.text)
    elif one.upload.regenerate:

        def record() -> dict[str, Any]:
            return to_record(_counted(replace(same, latency_ms=one.latency_ms), one.run))

        await regenerate(one.engine, one.actor, source.id, one.run, force=False, record=record)
    return _counted(replace(same, action_id=None if action is None else action.action_id), one.run)


def _counted(result: IngestResult, run: Run) -> IngestResult:
    return replace(result, calls=run.ledger.sent, reused=run.ledger.reused)


# === sampling


NAME = "the sample memory"


def samples_verb(engine: Engine, actor: Actor) -> Verb[tuple[IngestResult, ...]]:
    results: list[IngestResult] = []

    async def work(run: Run) -> tuple[IngestResult, ...]:
        for sample in documents():
            run.check(IngestionCancelled, name=NAME)
            upload = Upload.of("ingest_file", sample.data, sample.name, None, None, max_mb=engine.resolved.config.max_file_mb)
            results.append(await engine.runner.perform(ingest_verb(engine, actor, upload), actor))
        return tuple(results)

    def failed(run: Run, error: MemoirError) -> tuple[IngestResult, ...]:
        return tuple(results)

    return Verb("load_samples", {}, None, work, failed, lambda: IngestionCancelled(name=NAME), _record)


def _record(results: tuple[IngestResult, ...]) -> dict[str, Any]:
    return {
        "runs": [result.run_id for result in results],
        "sources": [result.source_id for result in results if result.source_id is not None],
        "errors": [str(result.error.message) for result in results if result.error],
    }
