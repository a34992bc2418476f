"""Memory: the same verbs for callers that wait. Twins of two lines; a test holds the two faces equal.

Invariant: a twin has its verb's very parameters and adds nothing.
Source: API; DESIGN §7.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from memoir_engine.api.extractor import Recollects
from memoir_engine.api.memory import AsyncMemory
from memoir_engine.conversations.view import Conversed
from memoir_engine.core.config import MemoirConfig
from memoir_engine.core.results import (
    Estimate,
    Exported,
    IngestResult,
    ModelCheck,
    Overview,
    QueryResult,
    Searchable,
    SettingView,
)
from memoir_engine.core.run import Actor, Role
from memoir_engine.ingest.helper_view import Helpers
from memoir_engine.query.verb import Moment, PerPath
from memoir_engine.review.split import Review
from memoir_engine.runtime.runner import OnEvent
from memoir_engine.samples import SampleQuestion
from memoir_engine.search.knowledge import Knowing
from memoir_engine.search.verb import Searches

T = TypeVar("T")


class Memory(Conversed, Searches, Recollects, Knowing):
    """Open with settings, or with a MemoirConfig; `close()` (or `with`) ends its pools and handles."""

    def __init__(
        self,
        config: MemoirConfig | None = None,
        *,
        backend: str = "auto",
        db_path: str | Path | None = None,
        backend_options: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self._bind(AsyncMemory(config, backend=backend, db_path=db_path, backend_options=backend_options, **settings))

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
        opened = AsyncMemory.import_(path, config, backend=backend, db_path=db_path, backend_options=backend_options, **settings)
        memory = object.__new__(cls)
        memory._bind(opened)
        return memory

    def ingest_text(
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
        given = self._async.ingest_text(
            text,
            name=name,
            contextual_helper=contextual_helper,
            metadata=metadata,
            replaces=replaces,
            regenerate=regenerate,
            on_event=on_event,
        )
        return self._wait("ingest_text", given)

    def ingest_file(
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
        given = self._async.ingest_file(
            data,
            name=name,
            contextual_helper=contextual_helper,
            metadata=metadata,
            replaces=replaces,
            regenerate=regenerate,
            on_event=on_event,
        )
        return self._wait("ingest_file", given)

    def query(
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
        given = self._async.query(
            question,
            strategy=strategy,
            n=n,
            n2=n2,
            prompt_limiting_strategy=prompt_limiting_strategy,
            use_rankings=use_rankings,
            max_token_budget=max_token_budget,
            per_path_limit=per_path_limit,
            page_size=page_size,
            after=after,
            sources=sources,
            safety_net=safety_net,
            as_of=as_of,
            on_event=on_event,
        )
        return self._wait("query", given)

    def searchable(self) -> Searchable:
        """What there is to be searched, and by which embedder."""
        return self._async.searchable()

    def what_if(self, run_id: str, decision_id: int, take: Iterable[int], *, on_event: OnEvent | None = None) -> QueryResult:
        """A finished question once more with other options taken at one decision; a run of its own beside the original.

        take: categories that the decision offered, best first. Raises RunNotFound, ChoiceNotOffered.
        """
        return self._wait("what_if", self._async.what_if(run_id, decision_id, take, on_event=on_event))

    def load_samples(self) -> tuple[IngestResult, ...]:
        """Ingest the sample corpus that comes with Memoir, each document as a run of its own."""
        return self._wait("load_samples", self._async.load_samples())

    def sample_questions(self) -> tuple[SampleQuestion, ...]:
        """Questions that the samples answer, each with what to look at."""
        return self._async.sample_questions()

    def test_call(self) -> ModelCheck:
        """One short call to the configured model: does it answer, and how fast."""
        return self._wait("test_call", self._async.test_call())

    def start(self, verb: str, **arguments: Any) -> str:
        """Begin a verb that takes time, with its arguments; the id of its run, to be watched by `jobs`.

        ingest_text, ingest_file, query, what_if, remember, load_samples, reindex; confirm_helper and regenerate_helper of
        `helpers`; propose_split of `review`.
        """
        return self._async.start(verb, **arguments)

    def estimate(self, given: str | bytes, *, name: str = "text") -> Estimate:
        """Calls, tokens and cost of ingesting a text, or a file by its bytes and name, before anything is asked."""
        return self._async.estimate(given, name=name)

    def export(self, path: str | Path) -> Exported:
        """Everything that stands here, into one file that `import_` reads; whole, or nothing is written. Needs the role admin.

        Neither keys nor settings are in it. Raises NotAllowed, ExportFailed.
        """
        return self._async.export(path)

    def overview(self) -> Overview:
        return self._async.overview()

    def settings(self) -> tuple[SettingView, ...]:
        """What is in force and where it came from; keys only as "set"."""
        return self._async.settings()

    def acting_as(self, actor: str, user: str | None = None, roles: Iterable[Role] = ("viewer",)) -> Self:
        """A light view of the same memory for one person; it shares everything and need not be closed."""
        return self._view(self._async.acting_as(actor, user, roles))

    def warm_up(self) -> None:
        """Load in the background what the first question would otherwise wait for."""
        self._async.warm_up()

    def close(self) -> None:
        """End pools, index handles and, with the last open memory, the background loop."""
        self._async.close()

    @property
    def actor(self) -> Actor:
        """Who acts, with which roles, and whose data it is."""
        return self._async.actor

    @property
    def config(self) -> MemoirConfig:
        return self._async.config

    @property
    def model_name(self) -> str:
        return self._async.model_name

    @property
    def is_offline(self) -> bool:
        return self._async.is_offline

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _bind(self, engine: AsyncMemory) -> None:
        self._async = engine
        self.sources, self.tree = engine.sources, engine.tree
        self.runs, self.jobs = engine.runs, engine.jobs
        self.audit, self.reports, self.sessions = engine.audit, engine.reports, engine.sessions
        self.facts = engine.facts
        self.review = Review(engine._engine, engine._actor)
        self.helpers = Helpers(engine._engine, engine._actor)

    def _view(self, engine: AsyncMemory) -> Self:
        view = object.__new__(type(self))
        view._bind(engine)
        return view

    def _wait(self, verb: str, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._async._engine.loop.wait(coroutine, verb=verb)
