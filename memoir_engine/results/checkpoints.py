"""What pruning took from the states of graphs, or would take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pruned:
    """checkpoints, writes and values that went, and how many bytes those took; `dry_run`: that would go, and nothing did."""

    threads: int
    checkpoints: int
    writes: int
    values: int
    bytes: int
    dry_run: bool
