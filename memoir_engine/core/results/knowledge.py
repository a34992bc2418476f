"""Results of add_knowledge, search and reindex: sources known by doc_id, and passages with their scores and places."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from memoir_engine.core.results.documents import Source


@dataclass(frozen=True)
class Knowledge:
    """A source stored by `add_knowledge`: its whole text, and its number of passages."""

    source: Source
    text: str
    passages: int
    run_id: str
    action_id: str

    @property
    def doc_id(self) -> str:
        return self.source.doc_id or ""

    @property
    def source_id(self) -> int:
        return self.source.id

    @property
    def version(self) -> int:
        return self.source.version

    @property
    def corpus(self) -> str:
        """The specification's name of `text`."""
        return self.text

    @property
    def metadata(self) -> dict[str, Any]:
        return self.source.metadata

    @property
    def created_at(self) -> datetime:
        return self.source.created_at


@dataclass(frozen=True)
class Reindexed:
    """Result of reindex. passages: searchable ones of the workspace; vectors: how many have one; made: how many of these now.

    problem: why the vector index is unavailable, None if it is available.
    """

    run_id: str
    passages: int
    vectors: int
    made: int
    embedder: str
    latency_ms: float
    problem: str | None = None


SearchMode = Literal["hybrid", "bm25_only"]


@dataclass(frozen=True)
class SearchResult:
    """A passage. Of a source `start` and `end` are offsets into its text; of a conversation `start` is in the first of
    `message_ids`, `end` in the last.

    score: alpha · score_dense + (1 − alpha) · score_bm25, both in [0, 1] over the candidates of this search; with
    `mode="bm25_only"` it is score_bm25, and `reason` says why. raw_bm25: BM25 itself; of a source's passage half is its own, half
    that of the whole text. raw_dense: the cosine, None where it was not asked or the passage has no vector yet.
    message_ids: numbers of messages within the session. dated: ISO 8601, as precise as it is known.
    embedder: whose vectors were asked, None where none were.
    """

    score: float
    score_bm25: float
    score_dense: float
    raw_bm25: float
    raw_dense: float | None
    passage_id: int
    text: str
    start: int
    end: int
    doc_id: str | None = None
    source_id: int | None = None
    source_name: str | None = None
    session_id: str | None = None
    message_ids: tuple[int, ...] = ()
    kind: str = ""
    dated: str | None = None
    mode: SearchMode = "hybrid"
    reason: str | None = None
    embedder: str | None = None

    @property
    def chunk_id(self) -> int:
        """MEMOLLA's name for the same number."""
        return self.passage_id


@dataclass(frozen=True)
class Searchable:
    """Scope of search. kinds: of sources, and `conversation`. lexical: vector similarity means shared words only."""

    passages: int
    kinds: tuple[str, ...]
    embedder: str
    lexical: bool
