"""The past of the tree: what a category was called, where a chunk sat, the moments there were, and what differs between two.

Invariant: a seq names a moment exactly, a time names the last whole action at or before it. Something that holds from one seq
until another holds at the first and no longer at the second; `to_seq` is None while it still holds.
Source: DESIGN §2.7, §5, §6.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memoir_engine.results.documents import Path


@dataclass(frozen=True)
class Cause:
    """The event that began or ended something, and the action it is part of."""

    seq: int
    at: datetime
    kind: str  # of the event: category.renamed, chunk.refiled, …
    action_id: str
    verb: str
    actor: str
    reason: str | None
    run_id: str | None


@dataclass(frozen=True)
class CategoryVersion:
    """What a category was called and below what it stood. `path` is as it was when this began; `says` is what changed, in words.

    merged_into: the category it became one with; such a version ends with the action that made it.
    """

    category_id: int
    name: str
    path: Path
    parent_id: int | None
    from_seq: int
    to_seq: int | None
    merged_into: int | None
    began: Cause
    ended: Cause | None
    says: str


@dataclass(frozen=True)
class Filing:
    """That a chunk sat in a leaf. `path` is the leaf's as it was when this began; `says` is what happened, in words.

    verdict: of the review of this very filing, where there was one.
    """

    chunk_id: int
    category_id: int
    path: Path
    from_seq: int
    to_seq: int | None
    began: Cause
    ended: Cause | None
    says: str
    reviewed_by: str | None = None
    verdict: str | None = None


@dataclass(frozen=True)
class Moment:
    """How things stood when an action had been done. `seq` is its last event, `at` the time of its first."""

    seq: int
    at: datetime
    action_id: str
    verb: str
    actor: str
    reason: str | None
    run_id: str | None
    says: str


@dataclass(frozen=True)
class CategoryChange:
    """A category that is not the same at both moments. before and after: its path, None where it was not there.

    made, closed, renamed, moved: what happened to the category itself; a path also changes with what is above it.
    parent_id: below which it stands after, or stood before; None at level 1.
    merged_into: the category it became one with, merged_path where that stands after.
    """

    category_id: int
    before: Path | None
    after: Path | None
    parent_id: int | None = None
    made: bool = False
    closed: bool = False
    renamed: bool = False
    moved: bool = False
    merged_into: int | None = None
    merged_path: Path = ()


@dataclass(frozen=True)
class LeafChange:
    """Chunks of a leaf that are not filed alike at both moments, by id. added and removed: they are filed at one moment only.

    came and went: filed elsewhere at the other moment. `path` is the leaf's at the later moment at which it is there.
    """

    category_id: int
    path: Path
    added: tuple[int, ...] = ()
    came: tuple[int, ...] = ()
    went: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()


@dataclass(frozen=True)
class TreeChanges:
    """What differs between two moments; categories and leaves by id."""

    since: int
    until: int
    categories: tuple[CategoryChange, ...]
    leaves: tuple[LeafChange, ...]
