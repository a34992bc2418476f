"""An undo being thought through: the steps found so far, and the tree as they will leave it.

Invariant: pure reading. Events are looked at last first, so what an inverse will open, close or move counts as done for the
inverses after it.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from sqlalchemy import func, select

from memoir_engine.results import Action
from memoir_engine.store import tables as t
from memoir_engine.store import tree
from memoir_engine.store.later import CHANGED, Later
from memoir_engine.store.types import FAR, ROOT, Tx, portions

Kind = Literal["withdraw", "restore", "reopen", "close", "version", "refile", "empty", "helper"]


@dataclass(frozen=True)
class Step:
    """`number` is a source, a category or a chunk; `seq` the event whose effect is taken back.

    `other`: the newer version of a source that took its place, or takes it again; the version of a helper to go back to;
    the leaf that a chunk goes back to.
    """

    kind: Kind
    number: int
    seq: int
    says: str
    other: int | None = None


@dataclass(frozen=True)
class Found:
    steps: tuple[Step, ...] = ()
    blocked_by: tuple[str, ...] = ()
    clash: str | None = None


class Place(NamedTuple):
    """What a version says of a category."""

    parent_key: int
    name: str
    name_key: str
    merged_into: int | None

    @classmethod
    def of(cls, row: Any) -> Place:
        return cls(row.parent_key, row.name, row.name_key, row.merged_into)


@dataclass
class Inverse:
    """`places` are the categories that its steps so far open or move, or close (None); `leaving` the chunks they move."""

    tx: Tx
    done: Action
    limits: Callable[[int], int]
    places: dict[int, Place | None] = field(default_factory=dict)
    leaving: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.later = Later(self.tx, self.done.action_id)

    def changed(self, seqs: Iterable[int]) -> Found:
        """What the action left is not there any more: whom to undo first, so that it is."""
        seqs = list(seqs)
        blocked_by = self.later.standing(seqs) or self.later.undoings(seqs)
        return Found(blocked_by=blocked_by) if blocked_by else Found(clash=CHANGED)

    def place(self, category_id: int) -> Place | None:
        """Where it will stand once the steps so far are done; None when it is closed."""
        if category_id in self.places:
            return self.places[category_id]
        c = t.category_version.c
        row = self.tx.execute(select(t.category_version).where(c.category_id == category_id, c.to_seq == FAR)).one_or_none()
        return None if row is None else Place.of(row)

    def siblings(self, parent: int) -> dict[int, str]:
        """The name keys below a parent once the steps so far are done, by category."""
        found = {one.id: one.name_key for one in tree.open_children(self.tx, [parent]).values()}
        for number, place in self.places.items():
            found.pop(number, None)
            if place is not None and place.parent_key == parent:
                found[number] = place.name_key
        return found

    def clash(self, category_id: int, place: Place) -> str | None:
        """Whether the name or the room of a category that comes to this place has been taken."""
        siblings = self.siblings(place.parent_key)
        came = siblings.pop(category_id, None) is None
        if place.name_key in siblings.values():
            return f"the name {place.name!r} is taken by another category"
        level = self.tx.execute(select(t.category.c.level).where(t.category.c.id == category_id)).scalar_one()
        if came and len(siblings) >= self.limits(level):
            return f"the limit of level {level} is reached, {place.name!r} finds no room"
        return None

    def closed(self, category_ids: set[int]) -> Found | None:
        """Blocked when one of these is closed and no step before opens it."""
        c = t.category_version.c
        opened = {number for number, place in self.places.items() if place is not None}
        needed = category_ids - opened - {ROOT}
        closed = sorted(needed - tree.open_categories(self.tx, needed).keys()) if needed else []
        if not closed:
            return None
        ends = select(func.max(c.to_seq)).where(c.category_id.in_(closed)).group_by(c.category_id)
        return self.changed(self.tx.execute(ends).scalars())

    def moved(self, left: Sequence[Any]) -> Found | None:
        """Whether chunks are not filed any more as these rows left them, or somebody who stands has moved them since."""
        ended = {row.chunk_id: row for row in left if row.to_seq != FAR}
        since: dict[int, list[int]] = {number: [row.to_seq] for number, row in ended.items()}
        same: set[int] = set()
        for row in self._filings_of(ended):
            if row.from_seq > ended[row.chunk_id].from_seq:
                since[row.chunk_id].append(row.from_seq)
            if row.to_seq == FAR and _content(row) == _content(ended[row.chunk_id]):
                same.add(row.chunk_id)
        every = [seq for seqs in since.values() for seq in seqs]
        standing = self.later.standing(every)
        if standing:
            return Found(blocked_by=standing)
        rest = [seq for number, seqs in since.items() if number not in same for seq in seqs]
        return self.changed(rest) if rest else None

    def _filings_of(self, chunk_ids: Iterable[int]) -> list[Any]:
        c = t.filing.c
        found: list[Any] = []
        for some in portions(sorted(chunk_ids)):
            found += self.tx.execute(select(t.filing).where(c.chunk_id.in_(some)).order_by(c.chunk_id, c.from_seq)).all()
        return found


def _content(row: Any) -> tuple[Any, ...]:
    return row.category_id, row.decision_id, row.reviewed_by, row.reviewed_seq
