"""What a question has found so far; becomes its result, whether it ended well or not.

Invariant: everything the result shows was added here as it happened, so an error keeps what was considered and dropped.
Source: MEMOIR 4.4–4.7, 9.B2.4, 9.F.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memoir_engine.errors import MemoirError
from memoir_engine.prompts.select import Selected
from memoir_engine.query.asked import Answered
from memoir_engine.query.condensing import Compression, Condensed
from memoir_engine.results import (
    Chunk,
    ChunkSummary,
    Decision,
    DroppedPath,
    ErrorReport,
    PathChoice,
    QueryResult,
    Response,
    UsedChunk,
)


@dataclass
class Progress:
    run_id: str
    question: str
    answer: str = ""
    chunks: tuple[Chunk, ...] = ()
    used: tuple[UsedChunk, ...] = ()
    dropped: list[DroppedPath] = field(default_factory=list)
    paths: tuple[PathChoice, ...] = ()
    responses: list[Response] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    net: tuple[Chunk, ...] = ()
    left_out: int = 0
    retrieval_ms: float = 0.0
    deterministic: bool = True
    after: str | None = None
    warnings: list[str] = field(default_factory=list)
    compression: Compression | None = None  # SUMMARIZE: the ratio and each chunk's target
    summaries: dict[int, Condensed] = field(default_factory=dict)
    as_of_seq: int | None = None

    def heard(self, purpose: str, answer: Answered, picked: Sequence[Selected] = ()) -> None:
        """Note a call that ended (MEMOIR 4.4), in call order."""
        self.deterministic &= answer.deterministic
        output = tuple({"category": each.name, "ranked_relevance": each.rank} for each in picked)
        self.responses.append(
            Response(
                purpose,
                output,
                answer.timestamp,
                round(answer.latency_ms, 3),
                answer.model,
                answer.tokens_prompt,
                answer.tokens_completion,
                answer.call_id,
                answer.cost,
            )
        )

    def result(self, *, wall_ms: float, error: MemoirError | None = None) -> QueryResult:
        """Latencies as exact as the ledger has them, so that the run read again is equal."""
        retrieval_ms = round(self.retrieval_ms, 3)
        return QueryResult(
            status="success" if error is None else "error",
            run_id=self.run_id,
            question=self.question,
            answer=self.answer,
            chunks=self.chunks,
            used_chunks=self.used,
            dropped_paths=tuple(self.dropped),
            paths=self.paths,
            responses=tuple(self.responses),
            decisions=tuple(self.decisions),
            net=self.net,
            left_out=self.left_out,
            retrieval_ms=retrieval_ms,
            total_latency_ms=sum(response.latency_ms for response in self.responses) + retrieval_ms,
            wall_ms=round(wall_ms, 3),
            deterministic=self.deterministic,
            after=self.after,
            warnings=tuple(self.warnings),
            compression_ratio=None if self.compression is None else self.compression.ratio,
            summaries=self._summaries(),
            as_of_seq=self.as_of_seq,
            error=None if error is None else ErrorReport.of(error),
        )

    def _summaries(self) -> tuple[ChunkSummary, ...]:
        if not self.summaries:
            return ()
        targets = {} if self.compression is None else self.compression.targets
        chars = {chunk.id: len(chunk.text) for chunk in self.chunks}
        return tuple(
            ChunkSummary(key, chars.get(key, 0), targets.get(key, 0), each.text, each.call_id)
            for key, each in self.summaries.items()
        )
