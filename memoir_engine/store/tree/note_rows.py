"""Category notes as they are read: the rows of now or of a seq, and which branches are locked by them.

Invariant: an empty note counts as none. A lock holds for the category and all that is below it.
Source: docs/decisions/0132.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import select

from memoir_engine.store import tables
from memoir_engine.store.db.statements import FAR, ROOT, Tx


class CategoryNote(NamedTuple):
    description: str = ""
    guidance: str = ""
    locked: bool = False

    def changed(self, description: str | None, guidance: str | None, locked: bool | None) -> CategoryNote:
        """Return the note with what is given; None keeps a part as it is."""
        return CategoryNote(
            self.description if description is None else description,
            self.guidance if guidance is None else guidance,
            self.locked if locked is None else locked,
        )

    def in_words(self) -> str | None:
        parts = (self.description, self.guidance, "locked" if self.locked else "")
        return " · ".join(part for part in parts if part) or None


NO_NOTE = CategoryNote()


def of_all(tx: Tx, *, at_seq: int | None = None) -> dict[int, CategoryNote]:
    """Return the notes that say something, by category, now or at a seq."""
    n = tables.category_note.c
    is_open = n.to_seq == FAR if at_seq is None else (n.from_seq <= at_seq) & (n.to_seq > at_seq)
    rows = tx.execute(select(n.category_id, n.description, n.guidance, n.locked).where(is_open).order_by(n.category_id))
    found = {number: CategoryNote(description, guidance, bool(locked)) for number, description, guidance, locked in rows}
    return {number: note for number, note in found.items() if note != NO_NOTE}


def locks(parents: Mapping[int, int], notes: Mapping[int, CategoryNote]) -> dict[int, int]:
    """Return, for each category in a locked branch, the category whose lock holds there; 0 is the whole tree.

    parents: of the open categories, parents before their children.
    """
    held = {ROOT: ROOT} if notes.get(ROOT, NO_NOTE).locked else {}
    for number, parent in parents.items():
        if notes.get(number, NO_NOTE).locked:
            held[number] = number
        elif parent in held:
            held[number] = held[parent]
    return held
