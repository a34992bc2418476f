"""Two results of questions compared, choice by choice. Pure.

Source: MEMOIR 8; DESIGN §9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memoir_engine.core.errors import MemoirError, restore_error
from memoir_engine.core.results import (
    Call,
    Chunk,
    ChunkSummary,
    ComparedChoice,
    ComparedOption,
    ComparedSetting,
    Decision,
    DroppedPath,
    ErrorReport,
    Option,
    PathChoice,
    QueryResult,
    Response,
    RunComparison,
    RunDetail,
    RunView,
    UsedChunk,
)
from memoir_engine.models.output_mode import decode
from memoir_engine.prompts import answer, condense
from memoir_engine.prompts.select import SelectedCategory
from memoir_engine.query.budget import Compression, Condensed
from memoir_engine.runtime.model import QuestionReply

# === progress: What a question has found so far; becomes its result, whether it ended well or not.
#
# Invariant: everything the result shows was added here as it happened, so an error keeps what was considered and dropped.
# Source: MEMOIR 4.4–4.7, 9.B2.4, 9.F.


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

    def heard(self, purpose: str, answer: QuestionReply, picked: Sequence[SelectedCategory] = ()) -> None:
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


# === record: A query's result as ids and numbers, kept with its run, and back again.
#
# Invariant: texts are not kept twice: answer and summaries are in the replies of their calls, chunks are rows, decisions
# and calls
# the ledger's.
# Source: DESIGN §5 ("no text stands outside …"), §9 ("a run with an address of its own").


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
        error=ErrorReport.of(restore_error(run.error, run.remedy)) if run.error else None,
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
            return answer.Reply.model_validate(decode(call.reply)).answer
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


# === comparing


NOT_SETTINGS = {"what_if", "as_of"}  # told by the choices, and by the trees that were walked
Key = tuple[int, int]  # level, parent


def compare(runs: tuple[RunView, RunView], results: tuple[QueryResult, QueryResult], *, tree_changed: bool) -> RunComparison:
    one, other = results
    leaves, read = [_leaves(result.paths) for result in results], [_ids(result.chunks) for result in results]
    return RunComparison(
        one=one,
        other=other,
        settings=_settings(runs, results),
        choices=_choices(one.decisions, other.decisions),
        paths_both=tuple(path for leaf, path in leaves[0].items() if leaf in leaves[1]),
        paths_one=tuple(path for leaf, path in leaves[0].items() if leaf not in leaves[1]),
        paths_other=tuple(path for leaf, path in leaves[1].items() if leaf not in leaves[0]),
        both=tuple(key for key in read[0] if key in read[1]),
        only_one=tuple(key for key in read[0] if key not in read[1]),
        only_other=tuple(key for key in read[1] if key not in read[0]),
        same_answer=one.answer == other.answer,
        tree_changed=tree_changed,
    )


def _leaves(paths: Sequence[PathChoice]) -> dict[int, PathChoice]:
    return {path.category_ids[-1]: path for path in paths}


def _ids(chunks: Sequence[Chunk]) -> dict[int, None]:
    return dict.fromkeys(chunk.id for chunk in chunks)


def _settings(runs: tuple[RunView, RunView], results: tuple[QueryResult, QueryResult]) -> tuple[ComparedSetting, ...]:
    told = [_told(run, result) for run, result in zip(runs, results, strict=True)]
    names = dict.fromkeys([*told[0], *told[1]])
    pairs = [(name, told[0].get(name, "–"), told[1].get(name, "–")) for name in names]
    return tuple(ComparedSetting(*pair) for pair in pairs if pair[1] != pair[2])


def _told(run: RunView, result: QueryResult) -> dict[str, str]:
    """What may differ: what was asked for, and who answered."""
    asked = {name: str(value) for name, value in run.request.items() if name not in NOT_SETTINGS}
    models = dict.fromkeys(response.model for response in result.responses)
    return {**asked, "model": ", ".join(models) or "–"}


def _choices(one: Sequence[Decision], other: Sequence[Decision]) -> tuple[ComparedChoice, ...]:
    sides = _by_place(one), _by_place(other)
    places = sorted({*sides[0], *sides[1]}, key=lambda place: (place[0], _order(place, sides)))
    return tuple(_choice(sides[0].get(place), sides[1].get(place)) for place in places)


def _by_place(decisions: Sequence[Decision]) -> dict[Key, Decision]:
    return {(decision.level, decision.parent_id or 0): decision for decision in decisions}


def _order(place: Key, sides: tuple[dict[Key, Decision], dict[Key, Decision]]) -> tuple[int, int]:
    """As the one walked; what only the other walked comes behind."""
    for number, side in enumerate(sides):
        if place in side:
            return number, list(side).index(place)
    return len(sides), 0


def _choice(one: Decision | None, other: Decision | None) -> ComparedChoice:
    known = one or other
    assert known is not None
    offered = tuple({option.category_id: option for option in side.options} if side else {} for side in (one, other))
    ids = dict.fromkeys([*offered[0], *offered[1]])
    options = [_option(offered[0].get(key), offered[1].get(key)) for key in ids]
    return ComparedChoice(
        known.level,
        known.parent_id,
        known.parent_path,
        tuple(sorted(options, key=_best_first)),
        (one is not None, other is not None),
    )


def _option(one: Option | None, other: Option | None) -> ComparedOption:
    known = one or other
    assert known is not None
    return ComparedOption(
        known.category_id,
        known.name,
        one.rank if one else None,
        other.rank if other else None,
        (one is not None, other is not None),
        known.opinion,
    )


def _best_first(option: ComparedOption) -> tuple[int, float, int]:
    return -max(option.one or 0, option.other or 0), -(option.opinion or 0.0), option.category_id
