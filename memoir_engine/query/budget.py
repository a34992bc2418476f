"""Fit chunks into a token budget by dropping whole paths.

Invariant: kept + dropped == the paths given; the order of what is kept never changes. Pure: no model, no clock.
Source: MEMOIR 9.B1–9.B2, 9.3–9.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memoir_engine.errors import BudgetTooSmall
from memoir_engine.results import Chunk, PathChoice


@dataclass(frozen=True)
class Reading:
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
class Pruned:
    kept: tuple[Reading, ...]
    dropped: tuple[Reading, ...]  # in the order they were dropped


def estimate(readings: Sequence[Reading], *, fixed_text: str, fixed_tokens: int) -> Size:
    """Tokens and characters of the fixed text and of all candidate chunks."""
    chunks = [chunk for reading in readings for chunk in reading.chunks]
    return Size(fixed_tokens, sum(chunk.tokens for chunk in chunks), len(fixed_text), sum(len(chunk.text) for chunk in chunks))


def prune(readings: Sequence[Reading], budget: int, *, fixed_tokens: int) -> Pruned:
    """Drop paths from the end until the estimate fits.

    readings: best first, in the order of `paths.in_order`; that order is what `use_rankings` decides.
    budget: max_token_budget, the whole of the final prompt.
    Raises BudgetTooSmall (E303) when not even one path fits.
    """
    kept, dropped = list(readings), []
    while kept and fixed_tokens + sum(reading.tokens for reading in kept) > budget:
        dropped.append(kept.pop())
    if not kept:
        raise BudgetTooSmall(fixed=fixed_tokens, budget=budget, needed=readings[0].tokens if readings else 0)
    return Pruned(tuple(kept), tuple(dropped))


def drop_last(pruned: Pruned, *, fixed_tokens: int, budget: int) -> Pruned:
    """One more path dropped, when the recount of the final prompt is still above the budget."""
    if len(pruned.kept) <= 1:
        raise BudgetTooSmall(fixed=fixed_tokens, budget=budget, needed=pruned.kept[0].tokens if pruned.kept else 0)
    return Pruned(pruned.kept[:-1], (*pruned.dropped, pruned.kept[-1]))


def limit_per_path(readings: Sequence[Reading], limit: int | None) -> tuple[tuple[Reading, ...], int]:
    """At most `limit` chunks of each path, the first by order; and how many were left out."""
    if limit is None:
        return tuple(readings), 0
    limited = tuple(Reading(reading.path, reading.chunks[:limit]) for reading in readings)
    return limited, sum(len(reading.chunks) for reading in readings) - sum(len(reading.chunks) for reading in limited)


def nearest_per_path(readings: Sequence[Reading], limit: int, nearness: Mapping[int, float]) -> tuple[tuple[Reading, ...], int]:
    """At most `limit` chunks of each path, the nearest to the question; the order of reading stays (DESIGN §9 "Big leaves")."""
    limited = tuple(Reading(reading.path, _nearest(reading.chunks, limit, nearness)) for reading in readings)
    return limited, sum(len(reading.chunks) for reading in readings) - sum(len(reading.chunks) for reading in limited)


def automatic_limit(readings: Sequence[Reading], budget: int, *, fixed_tokens: int, chunk_max_tokens: int) -> int:
    """The chunks a path may bring so that every path fits; at least one."""
    return max(1, (budget - fixed_tokens) // (chunk_max_tokens * max(1, len(readings))))


def _nearest(chunks: tuple[Chunk, ...], limit: int, nearness: Mapping[int, float]) -> tuple[Chunk, ...]:
    if len(chunks) <= limit:
        return chunks
    best = sorted(chunks, key=lambda chunk: (-nearness.get(chunk.id, 0.0), chunk.created_at, chunk.id))[:limit]
    chosen = {chunk.id for chunk in best}
    return tuple(chunk for chunk in chunks if chunk.id in chosen)
