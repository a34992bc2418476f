"""Paths from root to leaf: made level by level, deduplicated, put into one total order. Pure.

Invariant: the same selections give the same order, whatever order they arrived in.
Order: the ranks from the root down, each divided by the most that could be given at its level, best first;
ties fall to the lower path identifier (spec/README 9). Without rankings only the identifier orders.
Source: MEMOIR 4.2, 9 "Deterministic order"; DESIGN §9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memoir_engine.results import Path, PathChoice


@dataclass(frozen=True)
class OpenPath:
    """A path still being followed. `shares` are its ranks divided by each level's N."""

    ids: tuple[int, ...] = ()
    names: Path = ()
    ranks: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()

    @property
    def tip(self) -> int:
        """The category it has come to; 0 at the root."""
        return self.ids[-1] if self.ids else 0

    def step(self, category_id: int, name: str, rank: int, most: int) -> OpenPath:
        return replace(
            self,
            ids=(*self.ids, category_id),
            names=(*self.names, name),
            ranks=(*self.ranks, rank),
            shares=(*self.shares, rank / most),
        )

    def choice(self) -> PathChoice:
        return PathChoice(self.ids, self.names, self.ranks)


def in_order(paths: Iterable[OpenPath], *, use_rankings: bool = True) -> list[OpenPath]:
    """Each path once (the best ranked of equals), in reading order."""
    unique: dict[tuple[int, ...], OpenPath] = {}
    for path in sorted(paths, key=_by_rank):
        unique.setdefault(path.ids, path)
    return sorted(unique.values(), key=_by_rank if use_rankings else _by_identifier)


def ends_at_leaf(paths: Sequence[OpenPath], depth: int) -> bool:
    return all(len(path.ids) == depth for path in paths)


def _by_rank(path: OpenPath) -> tuple[tuple[float, ...], tuple[int, ...]]:
    return tuple(-share for share in path.shares), path.ids


def _by_identifier(path: OpenPath) -> tuple[int, ...]:
    return path.ids
