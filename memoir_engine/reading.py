"""The views that only read: sources, runs, the audit; of the tree in `browsing`.

Invariant: plain SQL reads, the same objects on both faces of the facade; nothing here waits for a model or decides anything.
A row of another user answers exactly like a missing one: the actor's user goes into every read that can tell them apart.
Source: API; DESIGN §6 "Who and whose", §7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from memoir_engine import given
from memoir_engine.owning import runs_of
from memoir_engine.results import (
    AuditCheck,
    AuditEvent,
    AuditHead,
    Call,
    Chunk,
    Decision,
    ErrorReport,
    EventView,
    Helper,
    IngestResult,
    QueryResult,
    RunComparison,
    RunDetail,
    RunView,
    Source,
)
from memoir_engine.run import Actor
from memoir_engine.wiring import Engine

if TYPE_CHECKING:
    from memoir_engine.store.types import Tx

T = TypeVar("T")
SHOWN = 1000  # calls and decisions of a run that is no question


class View:
    """A part of the facade: the engine, and who looks."""

    def __init__(self, engine: Engine, actor: Actor) -> None:
        self._engine = engine
        self._actor = actor

    def _read(self, work: Callable[[Tx], T]) -> T:
        return self._engine.db.read(work)


class SourcesView(View):
    """What was uploaded or pasted."""

    def list(self, limit: int = 200, before: int | None = None) -> tuple[Source, ...]:
        """Newest first. before: the id of the last one of a page, to read on from."""
        from memoir_engine.store import sources

        most, behind = given.limit(limit), None if before is None else given.cursor("before", before)
        return self._read(lambda tx: sources.recent(tx, limit=most, before=behind))

    def get(self, source_id: int) -> Source:
        from memoir_engine.store import sources

        return self._read(lambda tx: sources.get(tx, given.source(source_id)))

    def versions(self, source_id: int) -> tuple[Source, ...]:
        """The source with all that it replaces and all that replace it, newest first."""
        from memoir_engine.store import sources

        return self._read(lambda tx: sources.versions(tx, given.source(source_id)))

    def by_name(self, name: str) -> tuple[Source, ...]:
        """Those in force with exactly this name, newest first: a recurring name may be a newer version."""
        from memoir_engine.store import sources

        return self._read(lambda tx: sources.by_name(tx, given.text("name", name), live=True))

    def text(self, source_id: int) -> str:
        """The text that spans refer to."""
        from memoir_engine.store import sources

        source_id = self.get(source_id).id
        return self._read(lambda tx: sources.text(tx, source_id))

    def original(self, source_id: int) -> bytes:
        """The very bytes that were given."""
        from memoir_engine.store import sources

        source_id = self.get(source_id).id
        return self._read(lambda tx: sources.original(tx, source_id))

    def chunks(self, source_id: int) -> tuple[Chunk, ...]:
        """All chunks in order, with where each is filed now."""
        from memoir_engine.store import chunks

        source_id = self.get(source_id).id
        return self._read(lambda tx: chunks.of_source(tx, source_id))

    def helper(self, source_id: int) -> Helper | None:
        """The contextual helper in force."""
        from memoir_engine.store import sources

        source_id = self.get(source_id).id
        return self._read(lambda tx: sources.helper(tx, source_id))


def _unerased(found: Iterable[Chunk]) -> dict[int, Chunk]:
    return {chunk.id: chunk for chunk in found if chunk.text}


class RunsView(View):
    """The ledger: what was asked of the engine and of the model, and what came back."""

    def list(self, limit: int = 50, verb: str | None = None, before: str | None = None) -> tuple[RunView, ...]:
        """Newest first."""
        from memoir_engine.store import runs

        most, below = given.limit(limit), None if before is None else given.run(before)
        named = None if verb is None else given.text("verb", verb)
        return self._read(lambda tx: runs.recent(tx, limit=most, verb=named, before=below, user=runs_of(self._actor)))

    def get(self, run_id: str, limit: int = 1000) -> RunDetail:
        """The run with its first calls (without their texts), decisions and events; `limit` holds for each of the three."""
        most = given.limit(limit)

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
        from memoir_engine.store import calls

        return self._read(lambda tx: calls.answers(tx, self._mine(tx, run_id).id))

    def call(self, call_id: int) -> Call:
        """One call with the prompt and the reply as they went over the wire. Raises RunNotFound (E711)."""
        from memoir_engine.errors import RunNotFound
        from memoir_engine.store import calls, runs

        def work(tx: Tx) -> Call:
            found = calls.get(tx, given.call(call_id))
            if found is None:
                raise RunNotFound(run_id=f"of call {call_id}")
            runs.get(tx, found.run_id, user=runs_of(self._actor))
            return found

        return self._read(work)

    def query(self, run_id: str) -> QueryResult:
        """A question's result read again from the ledger; while it still runs, what is known so far."""
        from memoir_engine.query.record import as_of_seq, chunk_ids, from_record
        from memoir_engine.store import chunks, tree

        def work(tx: Tx) -> QueryResult:
            detail = self._answered(tx, run_id)
            found = chunks.of_ids(tx, chunk_ids(detail.run.result), at_seq=as_of_seq(detail.run))
            return from_record(detail, _unerased(found), tree.names(tx, at_seq=detail.run.tree_seq))

        return self._read(work)

    def compare(self, one: str, other: str) -> RunComparison:
        """Two questions' runs side by side: what was asked, chosen, read and answered differently."""
        from memoir_engine.errors import InvalidSetting
        from memoir_engine.query.comparing import compare
        from memoir_engine.store import state

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
        from memoir_engine.errors import HelperNeeded, retold
        from memoir_engine.estimating import from_record

        run = self._view(run_id)
        result, waits = run.result, run.status == "waiting_helper"
        error = ErrorReport.of(retold(run.error, run.remedy)) if run.error else None
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
            estimate=from_record(result.get("estimate")),
        )

    def _helper_of(self, run_id: str, source_id: int | None) -> str | None:
        """The contextual helper a source was filed with, if this run filed it; None where it was erased."""
        from memoir_engine.store import sources

        def work(tx: Tx) -> str | None:
            if source_id is None or sources.get(tx, source_id).run_id != run_id:
                return None
            first = [one.text for one in sources.helper_history(tx, source_id) if one.version == 1]
            return first[0] or None if first else None

        return self._read(work)

    def _view(self, run_id: str) -> RunView:
        return self._read(lambda tx: self._mine(tx, run_id))

    def _mine(self, tx: Tx, run_id: str) -> RunView:
        from memoir_engine.store import runs

        return runs.get(tx, given.run(run_id), user=runs_of(self._actor))

    def _page(self, run_id: str, after: int, limit: int, read: Callable[[Tx, str, int, int], tuple[T, ...]]) -> tuple[T, ...]:
        behind, most = given.cursor("after", after), given.limit(limit)
        return self._read(lambda tx: read(tx, self._mine(tx, run_id).id, behind, most))

    def _answered(self, tx: Tx, run_id: str) -> RunDetail:
        """A question whole, replies included: it asks a few calls for each level. Of any other run the first of them."""
        from memoir_engine.store import calls, decisions

        run = self._mine(tx, run_id)
        most = None if run.verb == "query" else SHOWN
        return RunDetail(run, calls.of_run(tx, run_id, texts=True, limit=most), decisions.of_run(tx, run_id, limit=most), ())

    def _calls(self, tx: Tx, run_id: str, after: int, limit: int) -> tuple[Call, ...]:
        from memoir_engine.store import calls

        return calls.of_run(tx, run_id, after=after, limit=limit)

    def _decisions(self, tx: Tx, run_id: str, after: int, limit: int) -> tuple[Decision, ...]:
        from memoir_engine.store import decisions

        return decisions.of_run(tx, run_id, after=after, limit=limit)

    def _events(self, tx: Tx, run_id: str, after: int, limit: int) -> tuple[EventView, ...]:
        from memoir_engine.store import runs
        from memoir_engine.store.openings import with_openings

        events = runs.events(tx, run_id, after=after, limit=limit)
        return with_openings(tx, events, self._engine.runner.openings(run_id))


def cut_off(found: tuple[T, ...], most: int, *, key: str) -> tuple[tuple[T, ...], int | None]:
    """The first `most` of one more than that, and behind which of them to read on; None when there is no more."""
    return (found, None) if len(found) <= most else (found[:most], getattr(found[most - 1], key))


class AuditView(View):
    """The chain: who changed what, when and why, and whether the record was touched."""

    def head(self) -> AuditHead:
        """The last link, to be noted elsewhere."""
        from memoir_engine.store import chain

        return self._read(chain.head)

    def verify(
        self,
        expected_head: str | AuditHead | None = None,
        *,
        links_only: bool = False,
        on_progress: Callable[[float], None] | None = None,
    ) -> AuditCheck:
        """Check the chain, the digests of every row that holds evidence, and that replay gives what stands now.

        expected_head: a head noted elsewhere, which must be in the history. links_only: the chain alone, which is quick.
        on_progress: called with the part of the work that is done, from 0 to 1; some of its steps are long. What it raises ends
        the verification, and is raised.
        Raises InvalidSetting for what is no head.
        """
        from memoir_engine.store.verify import verify

        noted = expected_head.hash if isinstance(expected_head, AuditHead) else expected_head
        expected = None if noted is None else given.head("expected_head", noted)
        told = None if on_progress is None else given.function("on_progress", on_progress)
        only = given.flag("links_only", links_only)
        return verify(self._engine.db, expected_head=expected, links_only=only, progress=told)

    def events(self, limit: int = 100, before: int | None = None, action_id: str | None = None) -> tuple[AuditEvent, ...]:
        """Newest first."""
        from memoir_engine.store import chain

        most, below = given.limit(limit), None if before is None else given.cursor("before", before)
        of = None if action_id is None else given.action(action_id)
        return self._read(lambda tx: chain.events(tx, limit=most, before=below, action_id=of))
