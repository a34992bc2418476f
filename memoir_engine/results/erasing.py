"""Erasure: what it would take away, and what stands in its place afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memoir_engine.results.documents import Path


@dataclass(frozen=True)
class ErasedPlace:
    """Rows of one kind that hold the text. `says` is what they are, for people."""

    place: str
    says: str
    count: int


@dataclass(frozen=True)
class QuotingName:
    """A category whose name says words that stand in no other source. `chunks` are those of other sources below it.

    becomes: the name it will have; None when it closes, with what is empty below it, because nothing else is filed there.
    """

    category_id: int
    path: Path
    chunks: int
    becomes: str | None


@dataclass(frozen=True)
class ErasurePreview:
    """`filings` leave the tree; `questions` are runs that have read the text; `names` can be kept or given anew."""

    source_id: int
    name: str
    filings: int
    places: tuple[ErasedPlace, ...]
    names: tuple[QuotingName, ...]
    questions: tuple[str, ...]
    versions: tuple[int, ...]  # other versions of the source: they stay


@dataclass(frozen=True)
class Tombstone:
    """What stands where a source was. `places` counts the rows that lost their text."""

    source_id: int
    action_id: str
    seq: int
    actor: str
    at: datetime
    reason: str
    places: tuple[ErasedPlace, ...]
