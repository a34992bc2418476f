"""The views that only read: sources, the tree, runs, the audit.

Invariant: plain SQL reads, the same objects on both faces of the facade; nothing here waits for a model or decides anything.
A row of another user answers exactly like a missing one: the actor's user goes into every read that can tell them apart.
Source: API; DESIGN §6 "Who and whose", §7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from memoir_engine import given
from memoir_engine.results import (
    Action,
    AuditCheck,
    AuditEvent,
    AuditHead,
    Call,
    Category,
    Chunk,
    ChunkPage,
    Decision,
    ErrorReport,
    EventView,
    Helper,
    IngestResult,
    QueryResult,
    RunDetail,
    RunView,
    Source,
)
from memoir_engine.run import Actor
from memoir_engine.wiring import Engine

if TYPE_CHECKING:
    from memoir_engine.store.types import Tx

T = TypeVar("T")


class View:
    """A part of the facade: the engine, and who looks."""

    def __init__(self, engine: Engine, actor: Actor) -> None:
        self._engine = engine
        self._actor = actor

    def _read(self, work: Callable[[Tx], T]) -> T:
        return self._engine.db.read(work)


class SourcesView(View):
    """What was uploaded or pasted."""

    def list(self, limit: int = 200) -> tuple[Source, ...]:
        """Newest first."""
        from memoir_engine.store import sources

        return self._read(lambda tx: sources.recent(tx, limit=limit))

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


class TreeView(View):
    """The category tree as it stands."""

    def roots(self) -> tuple[Category, ...]:
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.roots(tx))

    def children(self, category_id: int) -> tuple[Category, ...]:
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.children(tx, given.category(category_id)))

    def node(self, category_id: int) -> Category:
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.node(tx, given.category(category_id)))

    def path(self, category_id: int) -> tuple[Category, ...]:
        """From level 1 down to the category itself."""
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.path(tx, given.category(category_id)))

    def all(self) -> tuple[Category, ...]:
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.all_categories(tx))

    def search(self, text: str, limit: int = 20) -> tuple[Category, ...]:
        """Categories whose name holds the text."""
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.search(tx, given.text("text", text), limit=limit))

    def search_paths(self, text: str, limit: int = 20, *, leaves_only: bool = False) -> tuple[Category, ...]:
        """Categories whose path holds every word of the text; those whose own name does come first."""
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.search_paths(tx, text, limit=limit, leaves_only=leaves_only))

    def chunks(self, category_id: int, after: str | None = None, limit: int = 50) -> ChunkPage:
        """A page of a leaf's chunks, by creation, then id."""
        from memoir_engine.store import chunks

        return self._read(lambda tx: chunks.page(tx, given.category(category_id), after=after, limit=limit))

    def chunk(self, chunk_id: int) -> Chunk:
        from memoir_engine.store import chunks

        return self._read(lambda tx: chunks.get(tx, given.chunk(chunk_id)))

    def decisions(self, chunk_id: int) -> tuple[Decision, ...]:
        """The decisions that put a chunk where it is, level by level."""
        from memoir_engine.store import decisions

        return self._read(lambda tx: decisions.of_chunk(tx, given.chunk(chunk_id)))


class RunsView(View):
    """The ledger: what was asked of the engine and of the model, and what came back."""

    def list(self, limit: int = 50, verb: str | None = None, before: str | None = None) -> tuple[RunView, ...]:
        """Newest first."""
        from memoir_engine.store import runs

        return self._read(lambda tx: runs.recent(tx, limit=limit, verb=verb, before=before, user=self._actor.user))

    def get(self, run_id: str) -> RunDetail:
        """The run with its calls (without their texts), decisions and events."""
        return self._read(lambda tx: self._detail(tx, run_id, texts=False))

    def events(self, run_id: str, after: int = 0, limit: int = 1000) -> tuple[EventView, ...]:
        """The run's events behind number `after`."""
        from memoir_engine.store import runs

        def work(tx: Tx) -> tuple[EventView, ...]:
            runs.get(tx, given.run(run_id), user=self._actor.user)
            return runs.events(tx, run_id, after=after, limit=limit)

        return self._read(work)

    def call(self, call_id: int) -> Call:
        """One call with the prompt and the reply as they went over the wire. Raises RunNotFound (E711)."""
        from memoir_engine.errors import RunNotFound
        from memoir_engine.store import calls, runs

        def work(tx: Tx) -> Call:
            found = calls.get(tx, given.call(call_id))
            if found is None:
                raise RunNotFound(run_id=f"of call {call_id}")
            runs.get(tx, found.run_id, user=self._actor.user)
            return found

        return self._read(work)

    def query(self, run_id: str) -> QueryResult:
        """A question's result read again from the ledger; while it still runs, what is known so far."""
        from memoir_engine.query.record import chunk_ids, from_record
        from memoir_engine.store import chunks, tree

        def work(tx: Tx) -> QueryResult:
            detail = self._detail(tx, run_id, texts=True)
            found = chunks.of_ids(tx, chunk_ids(detail.run.result))
            return from_record(detail, {chunk.id: chunk for chunk in found}, tree.names(tx, at_seq=detail.run.tree_seq))

        return self._read(work)

    def ingest(self, run_id: str) -> IngestResult:
        """An ingestion's result read again from the ledger."""
        from memoir_engine.errors import HelperNeeded, retold
        from memoir_engine.estimating import from_record

        run = self.get(run_id).run
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
            calls=result.get("calls", 0),
            latency_ms=result.get("latency_ms", 0.0),
            warnings=tuple(result.get("warnings", ())),
            action_id=result.get("action_id"),
            error=error,
            draft=run_id if waits else None,
            estimate=from_record(result.get("estimate")),
        )

    def _detail(self, tx: Tx, run_id: str, *, texts: bool) -> RunDetail:
        from memoir_engine.store import calls, decisions, runs

        run = runs.get(tx, given.run(run_id), user=self._actor.user)
        return RunDetail(
            run, calls.of_run(tx, run_id, texts=texts), decisions.of_run(tx, run_id), runs.events(tx, run_id, limit=100_000)
        )


class AuditView(View):
    """The chain: who changed what, when and why, and whether the record was touched."""

    def head(self) -> AuditHead:
        """The last link, to be noted elsewhere."""
        from memoir_engine.store import chain

        return self._read(chain.head)

    def verify(self, expected_head: str | None = None, *, links_only: bool = False) -> AuditCheck:
        """Check the chain, the digests of every row that holds evidence, and that replay gives what stands now.

        expected_head: a head noted elsewhere, which must be in the history. links_only: the chain alone, which is quick.
        """
        from memoir_engine.store.verify import verify

        return verify(self._engine.db, expected_head=expected_head, links_only=links_only)

    def events(self, limit: int = 100, before: int | None = None, action_id: str | None = None) -> tuple[AuditEvent, ...]:
        """Newest first."""
        from memoir_engine.store import chain

        return self._read(lambda tx: chain.events(tx, limit=limit, before=before, action_id=action_id))

    def actions(self, limit: int = 50, before: str | None = None) -> tuple[Action, ...]:
        """Newest first, without their events."""
        from memoir_engine.store import chain

        return self._read(lambda tx: chain.actions(tx, limit=limit, before=before))
