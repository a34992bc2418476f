"""AsyncMemory: the engine as callers see it.

Invariant: verbs that may wait for a model are coroutines and always run on the one background loop, whatever loop awaits them;
reads are plain methods of views. Errors of documented verbs come back in their result; configuration errors are raised.
Source: API; MEMOIR 6; DESIGN §6–7.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from memoir_engine.api.extractor import AsyncRecollects
from memoir_engine.api.jobs import JobsView, begin
from memoir_engine.api.runs import RunsView
from memoir_engine.audit.export import export, import_memory
from memoir_engine.audit.overview import overview, settings, test_call_verb
from memoir_engine.audit.reports import Reports
from memoir_engine.audit.trail import AuditTrail
from memoir_engine.conversations.view import Conversed, SessionsView
from memoir_engine.core import validation
from memoir_engine.core.config import MemoirConfig, resolve
from memoir_engine.core.results import Estimate, Exported, IngestResult, ModelCheck, Overview, QueryResult, SettingView
from memoir_engine.core.run import Actor, Role
from memoir_engine.facts.view import FactsView
from memoir_engine.ingest.helper_view import AsyncHelpers
from memoir_engine.ingest.sources_view import SourcesView
from memoir_engine.ingest.upload import Upload
from memoir_engine.ingest.verb import estimate, ingest_verb, samples_verb
from memoir_engine.query.tree_view import TreeView
from memoir_engine.query.verb import Moment, PerPath, QueryOptions, query_verb, what_if_verb
from memoir_engine.review.split import AsyncReview
from memoir_engine.runtime.engine import Engine, open_engine
from memoir_engine.runtime.runner import OnEvent, Verb, listeners
from memoir_engine.samples import SampleQuestion, questions
from memoir_engine.search.knowledge import AsyncKnowing
from memoir_engine.search.verb import AsyncSearches

T = TypeVar("T")


class AsyncMemory(Conversed, AsyncSearches, AsyncRecollects, AsyncKnowing):
    """Open with settings, or with a MemoirConfig; `close()` (or `async with`) ends its pools and handles."""

    def __init__(
        self,
        config: MemoirConfig | None = None,
        *,
        backend: str = "auto",
        db_path: str | Path | None = None,
        backend_options: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        resolved = resolve(config, backend=backend, db_path=db_path, backend_options=backend_options, **settings)
        self._bind(open_engine(resolved), Actor())

    @classmethod
    def import_(
        cls,
        path: str | Path,
        config: MemoirConfig | None = None,
        *,
        backend: str = "auto",
        db_path: str | Path | None = None,
        backend_options: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Self:
        """Open an empty store with what `export` wrote, on any kind of database: equal by head and state, or refused whole.

        The depth is the file's. Raises ImportRefused, ImportTooNew, StoreNotEmpty, DepthMismatch.
        """
        engine = import_memory(path, config, backend=backend, db_path=db_path, backend_options=backend_options, settings=settings)
        memory = object.__new__(cls)
        memory._bind(engine, Actor())
        return memory

    # --- verbs that may wait for a model -------------------------------------------------------------------------------

    async def ingest_text(
        self,
        text: str,
        *,
        name: str = "text",
        contextual_helper: str | None = None,
        metadata: dict[str, Any] | None = None,
        replaces: int | None = None,
        regenerate: bool = False,
        on_event: OnEvent | None = None,
    ) -> IngestResult:
        """Cut a text, file its chunks, and store all of it or nothing (MEMOIR 6.2).

        replaces: the source of which this is a newer version. regenerate: draw its contextual helper anew.
        """
        upload = self._upload("ingest_text", text, name, contextual_helper, metadata, replaces, regenerate)
        return await self._run(ingest_verb(self._engine, self._actor, upload, listeners(on_event)))

    async def ingest_file(
        self,
        data: bytes,
        *,
        name: str,
        contextual_helper: str | None = None,
        metadata: dict[str, Any] | None = None,
        replaces: int | None = None,
        regenerate: bool = False,
        on_event: OnEvent | None = None,
    ) -> IngestResult:
        """The same for the bytes of a file: text, Markdown, HTML, PDF, DOCX or e-mail, known by content and name."""
        upload = self._upload("ingest_file", data, name, contextual_helper, metadata, replaces, regenerate)
        return await self._run(ingest_verb(self._engine, self._actor, upload, listeners(on_event)))

    async def query(
        self,
        question: str,
        *,
        strategy: str = "wide_branch",
        n: int | None = None,
        n2: int | None = None,
        prompt_limiting_strategy: str | None = None,
        use_rankings: bool | None = None,
        max_token_budget: int | None = None,
        per_path_limit: PerPath = None,
        page_size: int | None = None,
        after: str | None = None,
        sources: Sequence[int] | None = None,
        safety_net: int = 0,
        as_of: Moment | None = None,
        on_event: OnEvent | None = None,
    ) -> QueryResult:
        """Walk the tree with a question and answer from what stands in its leaves (MEMOIR 6.3).

        as_of: what it would have seen at a seq or an aware time: names, filings and helpers of that moment, and nothing later.
        """
        options = QueryOptions(
            strategy,
            n,
            n2,
            prompt_limiting_strategy,
            use_rankings,
            max_token_budget,
            per_path_limit,
            page_size,
            after,
            sources,
            safety_net,
            as_of,
        )
        return await self._run(query_verb(self._engine, self._actor, question, options, listeners(on_event)))

    async def what_if(
        self, run_id: str, decision_id: int, take: Iterable[int], *, on_event: OnEvent | None = None
    ) -> QueryResult:
        """A finished question once more with other options taken at one decision; a run of its own beside the original.

        take: categories that the decision offered, best first. Raises RunNotFound, ChoiceNotOffered.
        """
        return await self._run(what_if_verb(self._engine, self._actor, run_id, decision_id, take, listeners(on_event)))

    async def load_samples(self) -> tuple[IngestResult, ...]:
        """Ingest the sample corpus that comes with Memoir, each document as a run of its own."""
        return await self._run(samples_verb(self._engine, self._actor))

    def sample_questions(self) -> tuple[SampleQuestion, ...]:
        """Questions that the samples answer, each with what to look at."""
        return questions()

    async def test_call(self) -> ModelCheck:
        """One short call to the configured model: does it answer, and how fast."""
        return await self._run(test_call_verb(self._engine))

    # --- verbs that do not --------------------------------------------------------------------------------------------

    def start(self, verb: str, **arguments: Any) -> str:
        """Begin a verb that takes time, with its arguments; the id of its run, to be watched by `jobs`.

        ingest_text, ingest_file, query, what_if, remember, load_samples, reindex; confirm_helper and regenerate_helper of
        `helpers`; propose_split of `review`.
        """
        return begin(self._engine, self._actor, verb, arguments)

    def estimate(self, given: str | bytes, *, name: str = "text") -> Estimate:
        """Calls, tokens and cost of ingesting a text, or a file by its bytes and name, before anything is asked."""
        return estimate(self._engine, given, name)

    def export(self, path: str | Path) -> Exported:
        """Everything that stands here, into one file that `import_` reads; whole, or nothing is written. Needs the role admin.

        Neither keys nor settings are in it. Raises NotAllowed, ExportFailed.
        """
        return export(self._engine, self._actor, path)

    def overview(self) -> Overview:
        return overview(self._engine, self._actor)

    def settings(self) -> tuple[SettingView, ...]:
        """What is in force and where it came from; keys only as "set"."""
        return settings(self._engine)

    def acting_as(self, actor: str, user: str | None = None, roles: Iterable[Role] = ("viewer",)) -> Self:
        """A light view of the same memory for one person; it shares everything and need not be closed."""
        return self._view(validation.actor(actor, user, roles))

    def warm_up(self) -> None:
        """Load in the background what the first question would otherwise wait for."""
        self._engine.client.warm_up()
        self._engine.keeper.later()

    def close(self) -> None:
        """End pools, index handles and, with the last open memory, the background loop. Waits for runs that are under way."""
        self._engine.close()

    async def aclose(self) -> None:
        """The same without keeping the caller's loop waiting."""
        await asyncio.to_thread(self.close)

    @property
    def actor(self) -> Actor:
        """Who acts, with which roles, and whose data it is."""
        return self._actor

    @property
    def config(self) -> MemoirConfig:
        return self._engine.resolved.config

    @property
    def model_name(self) -> str:
        return self._engine.client.name

    @property
    def is_offline(self) -> bool:
        return self._engine.client.is_offline

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # --- what stands behind -------------------------------------------------------------------------------------------

    def _bind(self, engine: Engine, actor: Actor) -> None:
        self._engine, self._actor = engine, actor
        self.sources = SourcesView(engine, actor)
        self.tree = TreeView(engine, actor)
        self.runs = RunsView(engine, actor)
        self.jobs = JobsView(engine, actor)
        self.audit = AuditTrail(engine, actor)
        self.reports = Reports(engine, actor)
        self.sessions = SessionsView(engine, actor)
        self.facts = FactsView(engine, actor)
        self.review = AsyncReview(engine, actor)
        self.helpers = AsyncHelpers(engine, actor)

    def _view(self, actor: Actor) -> Self:
        view = object.__new__(type(self))
        view._bind(self._engine, actor)
        return view

    def _upload(
        self,
        verb: str,
        content: str | bytes,
        name: str,
        helper: str | None,
        metadata: dict[str, Any] | None,
        replaces: int | None,
        regenerate: bool,
    ) -> Upload:
        limit = self.config.max_file_mb
        return Upload.of(verb, content, name, helper, metadata, max_mb=limit, replaces=replaces, regenerate=regenerate)

    async def _run(self, verb: Verb[T]) -> T:
        engine = self._engine
        return await engine.loop.bridge(engine.runner.perform(verb, self._actor), verb=verb.name)
