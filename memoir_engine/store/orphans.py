"""Categories that lose their last filing after the ingestion that made them was undone.

Invariant: such a category closes in the action that empties it, and its parents with it; one made by an ingestion that
stands stays open however empty it is.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select, update

from memoir_engine.store import chain, tree
from memoir_engine.store import tables as t
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.types import FAR, ROOT, Tx, portions


def close(tx: Tx, action: OpenAction, category_ids: Iterable[int]) -> None:
    """Close those of the categories, and of what stands above them, that nothing holds open any more."""
    standing = _Standing(tx)
    here = tree.open_categories(tx, category_ids)
    while here:
        deepest = max(one.level for one in here.values())
        now = {number: one for number, one in here.items() if one.level == deepest}
        here = {number: one for number, one in here.items() if one.level != deepest}
        used = _used(tx, now)
        closing = sorted(number for number in now if number not in used and standing.is_undone(number))
        for number in closing:
            end_version(tx, number, action.add("category.closed", category=number))
        here |= tree.open_categories(tx, {now[number].parent_id for number in closing} - {ROOT})


def end_version(tx: Tx, category_id: int, seq: int) -> None:
    c = t.category_version.c
    tx.execute(update(t.category_version).where(c.category_id == category_id, c.to_seq == FAR).values(to_seq=seq))


def _used(tx: Tx, category_ids: Iterable[int]) -> set[int]:
    """Those that hold an open filing or an open category."""
    filed, version = t.filing.c, t.category_version.c
    used: set[int] = set()
    for some in portions(sorted(category_ids)):
        used |= set(
            tx.execute(select(filed.category_id).where(filed.to_seq == FAR, filed.category_id.in_(some)).distinct()).scalars()
        )
        used |= set(
            tx.execute(select(version.parent_key).where(version.to_seq == FAR, version.parent_key.in_(some)).distinct()).scalars()
        )
    return used


class _Standing:
    """Whether the action that made a category has been undone."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._undone: dict[str, bool] = {}

    def is_undone(self, category_id: int) -> bool:
        made = select(t.audit_event.c.action_id).join(t.category, t.category.c.created_seq == t.audit_event.c.seq)
        action_id = self._tx.execute(made.where(t.category.c.id == category_id)).scalar()
        if action_id is None:
            return False
        if action_id not in self._undone:
            self._undone[action_id] = chain.undone_by(self._tx, action_id) is not None
        return self._undone[action_id]
