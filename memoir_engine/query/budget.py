"""Fit chunks into a token budget by shortening each in proportion; no path is dropped.

Invariant: every chunk keeps its place; a summary is asked again alone only where it is over its target or missing.
Source: MEMOIR 9.B3, 9.7–9.9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor

from memoir_engine.core.errors import BudgetTooSmall, NoRoomForContent, SummariesTooLong, SummaryMissing
from memoir_engine.core.results import Chunk, PathChoice
from memoir_engine.prompts import condense
from memoir_engine.runtime.model import AskQuestion, QuestionReply

# === budget: Fit chunks into a token budget by dropping whole paths.
#
# Invariant: kept + dropped == the paths given; the order of what is kept never changes. Pure: no model, no clock.
# Source: MEMOIR 9.B1–9.B2, 9.3–9.6.


@dataclass(frozen=True)
class PathReading:
    """A path with the chunks read from its leaf, in reading order."""

    path: PathChoice
    chunks: tuple[Chunk, ...]

    @property
    def tokens(self) -> int:
        return sum(chunk.tokens for chunk in self.chunks)


@dataclass(frozen=True)
class Size:
    """What a final prompt takes, fixed text and chunks apart (MEMOIR 9.B1)."""

    fixed_tokens: int
    chunk_tokens: int
    fixed_chars: int
    chunk_chars: int

    @property
    def tokens(self) -> int:
        return self.fixed_tokens + self.chunk_tokens


@dataclass(frozen=True)
class PrunedPaths:
    kept: tuple[PathReading, ...]
    dropped: tuple[PathReading, ...]  # in the order they were dropped


def estimate(readings: Sequence[PathReading], *, fixed_text: str, fixed_tokens: int) -> Size:
    """Tokens and characters of the fixed text and of all candidate chunks."""
    chunks = [chunk for reading in readings for chunk in reading.chunks]
    return Size(fixed_tokens, sum(chunk.tokens for chunk in chunks), len(fixed_text), sum(len(chunk.text) for chunk in chunks))


def prune(readings: Sequence[PathReading], budget: int, *, fixed_tokens: int) -> PrunedPaths:
    """Drop paths from the end until the estimate fits.

    readings: best first, in the order of `traverse.reading_order`; that order is what `use_rankings` decides.
    budget: max_token_budget, the whole of the final prompt.
    Raises BudgetTooSmall (E303) when not even one path fits.
    """
    kept, dropped = list(readings), []
    while kept and fixed_tokens + sum(reading.tokens for reading in kept) > budget:
        dropped.append(kept.pop())
    if not kept:
        raise BudgetTooSmall(fixed=fixed_tokens, budget=budget, needed=readings[0].tokens if readings else 0)
    return PrunedPaths(tuple(kept), tuple(dropped))


def drop_last(pruned: PrunedPaths, *, fixed_tokens: int, budget: int) -> PrunedPaths:
    """One more path dropped, when the recount of the final prompt is still above the budget."""
    if len(pruned.kept) <= 1:
        raise BudgetTooSmall(fixed=fixed_tokens, budget=budget, needed=pruned.kept[0].tokens if pruned.kept else 0)
    return PrunedPaths(pruned.kept[:-1], (*pruned.dropped, pruned.kept[-1]))


def limit_per_path(readings: Sequence[PathReading], limit: int | None) -> tuple[tuple[PathReading, ...], int]:
    """At most `limit` chunks of each path, the first by order; and how many were left out."""
    if limit is None:
        return tuple(readings), 0
    limited = tuple(PathReading(reading.path, reading.chunks[:limit]) for reading in readings)
    return limited, sum(len(reading.chunks) for reading in readings) - sum(len(reading.chunks) for reading in limited)


def nearest_per_path(
    readings: Sequence[PathReading], limit: int, nearness: Mapping[int, float]
) -> tuple[tuple[PathReading, ...], int]:
    """At most `limit` chunks of each path, the nearest to the question; the order of reading stays (DESIGN §9 "Big leaves")."""
    limited = tuple(PathReading(reading.path, _nearest(reading.chunks, limit, nearness)) for reading in readings)
    return limited, sum(len(reading.chunks) for reading in readings) - sum(len(reading.chunks) for reading in limited)


def automatic_limit(readings: Sequence[PathReading], budget: int, *, fixed_tokens: int, chunk_max_tokens: int) -> int:
    """The chunks a path may bring so that every path fits; at least one."""
    return max(1, (budget - fixed_tokens) // (chunk_max_tokens * max(1, len(readings))))


def _nearest(chunks: tuple[Chunk, ...], limit: int, nearness: Mapping[int, float]) -> tuple[Chunk, ...]:
    if len(chunks) <= limit:
        return chunks
    best = sorted(chunks, key=lambda chunk: (-nearness.get(chunk.id, 0.0), chunk.created_at, chunk.id))[:limit]
    chosen = {chunk.id for chunk in best}
    return tuple(chunk for chunk in chunks if chunk.id in chosen)


# === condensing


Count = Callable[[str], int]


@dataclass(frozen=True)
class Compression:
    """`ratio` is computed from tokens and applied to characters (MEMOIR 9.B3.3). targets: characters, by chunk id."""

    ratio: float
    targets: Mapping[int, int]


@dataclass(frozen=True)
class Condensed:
    """A summary and the call whose reply it stands in."""

    text: str
    call_id: int


def compression(chunks: Sequence[Chunk], budget: int, *, fixed_tokens: int) -> Compression | None:
    """None when nothing needs shortening. Raises NoRoomForContent (E309) when not even one token is left."""
    total = sum(chunk.tokens for chunk in chunks)
    if fixed_tokens + total <= budget:
        return None
    ratio = (budget - fixed_tokens) / total
    if ratio <= 0:
        raise NoRoomForContent(fixed=fixed_tokens, budget=budget)
    return Compression(ratio, {chunk.id: max(1, floor(len(chunk.text) * ratio)) for chunk in chunks})


def split_parts(pieces: Sequence[condense.CondenseChunk], cap: int, count: Count) -> list[condense.Part]:
    """In order, each part's input within `cap` tokens; a part holds at least one chunk (MEMOIR 9.B3.4)."""
    preface = count(condense.preface())
    made: list[list[condense.CondenseChunk]] = []
    used = 0
    for piece in pieces:
        tokens = count(condense.chunk_text(piece))
        if not made or used + tokens > cap:
            made.append([])
            used = preface
        made[-1].append(piece)
        used += tokens
    return [condense.Part(tuple(each)) for each in made]


async def summarise(
    chunks: Sequence[Chunk],
    wanted: Compression,
    ask: AskQuestion,
    *,
    cap: int,
    retries: int,
    tolerance_percent: float,
    count: Count,
    heard: Callable[[QuestionReply], None],
) -> dict[int, Condensed]:
    """A summary of every chunk, by id. `heard` is told of each call.

    Raises SummaryMissing (E310), SummariesTooLong (E308).
    """
    pieces = [condense.CondenseChunk(chunk.id, chunk.text, wanted.targets[chunk.id]) for chunk in chunks]
    summaries: dict[int, Condensed] = {}
    for part in split_parts(pieces, cap, count):
        summaries |= await _part(part, ask, retries=retries, heard=heard)
    _check_combined(chunks, summaries, wanted, tolerance_percent)
    return summaries


async def _part(
    part: condense.Part, ask: AskQuestion, *, retries: int, heard: Callable[[QuestionReply], None]
) -> dict[int, Condensed]:
    """What is over its target after all retries stays as it is: the combined check decides."""
    summaries: dict[int, Condensed] = {}
    left = part
    for _ in range(retries + 1):
        answer = await ask(condense.build(left))
        heard(answer)
        parsed = condense.parse(answer.data, left)
        for key, text in (parsed.good | parsed.long).items():
            summaries[key] = _shorter(summaries.get(key), Condensed(text, answer.call_id))
        again = {*parsed.long, *parsed.missing}
        if not again:
            return summaries
        left = condense.Part(tuple(piece for piece in left.pieces if piece.chunk_id in again), strict=True)
    missing = [piece.chunk_id for piece in part.pieces if piece.chunk_id not in summaries]
    if missing:
        raise SummaryMissing(chunk_id=missing[0], count=len(missing), attempts=retries + 1)
    return summaries


def _shorter(before: Condensed | None, now: Condensed) -> Condensed:
    """A model asked for less sometimes gives more."""
    return before if before is not None and len(before.text) <= len(now.text) else now


def _check_combined(
    chunks: Sequence[Chunk], summaries: Mapping[int, Condensed], wanted: Compression, tolerance_percent: float
) -> None:
    """MEMOIR 9.B3.7."""
    combined = sum(len(summary.text) for summary in summaries.values())
    allowed = sum(len(chunk.text) for chunk in chunks) * wanted.ratio * (1 + tolerance_percent / 100)
    if combined > allowed:
        raise SummariesTooLong(chars=combined, allowed=floor(allowed))
