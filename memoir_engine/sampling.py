"""The sample corpus, loaded: each document an ingestion of its own, one after another.

Invariant: loading it again changes nothing; the same bytes are recognised. What was loaded stays, whatever comes after it.
Source: API `make demo`; DESIGN §7 (Job).
"""

from __future__ import annotations

from typing import Any

from memoir_engine.errors import IngestionCancelled, MemoirError
from memoir_engine.ingesting import ingest_verb
from memoir_engine.results import IngestResult
from memoir_engine.run import Actor, Run
from memoir_engine.running import Verb
from memoir_engine.uploads import Upload
from memoir_engine.wiring import Engine

NAME = "the sample memory"


def samples_verb(engine: Engine, actor: Actor) -> Verb[tuple[IngestResult, ...]]:
    results: list[IngestResult] = []

    async def work(run: Run) -> tuple[IngestResult, ...]:
        from memoir_engine.samples import documents

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
