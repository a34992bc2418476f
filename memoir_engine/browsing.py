"""The category tree as it stands, and as it stood at any moment.

Invariant: both are the same reads with another number; a view of the past is fixed at its seq, whatever happens meanwhile.
A category or chunk that was not there at the moment answers exactly like one that never was.
Source: API "Documents and the tree"; DESIGN §2.7.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memoir_engine import given
from memoir_engine.reading import View
from memoir_engine.results import (
    Category,
    CategoryVersion,
    Chunk,
    ChunkPage,
    Decision,
    Filing,
    Moment,
    TreeChanges,
)
from memoir_engine.run import Actor
from memoir_engine.wiring import Engine

if TYPE_CHECKING:
    from memoir_engine.store.types import Tx


class TreeAt(View):
    """The tree of one moment: of now, where no other is said."""

    _at: int | None = None

    @property
    def is_now(self) -> bool:
        """False where it is looked at as it stood."""
        return self._at is None

    def roots(self) -> tuple[Category, ...]:
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.roots(tx, at_seq=self._at))

    def children(self, category_id: int) -> tuple[Category, ...]:
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.children(tx, given.category(category_id), at_seq=self._at))

    def node(self, category_id: int) -> Category:
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.node(tx, given.category(category_id), at_seq=self._at))

    def path(self, category_id: int) -> tuple[Category, ...]:
        """From level 1 down to the category itself."""
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.path(tx, given.category(category_id), at_seq=self._at))

    def all(self) -> tuple[Category, ...]:
        from memoir_engine.store import tree

        return self._read(lambda tx: tree.all_categories(tx, at_seq=self._at))

    def search(self, text: str, limit: int = 20) -> tuple[Category, ...]:
        """Categories whose name holds the text."""
        from memoir_engine.store import tree

        most = given.limit(limit)
        return self._read(lambda tx: tree.search(tx, given.text("text", text), limit=most, at_seq=self._at))

    def search_paths(self, text: str, limit: int = 20, *, leaves_only: bool = False) -> tuple[Category, ...]:
        """Categories whose path holds every word of the text; those whose own name does come first."""
        from memoir_engine.store import tree

        text, most = given.text("text", text), given.limit(limit)
        return self._read(lambda tx: tree.search_paths(tx, text, limit=most, leaves_only=leaves_only, at_seq=self._at))

    def chunks(self, category_id: int, after: str | None = None, limit: int = 50) -> ChunkPage:
        """A page of a leaf's chunks, by creation, then id. Raises CategoryNotFound, NotALeaf."""
        from memoir_engine.errors import NotALeaf
        from memoir_engine.store import chunks, tree

        number, most = given.category(category_id), given.limit(limit)
        place = None if after is None else given.text("after", after)

        def work(tx: Tx) -> ChunkPage:
            node = tree.node(tx, number, at_seq=self._at)
            if not node.is_leaf:
                depth = self._engine.resolved.config.hierarchy_depth
                raise NotALeaf(name=node.name, level=node.level, depth=depth)
            return chunks.page(tx, number, after=place, limit=most, at_seq=self._at)

        return self._read(work)

    def chunk(self, chunk_id: int) -> Chunk:
        from memoir_engine.store import chunks

        return self._read(lambda tx: chunks.get(tx, given.chunk(chunk_id), at_seq=self._at))

    def chunk_place(self, chunk_id: int) -> Filing | None:
        """Where a chunk sits, since when, by whom and why; None where it is not filed. Raises ChunkNotFound."""
        from memoir_engine.store import chain, history

        def work(tx: Tx) -> Filing | None:
            seq = chain.seq(tx) if self._at is None else self._at
            found = history.filings(tx, given.chunk(chunk_id), at_seq=seq)
            return found[0] if found else None

        return self._read(work)

    def decisions(self, chunk_id: int) -> tuple[Decision, ...]:
        """The decisions that filed a chunk, level by level."""
        from memoir_engine.store import decisions

        chunk_id = self.chunk(chunk_id).id if self._at is not None else given.chunk(chunk_id)
        return self._read(lambda tx: decisions.of_chunk(tx, chunk_id))


class PastTree(TreeAt):
    """The tree as it stood. `seq` is the event it stood at, `at` when that was; None before the first."""

    def __init__(self, engine: Engine, actor: Actor, seq: int, at: datetime | None) -> None:
        super().__init__(engine, actor)
        self._at = seq
        self.seq = seq
        self.at = at


class TreeView(TreeAt):
    """The category tree as it stands, and the way to what it was."""

    def as_of(self, when: int | datetime) -> PastTree:
        """The tree as it stood at an event, or at a time (aware); before the first it is empty, a time ahead is now.

        Raises InvalidSetting, too where there is no such event.
        """
        from memoir_engine.store import moments

        when = given.moment("when", when)

        def work(tx: Tx) -> tuple[int, datetime | None]:
            seq = moments.seq_of(tx, when, "when")
            return seq, moments.time_of(tx, seq)

        return PastTree(self._engine, self._actor, *self._read(work))

    def moments(self, limit: int = 100, before: int | None = None, after: int | None = None) -> tuple[Moment, ...]:
        """The actions after each of which the tree stood differently, newest first: the last ones, or those next to a seq."""
        from memoir_engine.store import moments

        limit = given.limit(limit)
        below = None if before is None else given.cursor("before", before)
        above = None if after is None else given.cursor("after", after)
        return self._read(lambda tx: moments.recent(tx, limit=limit, before=below, after=above))

    def changes(self, since: int | datetime, until: int | datetime | None = None) -> TreeChanges:
        """What is not the same at two moments; without `until`, between one and now."""
        from memoir_engine.store import chain, history, moments

        since = given.moment("since", since)
        later = None if until is None else given.moment("until", until)

        def work(tx: Tx) -> TreeChanges:
            last = chain.seq(tx) if later is None else moments.seq_of(tx, later, "until")
            return history.changes(tx, moments.seq_of(tx, since, "since"), last)

        return self._read(work)

    def history(self, category_id: int) -> tuple[CategoryVersion, ...]:
        """What a category was called and where it stood, oldest first, with who changed it and why; closed ones too."""
        from memoir_engine.store import history

        return self._read(lambda tx: history.versions(tx, given.category(category_id)))

    def filings(self, chunk_id: int) -> tuple[Filing, ...]:
        """Where a chunk has sat, oldest first, with who filed it there and why."""
        from memoir_engine.store import history

        return self._read(lambda tx: history.filings(tx, given.chunk(chunk_id)))
