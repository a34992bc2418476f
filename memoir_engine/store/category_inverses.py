"""What takes back each kind of event about categories, and what may stand in its way.

Invariant: what a person did is taken back exactly or not at all; a category that an ingestion made is left to
`orphans.close`, since others may file in it and go on doing so.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from memoir_engine.results import AuditEvent
from memoir_engine.store import tables as t
from memoir_engine.store import tree
from memoir_engine.store.later import EDITS
from memoir_engine.store.types import FAR
from memoir_engine.store.undoing import Found, Inverse, Place, Step


@dataclass(frozen=True)
class _History:
    """A category's versions, oldest first."""

    rows: Sequence[Any]

    def opened_at(self, seq: int) -> Any:
        return next(row for row in self.rows if row.from_seq == seq)

    def ended_at(self, seq: int) -> Any:
        return next(row for row in self.rows if row.to_seq == seq)

    def since(self, seq: int) -> list[int]:
        """Whatever opened or closed a version after it."""
        ends = [row.to_seq for row in self.rows if seq < row.to_seq < FAR]
        return [*(row.from_seq for row in self.rows if row.from_seq > seq), *ends]


def opened(inverse: Inverse, event: AuditEvent) -> Found:
    """It closes: at once where a person made it, else as soon as nothing holds it open."""
    number = event.body["category"]
    history = _history(inverse, number)
    left = Place.of(history.opened_at(event.seq))
    if inverse.later.verb(inverse.later.root(inverse.done.action_id)) not in EDITS:
        edits = inverse.later.edits(history.since(event.seq))
        says = f"the category {left.name} closes once nothing is filed in it"
        return Found(blocked_by=edits) if edits else Found((Step("empty", number, event.seq, says),))
    in_the_way = _touched(inverse, number, history, event.seq, left) or _used(inverse, number, event.seq)
    if in_the_way:
        return in_the_way
    inverse.places[number] = None
    return Found((Step("close", number, event.seq, f"the category {left.name} closes"),))


def closed(inverse: Inverse, event: AuditEvent) -> Found:
    """Its last version opens again."""
    number = event.body["category"]
    history = _history(inverse, number)
    old = history.rows[-1]
    if old.to_seq == FAR:
        return inverse.changed(history.since(event.seq))
    standing = inverse.later.standing(history.since(event.seq))
    if standing:
        return Found(blocked_by=standing)
    place = Place.of(old)
    in_the_way = inverse.clash(number, place, event.seq) or inverse.closed({place.parent_key})
    if in_the_way:
        return in_the_way
    inverse.places[number] = place
    return Found((Step("reopen", number, old.to_seq, f"the category {old.name} opens again"),))


def changed(inverse: Inverse, event: AuditEvent) -> Found:
    """The version before it, again: another name, another parent."""
    number = event.body["category"]
    history = _history(inverse, number)
    left, before = Place.of(history.opened_at(event.seq)), Place.of(history.ended_at(event.seq))
    touched = _touched(inverse, number, history, event.seq, left)
    if touched:
        return touched
    in_the_way = inverse.clash(number, before, event.seq) or inverse.closed({before.parent_key})
    if in_the_way:
        return in_the_way
    inverse.places[number] = before
    return Found((Step("version", number, event.seq, _says(inverse, left, before)),))


def _says(inverse: Inverse, left: Place, before: Place) -> str:
    if left.parent_key != before.parent_key:
        above = " › ".join(tree.paths(inverse.tx, [before.parent_key]).get(before.parent_key, ())) or "level 1"
        return f"the category {before.name} goes back to {above}"
    if left.name != before.name:
        return f"the category {left.name} is called {before.name} again"
    return f"the category {before.name} stands for itself again"


def _history(inverse: Inverse, category_id: int) -> _History:
    c = t.category_version.c
    return _History(inverse.tx.execute(select(t.category_version).where(c.category_id == category_id).order_by(c.from_seq)).all())


def _touched(inverse: Inverse, number: int, history: _History, seq: int, left: Place) -> Found | None:
    """Blocked when others who stand have changed it since, or it is not as it was left."""
    since = history.since(seq)
    standing = inverse.later.standing(since)
    if standing:
        return Found(blocked_by=standing)
    return None if inverse.place(number) == left else inverse.changed(since)


def _used(inverse: Inverse, number: int, since: int) -> Found | None:
    """Blocked by who filed in it or put categories below it, and by who took them away again: undone, they bring them back."""
    f, v = t.filing.c, t.category_version.c
    filed = inverse.tx.execute(select(f.chunk_id, f.from_seq, f.to_seq).where(f.category_id == number, f.to_seq > since)).all()
    below = inverse.tx.execute(select(v.category_id, v.from_seq, v.to_seq).where(v.parent_key == number, v.to_seq > since)).all()
    seqs = [seq for row in (*filed, *below) for seq in (row.from_seq, row.to_seq) if since < seq < FAR]
    standing = inverse.later.standing(seqs)
    if standing:
        return Found(blocked_by=standing)
    users = [row.from_seq for row in filed if row.to_seq == FAR and row.chunk_id not in inverse.leaving]
    users += [row.from_seq for row in below if row.to_seq == FAR and row.category_id not in inverse.places]
    return inverse.changed(users) if users else None
