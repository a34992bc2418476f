"""What a question has found so far; becomes its result, whether it ended well or not.

Invariant: everything the result shows was added here as it happened, so an error keeps what was considered and dropped.
Source: MEMOIR 4.4–4.7, 9.B2.4, 9.F.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from memoir_engine.errors import MemoirError
from memoir_engine.results import Chunk, Decision, DroppedPath, ErrorReport, PathChoice, QueryResult, Response, UsedChunk


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

    def result(self, *, wall_ms: float, error: MemoirError | None = None) -> QueryResult:
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
            retrieval_ms=self.retrieval_ms,
            total_latency_ms=sum(response.latency_ms for response in self.responses) + self.retrieval_ms,
            wall_ms=wall_ms,
            deterministic=self.deterministic,
            after=self.after,
            warnings=tuple(self.warnings),
            error=None if error is None else ErrorReport.of(error),
        )
