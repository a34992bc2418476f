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

from memoir_engine.core.results import Action
from memoir_engine.store import tables
from memoir_engine.store.chain.canonical_json import parse
from memoir_engine.store.chain.dependents import Later
from memoir_engine.store.db.types import FAR, ROOT, Tx, portions
from memoir_engine.store.tree import categories

CHANGED = "what it left has changed since"


# === undoing


ReviewKind = Literal["review", "reject", "return", "unsign", "resign", "fact"]
Kind = Literal["withdraw", "restore", "reopen", "close", "version", "refile", "empty", "helper"] | ReviewKind


@dataclass(frozen=True)
class Step:
    """`number` is a source, a category or a chunk; `seq` the event whose effect is taken back.

    `other`: the newer version of a source that took its place, or takes it again; the version of a helper to go back to;
    the leaf that a chunk goes back to; the seq of the filing that was rejected.
    review: the verdict that a filing had before, and the seq by which it was given.
    """

    kind: Kind
    number: int
    seq: int
    says: str
    other: int | None = None
    review: tuple[str | None, int | None] = (None, None)


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
    """`places` are the categories that its steps so far open or move, or close (None); `leaving` the chunks they move.

    stood: of the facts and proposals they move, the seq since which each will stand again as it did; 0 for not at all.
    """

    tx: Tx
    done: Action
    limits: Callable[[int], int]
    places: dict[int, Place | None] = field(default_factory=dict)
    leaving: set[int] = field(default_factory=set)
    stood: dict[tuple[str, int], int] = field(default_factory=dict)

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
        c = tables.category_version.c
        row = self.tx.execute(select(tables.category_version).where(c.category_id == category_id, c.to_seq == FAR)).one_or_none()
        return None if row is None else Place.of(row)

    def siblings(self, parent: int) -> dict[int, str]:
        """The name keys below a parent once the steps so far are done, by category."""
        found = {one.id: one.name_key for one in categories.open_children(self.tx, [parent]).values()}
        for number, place in self.places.items():
            found.pop(number, None)
            if place is not None and place.parent_key == parent:
                found[number] = place.name_key
        return found

    def clash(self, category_id: int, place: Place, since: int) -> Found | None:
        """Whether the name or the room of a category that comes to this place has been taken since that seq.

        Also by what has gone again and may come back: others who stand must find what they left when they are undone.
        """
        siblings = self.siblings(place.parent_key)
        came = siblings.pop(category_id, None) is None
        v = tables.category_version.c
        wanted = select(tables.category_version).where(
            v.parent_key == place.parent_key, v.category_id != category_id, v.to_seq > since
        )
        there = self.tx.execute(wanted.order_by(v.from_seq)).all()
        blocked_by = self._standing_of([row for row in there if row.name_key == place.name_key], since)
        if place.name_key in siblings.values():
            return Found(blocked_by=blocked_by, clash=f"the name {place.name!r} is taken by another category")
        if blocked_by:
            return Found(blocked_by=blocked_by)
        return self._room(category_id, place, siblings, there, since) if came else None

    def _room(self, category_id: int, place: Place, siblings: dict[int, str], there: Sequence[Any], since: int) -> Found | None:
        level = self.tx.execute(select(tables.category.c.level).where(tables.category.c.id == category_id)).scalar_one()
        gone = [row for row in there if row.category_id not in siblings and self.later.standing([row.to_seq])]
        limit = self.limits(level)
        if len(siblings) >= limit:
            text = f"the limit of level {level} is reached, {place.name!r} finds no room"
            return Found(blocked_by=self._standing_of(there, since), clash=text)
        if len(siblings) + len({row.category_id for row in gone}) >= limit:
            return Found(blocked_by=self._standing_of(gone, since))
        return None

    def _standing_of(self, rows: Sequence[Any], since: int) -> tuple[str, ...]:
        """Who opened and closed these versions after that seq, and stands."""
        return self.later.standing(seq for row in rows for seq in (row.from_seq, row.to_seq) if since < seq < FAR)

    def closed(self, category_ids: set[int]) -> Found | None:
        """Blocked when one of these is closed and no step before opens it."""
        c = tables.category_version.c
        opened = {number for number, place in self.places.items() if place is not None}
        needed = category_ids - opened - {ROOT}
        closed = sorted(needed - categories.open_categories(self.tx, needed).keys()) if needed else []
        if not closed:
            return None
        ends = select(func.max(c.to_seq)).where(c.category_id.in_(closed)).group_by(c.category_id)
        return self.changed(self.tx.execute(ends).scalars())

    def moved(self, left: Sequence[Any]) -> Found | None:
        """Whether chunks are not filed any more as these rows left them, or who stands has moved or judged them since."""
        ended = {row.chunk_id: row for row in left if row.to_seq != FAR}
        since: dict[int, list[int]] = {number: [row.to_seq] for number, row in ended.items()}
        same: set[int] = set()
        later = self._filings_of(ended)
        for row in later:
            if row.from_seq > ended[row.chunk_id].from_seq:
                since[row.chunk_id].append(row.from_seq)
            if row.to_seq == FAR and _is_like(row, ended[row.chunk_id]):
                same.add(row.chunk_id)
        every = [seq for seqs in since.values() for seq in seqs]
        standing = self.later.standing(every + self._stamps([*left, *later]))
        if standing:
            return Found(blocked_by=standing)
        rest = [seq for number, seqs in since.items() if number not in same for seq in seqs]
        return self.changed(rest) if rest else None

    def _stamps(self, rows: Iterable[Any]) -> list[int]:
        """The seqs, later than the action, by which these filings were reviewed; with those that a later verdict covers."""
        own, found = self.done.events[-1].seq, set[int]()
        new = {row.reviewed_seq for row in rows if (row.reviewed_seq or 0) > own}
        while new:
            found |= new
            new = {seq for seq in self._covered(new) if seq > own} - found
        return sorted(found)

    def _covered(self, seqs: Iterable[int]) -> list[int]:
        """The reviews that stood before these."""
        c = tables.audit_event.c
        found: list[int] = []
        for some in portions(sorted(seqs)):
            bodies = self.tx.execute(select(c.body).where(c.seq.in_(some), c.kind.in_(("filing.reviewed", "chunk.rejected"))))
            found += [parse(body)["before"][1] or 0 for body in bodies.scalars()]
        return found

    def _filings_of(self, chunk_ids: Iterable[int]) -> list[Any]:
        c = tables.filing.c
        found: list[Any] = []
        for some in portions(sorted(chunk_ids)):
            found += self.tx.execute(select(tables.filing).where(c.chunk_id.in_(some)).order_by(c.chunk_id, c.from_seq)).all()
        return found


def _is_like(row: Any, ended: Any) -> bool:
    """Whether a filing is where one was that has ended. Verdicts given and taken back in between may have left the ended one
    with another than the one that stands; whose verdicts stand is asked beside."""
    return (row.category_id, row.decision_id) == (ended.category_id, ended.decision_id)
