"""Ingestions that were made before: their results read again from the ledger.

Source: MEMOIR 6.2; API "The ledger and the audit".
"""

from __future__ import annotations

from memoir_engine.core import validation
from memoir_engine.core.errors import HelperNeeded
from memoir_engine.core.errors.root import restore_error
from memoir_engine.core.results import ErrorReport, Estimate, IngestResult
from memoir_engine.core.run import Actor
from memoir_engine.runtime.access import runs_of
from memoir_engine.runtime.engine import Engine
from memoir_engine.store.db.types import Tx
from memoir_engine.store.ledger import runs
from memoir_engine.store.sources import sources


def past_result(engine: Engine, actor: Actor, run_id: str) -> IngestResult:
    """Raises RunNotFound, also for a run of another user."""
    named = validation.run(run_id)
    run = engine.db.read(lambda tx: runs.get(tx, named, user=runs_of(actor)))
    result, waits, name = run.result, run.status == "waiting_helper", str(run.request.get("name", ""))
    error = ErrorReport.of(restore_error(run.error, run.remedy)) if run.error else None
    if waits:
        error = ErrorReport.of(HelperNeeded(name=name, draft=run_id))
    source_id, estimate = result.get("source_id"), result.get("estimate")
    return IngestResult(
        status="needs_helper" if waits else "error" if error else "success",
        run_id=run_id,
        source_id=source_id,
        name=name,
        chunks=result.get("chunks", 0),
        new_categories=result.get("new_categories", 0),
        calls=run.calls,
        reused=run.reused,
        latency_ms=result.get("latency_ms", 0.0),
        warnings=tuple(result.get("warnings", ())),
        action_id=result.get("action_id"),
        helper=None if source_id is None else engine.db.read(lambda tx: _first_helper(tx, run_id, source_id)),
        error=error,
        draft=run_id if waits else None,
        estimate=None if estimate is None else Estimate(**estimate),
    )


def _first_helper(tx: Tx, run_id: str, source_id: int) -> str | None:
    """Return the contextual helper the source was filed with, if this run filed it; None where it was erased."""
    if sources.get(tx, source_id).run_id != run_id:
        return None
    return next((helper.text or None for helper in sources.helper_history(tx, source_id) if helper.version == 1), None)
