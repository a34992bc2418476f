"""A query's result as ids and numbers, kept with its run, and back again.

Invariant: texts are not kept twice: answer and summaries are in the replies of their calls, chunks are rows, decisions and calls
the ledger's.
Source: DESIGN §5 ("no text stands outside …"), §9 ("a run with an address of its own").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memoir_engine.errors import retold
from memoir_engine.llm.forms import decode
from memoir_engine.prompts import answer as prompt
from memoir_engine.prompts import condense
from memoir_engine.results import (
    Call,
    Chunk,
    ChunkSummary,
    Decision,
    DroppedPath,
    ErrorReport,
    PathChoice,
    QueryResult,
    Response,
    RunDetail,
    RunView,
    UsedChunk,
)


def to_record(result: QueryResult) -> dict[str, Any]:
    return {
        "chunks": [[chunk.id, chunk.category_id, chunk.ranked_relevance] for chunk in result.chunks],
        "used": [[used.chunk_id, used.number, [list(quote) for quote in used.quotes], used.cited] for used in result.used_chunks],
        "paths": [[list(path.category_ids), list(path.ranks)] for path in result.paths],
        "dropped": [[list(path.category_ids), path.reason, path.chunks] for path in result.dropped_paths],
        "net": [chunk.id for chunk in result.net],
        "left_out": result.left_out,
        "retrieval_ms": result.retrieval_ms,
        "wall_ms": result.wall_ms,
        "deterministic": result.deterministic,
        "after": result.after,
        "warnings": list(result.warnings),
        "calls": [response.call_id for response in result.responses],
        "ratio": result.compression_ratio,
        "summaries": [[each.chunk_id, each.chars, each.target, each.call_id] for each in result.summaries],
    }


def as_of_seq(run: RunView) -> int | None:
    """The moment a question was about; None where it was about the memory as it stood, or has not come so far."""
    return None if run.request.get("as_of") is None else run.tree_seq


def chunk_ids(record: Mapping[str, Any]) -> list[int]:
    """Every chunk the record names: they are to be read again."""
    return list(dict.fromkeys([*(row[0] for row in record.get("chunks", ())), *record.get("net", ())]))


def from_record(detail: RunDetail, chunks: Mapping[int, Chunk], names: Mapping[int, str]) -> QueryResult:
    """The result of a run as it was, or as far as it has come.

    chunks: by id, as rows; one that was erased is missing and left out. names: of the categories as they were.
    detail.calls: with their replies.
    """
    run, record = detail.run, detail.run.result
    paths = tuple(PathChoice(tuple(ids), _names(ids, names), tuple(ranks)) for ids, ranks in record.get("paths", ()))
    by_leaf = {path.category_ids[-1]: path.names for path in paths if path.category_ids}
    responses = tuple(_response(calls, detail.decisions) for calls in _asked(detail.calls, record.get("calls", ())))
    return QueryResult(
        status="error" if run.error else "success",
        run_id=run.id,
        question=str(run.request.get("question", "")),
        answer=_answer(detail.calls),
        chunks=tuple(_read(row, chunks, by_leaf) for row in record.get("chunks", ()) if row[0] in chunks),
        used_chunks=tuple(_used(row, chunks, record, by_leaf) for row in record.get("used", ()) if row[0] in chunks),
        dropped_paths=tuple(
            DroppedPath(_names(ids, names), tuple(ids), reason, count) for ids, reason, count in record.get("dropped", ())
        ),
        paths=paths,
        responses=responses,
        decisions=detail.decisions,
        net=tuple(chunks[key] for key in record.get("net", ()) if key in chunks),
        left_out=record.get("left_out", 0),
        retrieval_ms=record.get("retrieval_ms", 0.0),
        total_latency_ms=sum(r.latency_ms for r in responses) + record.get("retrieval_ms", 0.0),
        wall_ms=record.get("wall_ms", 0.0),
        deterministic=record.get("deterministic", True),
        after=record.get("after"),
        warnings=tuple(record.get("warnings", ())),
        compression_ratio=record.get("ratio"),
        summaries=_summaries(record.get("summaries", ()), detail.calls),
        as_of_seq=as_of_seq(run),
        error=ErrorReport.of(retold(run.error, run.remedy)) if run.error else None,
    )


def _names(ids: Sequence[int], names: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(names.get(category, "?") for category in ids)


def _read(row: Sequence[Any], chunks: Mapping[int, Chunk], by_leaf: Mapping[int, tuple[str, ...]]) -> Chunk:
    key, category, rank = row
    return replace(chunks[key], category_id=category, category_path=by_leaf.get(category, ()), ranked_relevance=rank)


def _used(
    row: Sequence[Any], chunks: Mapping[int, Chunk], record: Mapping[str, Any], by_leaf: Mapping[int, tuple[str, ...]]
) -> UsedChunk:
    key, number, quotes, cited = row
    chunk = chunks[key]
    leaf = next((category for chunk_id, category, _ in record["chunks"] if chunk_id == key), None)
    path = by_leaf.get(leaf, ()) if leaf is not None else ()
    spans = tuple((start, end) for start, end in quotes)
    return UsedChunk(key, path, number, chunk.source_id, chunk.start, chunk.end, spans, cited)


def _answer(calls: Sequence[Call]) -> str:
    for call in reversed(calls):
        if call.purpose == "answer" and call.error is None and call.reply:
            return prompt.Reply.model_validate(decode(call.reply)).answer
    return ""


def _summaries(rows: Sequence[Sequence[Any]], calls: Sequence[Call]) -> tuple[ChunkSummary, ...]:
    """With the texts of the replies they stand in; one whose reply was erased is left out."""
    given = [call for call in calls if call.purpose == "condense" and call.error is None and call.reply]
    replies = {call.id: condense.texts(decode(call.reply or "")) for call in given}
    return tuple(
        ChunkSummary(chunk, chars, target, replies[call][chunk], call)
        for chunk, chars, target, call in rows
        if chunk in replies.get(call, {})
    )


def _asked(calls: Sequence[Call], order: Sequence[int]) -> list[list[Call]]:
    """The attempts of each answer that came back, in the `order` of the calls that brought them, as far as it is known.

    Several may be asked at the same time (width_scope="path"), so attempts belong together by what they asked.
    """
    open_: dict[str, list[Call]] = {}
    asked: list[list[Call]] = []
    for call in calls:
        open_.setdefault(call.fingerprint, []).append(call)
        if call.error is None:
            asked.append(open_.pop(call.fingerprint))
    place = {call_id: n for n, call_id in enumerate(order)}
    return sorted(asked, key=lambda attempts: place.get(attempts[-1].id, len(place)))


def _response(attempts: Sequence[Call], decisions: Sequence[Decision]) -> Response:
    call = attempts[-1]
    chosen = [option for one in decisions if one.call_id == call.id for option in one.options if option.rank is not None]
    best_first = sorted(chosen, key=lambda option: -(option.rank or 0))
    return Response(
        purpose=call.purpose,
        llm_output=tuple({"category": option.name, "ranked_relevance": option.rank} for option in best_first),
        timestamp=attempts[0].started_at,
        latency_ms=round(sum(attempt.latency_ms for attempt in attempts), 3),
        model=call.model,
        tokens_prompt=sum(attempt.tokens_prompt for attempt in attempts),
        tokens_completion=sum(attempt.tokens_completion for attempt in attempts),
        call_id=call.id,
        cost=None if call.cost is None else sum(attempt.cost or 0.0 for attempt in attempts),
    )
