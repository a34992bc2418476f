"""The views that only read: sources, runs, the audit; of the tree in `browsing`.

Invariant: plain SQL reads, the same objects on both faces of the facade; nothing here waits for a model or decides anything.
A row of another user answers exactly like a missing one: the actor's user goes into every read that can tell them apart.
Source: API; DESIGN §6 "Who and whose", §7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from memoir_engine.core import validation
from memoir_engine.core.errors import HelperNeeded, InvalidSetting, RunNotFound
from memoir_engine.core.errors.root import restore_error
from memoir_engine.core.results import (
    Call,
    Chunk,
    Decision,
    ErrorReport,
    EventView,
    IngestResult,
    QueryResult,
    RunComparison,
    RunDetail,
    RunView,
)
from memoir_engine.ingest.verb import estimate_from_record
from memoir_engine.query.record import as_of_seq, chunk_ids, compare, from_record
from memoir_engine.runtime.access import runs_of
from memoir_engine.runtime.view import View, cut_off
from memoir_engine.store.chain import state
from memoir_engine.store.db.types import Tx
from memoir_engine.store.ledger import calls, decisions, runs
from memoir_engine.store.sources import chunks, sources
from memoir_engine.store.sources.chunks import with_previews
from memoir_engine.store.tree import categories

T = TypeVar("T")
SHOWN = 1000  # calls and decisions of a run that is no question


def _unerased(found: Iterable[Chunk]) -> dict[int, Chunk]:
    return {chunk.id: chunk for chunk in found if chunk.text}


class RunsView(View):
    """The ledger: what was asked of the engine and of the model, and what came back."""

    def list(self, limit: int = 50, verb: str | None = None, before: str | None = None) -> tuple[RunView, ...]:
        """Newest first."""
        most, below = validation.limit(limit), None if before is None else validation.run(before)
        named = None if verb is None else validation.text("verb", verb)
        return self._read(lambda tx: runs.recent(tx, limit=most, verb=named, before=below, user=runs_of(self._actor)))

    def get(self, run_id: str, limit: int = 1000) -> RunDetail:
        """The run with its first calls (without their texts), decisions and events; `limit` holds for each of the three."""
        most = validation.limit(limit)

        def work(tx: Tx) -> RunDetail:
            run = self._mine(tx, run_id)
            calls, calls_after = cut_off(self._calls(tx, run_id, 0, most + 1), most, key="id")
            made, decisions_after = cut_off(self._decisions(tx, run_id, 0, most + 1), most, key="id")
            told, events_after = cut_off(self._events(tx, run_id, 0, most + 1), most, key="n")
            return RunDetail(run, calls, made, told, calls_after, decisions_after, events_after)

        return self._read(work)

    def calls(self, run_id: str, after: int = 0, limit: int = 1000) -> tuple[Call, ...]:
        """The run's calls behind the call `after`, without their texts."""
        return self._page(run_id, after, limit, self._calls)

    def decisions(self, run_id: str, after: int = 0, limit: int = 1000) -> tuple[Decision, ...]:
        """The run's decisions behind the decision `after`."""
        return self._page(run_id, after, limit, self._decisions)

    def events(self, run_id: str, after: int = 0, limit: int = 1000) -> tuple[EventView, ...]:
        """The run's events behind number `after`."""
        return self._page(run_id, after, limit, self._events)

    def answers_kept(self, run_id: str) -> int:
        """How many answers of the run are paid for: going on with it does not ask for them again."""
        return self._read(lambda tx: calls.answers(tx, self._mine(tx, run_id).id))

    def call(self, call_id: int) -> Call:
        """One call with the prompt and the reply as they went over the wire. Raises RunNotFound (E711)."""

        def work(tx: Tx) -> Call:
            found = calls.get(tx, validation.call(call_id))
            if found is None:
                raise RunNotFound(run_id=f"of call {call_id}")
            runs.get(tx, found.run_id, user=runs_of(self._actor))
            return found

        return self._read(work)

    def query(self, run_id: str) -> QueryResult:
        """A question's result read again from the ledger; while it still runs, what is known so far."""

        def work(tx: Tx) -> QueryResult:
            detail = self._answered(tx, run_id)
            found = chunks.of_ids(tx, chunk_ids(detail.run.result), at_seq=as_of_seq(detail.run))
            return from_record(detail, _unerased(found), categories.names(tx, at_seq=detail.run.tree_seq))

        return self._read(work)

    def compare(self, one: str, other: str) -> RunComparison:
        """Two questions' runs side by side: what was asked, chosen, read and answered differently."""
        runs = self._view(one), self._view(other)
        for run in runs:
            if run.verb != "query":
                problem = f"it is of {run.verb!r}"
                raise InvalidSetting(name="run_id", value=run.id, problem=problem, advice="Give the runs of two questions.")
        seqs = runs[0].tree_seq or 0, runs[1].tree_seq or 0
        changed = self._read(lambda tx: state.changed_between(tx, *seqs))
        return compare(runs, (self.query(one), self.query(other)), tree_changed=changed)

    def ingest(self, run_id: str) -> IngestResult:
        """An ingestion's result read again from the ledger."""
        run = self._view(run_id)
        result, waits = run.result, run.status == "waiting_helper"
        error = ErrorReport.of(restore_error(run.error, run.remedy)) if run.error else None
        if waits:
            error = ErrorReport.of(HelperNeeded(name=run.request.get("name", ""), draft=run_id))
        return IngestResult(
            status="needs_helper" if waits else "error" if error else "success",
            run_id=run_id,
            source_id=result.get("source_id"),
            name=str(run.request.get("name", "")),
            chunks=result.get("chunks", 0),
            new_categories=result.get("new_categories", 0),
            calls=run.calls,
            reused=run.reused,
            latency_ms=result.get("latency_ms", 0.0),
            warnings=tuple(result.get("warnings", ())),
            action_id=result.get("action_id"),
            helper=self._helper_of(run_id, result.get("source_id")),
            error=error,
            draft=run_id if waits else None,
            estimate=estimate_from_record(result.get("estimate")),
        )

    def _helper_of(self, run_id: str, source_id: int | None) -> str | None:
        """The contextual helper a source was filed with, if this run filed it; None where it was erased."""

        def work(tx: Tx) -> str | None:
            if source_id is None or sources.get(tx, source_id).run_id != run_id:
                return None
            first = [one.text for one in sources.helper_history(tx, source_id) if one.version == 1]
            return first[0] or None if first else None

        return self._read(work)

    def _view(self, run_id: str) -> RunView:
        return self._read(lambda tx: self._mine(tx, run_id))

    def _mine(self, tx: Tx, run_id: str) -> RunView:
        return runs.get(tx, validation.run(run_id), user=runs_of(self._actor))

    def _page(self, run_id: str, after: int, limit: int, read: Callable[[Tx, str, int, int], tuple[T, ...]]) -> tuple[T, ...]:
        behind, most = validation.cursor("after", after), validation.limit(limit)
        return self._read(lambda tx: read(tx, self._mine(tx, run_id).id, behind, most))

    def _answered(self, tx: Tx, run_id: str) -> RunDetail:
        """A question whole, replies included: it asks a few calls for each level. Of any other run the first of them."""
        run = self._mine(tx, run_id)
        most = None if run.verb == "query" else SHOWN
        return RunDetail(run, calls.of_run(tx, run_id, texts=True, limit=most), decisions.of_run(tx, run_id, limit=most), ())

    def _calls(self, tx: Tx, run_id: str, after: int, limit: int) -> tuple[Call, ...]:
        return calls.of_run(tx, run_id, after=after, limit=limit)

    def _decisions(self, tx: Tx, run_id: str, after: int, limit: int) -> tuple[Decision, ...]:
        return decisions.of_run(tx, run_id, after=after, limit=limit)

    def _events(self, tx: Tx, run_id: str, after: int, limit: int) -> tuple[EventView, ...]:
        events = runs.events(tx, run_id, after=after, limit=limit)
        return with_previews(tx, events, self._engine.runner.openings(run_id))
