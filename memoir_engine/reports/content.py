"""What a report is made of: values that somebody has collected, nothing of how they are shown.

Source: API "The ledger and the audit" (memory.reports).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memoir_engine.results import Action, AuditHead, Call, Category, Chunk, Decision, Helper, QueryResult, RunView, SignOff

Kind = Literal["source", "category", "run", "person"]


@dataclass(frozen=True)
class Review:
    """Who looked at the filing of a chunk last, and what they said; verdict None: filed there by them."""

    by: str
    verdict: str | None
    at: datetime


@dataclass(frozen=True)
class ChunkStory:
    """A chunk, the choices that put it where it is, and its review."""

    chunk: Chunk
    decisions: tuple[Decision, ...] = ()
    review: Review | None = None


@dataclass(frozen=True)
class RunStory:
    """`decisions` are left out where they stand with the chunks."""

    run: RunView
    calls: tuple[Call, ...] = ()
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True)
class Content:
    """`left_out`: how many of what are not in here, by name."""

    kind: Kind
    title: str
    by: str
    at: datetime
    head: AuditHead
    facts: tuple[tuple[str, str], ...] = ()
    helpers: tuple[Helper, ...] = ()
    categories: tuple[Category, ...] = ()
    chunks: tuple[ChunkStory, ...] = ()
    answer: QueryResult | None = None
    texts: dict[int, str] = field(default_factory=dict)  # of the sources that an answer quotes
    runs: tuple[RunStory, ...] = ()
    sign_offs: tuple[SignOff, ...] = ()
    actions: tuple[Action, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)
