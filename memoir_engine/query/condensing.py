"""Fit chunks into a token budget by shortening each in proportion; no path is dropped.

Invariant: every chunk keeps its place; a summary is asked again alone only where it is over its target or missing.
Source: MEMOIR 9.B3, 9.7–9.9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor

from memoir_engine.errors import NoRoomForContent, SummariesTooLong, SummaryMissing
from memoir_engine.prompts import condense
from memoir_engine.query.asked import Answered, Ask
from memoir_engine.results import Chunk

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


def parts(pieces: Sequence[condense.Piece], cap: int, count: Count) -> list[condense.Part]:
    """In order, each part's input within `cap` tokens; a part holds at least one chunk (MEMOIR 9.B3.4)."""
    preface = count(condense.preface())
    made: list[list[condense.Piece]] = []
    used = 0
    for piece in pieces:
        tokens = count(condense.piece_text(piece))
        if not made or used + tokens > cap:
            made.append([])
            used = preface
        made[-1].append(piece)
        used += tokens
    return [condense.Part(tuple(each)) for each in made]


async def summarise(
    chunks: Sequence[Chunk],
    wanted: Compression,
    ask: Ask,
    *,
    cap: int,
    retries: int,
    tolerance_percent: float,
    count: Count,
    heard: Callable[[Answered], None],
) -> dict[int, Condensed]:
    """A summary of every chunk, by id. `heard` is told of each call.

    Raises SummaryMissing (E310), SummariesTooLong (E308).
    """
    pieces = [condense.Piece(chunk.id, chunk.text, wanted.targets[chunk.id]) for chunk in chunks]
    summaries: dict[int, Condensed] = {}
    for part in parts(pieces, cap, count):
        summaries |= await _part(part, ask, retries=retries, heard=heard)
    _check_combined(chunks, summaries, wanted, tolerance_percent)
    return summaries


async def _part(part: condense.Part, ask: Ask, *, retries: int, heard: Callable[[Answered], None]) -> dict[int, Condensed]:
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
