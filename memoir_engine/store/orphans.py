"""Categories that lose their last filing after the ingestion that made them was undone.

Invariant: such a category closes in the action that empties it, and its parents with it; one made by an ingestion that
stands stays open however empty it is, and so does one that a person has renamed or moved, until that is undone.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import select

from memoir_engine.results import Action
from memoir_engine.store import chain, later, tree, versions
from memoir_engine.store import tables as t
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.types import FAR, ROOT, Tx, portions


def close_after(tx: Tx, action: OpenAction, done: Action, emptied: Collection[int]) -> None:
    """After `done` was undone by the action. An undo that is undone closes again what it had opened, and nothing else."""
    if chain.undone_by(tx, later.root(tx, done.action_id)) is not None:
        close(tx, action, emptied, gone=True)
    else:
        opened = {event.body["category"] for event in done.events if event.kind == "category.reopened"}
        close(tx, action, emptied, among=opened)


def close(
    tx: Tx, action: OpenAction, category_ids: Iterable[int], *, gone: bool = False, among: Collection[int] | None = None
) -> None:
    """Close those of the categories, and of what stands above them, that nothing holds open any more.

    gone: this is an undo, and what it undoes stands no more. Then what others took away from a category, and may bring back by an
    undo of theirs, holds it open, too: there is no action left that they could be told to undo before.
    among: no others than these.
    """
    standing = _Standing(tx)
    here = tree.open_categories(tx, category_ids)
    while here:
        deepest = max(one.level for one in here.values())
        now = {number: one for number, one in here.items() if one.level == deepest}
        here = {number: one for number, one in here.items() if one.level != deepest}
        used = _used(tx, now)
        closing = [one for one in sorted(now.keys() - used) if standing.is_loose(one)]
        closing = [one for one in closing if not (gone and standing.may_return(one)) and (among is None or one in among)]
        for number in closing:
            versions.close(tx, action, number)
        here |= tree.open_categories(tx, {now[number].parent_id for number in closing} - {ROOT})


def loose(tx: Tx) -> frozenset[int]:
    """The open categories that would close with their last filing."""
    v, made = t.category_version.c, t.audit_event.c
    undone = select(t.action.c.undoes).where(t.action.c.undoes.is_not(None))
    wanted = select(t.category.c.id).join(t.audit_event, made.seq == t.category.c.created_seq)
    wanted = wanted.join(t.category_version, v.category_id == t.category.c.id).where(v.to_seq == FAR, made.action_id.in_(undone))
    standing = _Standing(tx)
    return frozenset(one for one in tx.execute(wanted).scalars().all() if standing.is_loose(one))


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
    """Whether the action that made a category has been undone, and no edit that stands holds it."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._stands: dict[str, bool] = {}

    def is_loose(self, category_id: int) -> bool:
        made = select(t.audit_event.c.action_id).join(t.category, t.category.c.created_seq == t.audit_event.c.seq)
        maker = self._tx.execute(made.where(t.category.c.id == category_id)).scalar()
        return maker is not None and not self._is_standing(maker) and not self._is_held(category_id, maker)

    def may_return(self, category_id: int) -> bool:
        """Whether an action that stands has closed a filing in it, or moved a category away from below it."""
        f, v, event = t.filing.c, t.category_version.c, t.audit_event.c
        left = select(event.action_id).join(t.filing, f.to_seq == event.seq).where(f.category_id == category_id)
        gone = select(event.action_id).join(t.category_version, v.to_seq == event.seq).where(v.parent_key == category_id)
        takers = {*self._tx.execute(left.distinct()).scalars(), *self._tx.execute(gone.distinct()).scalars()}
        return any(self._is_standing(later.root(self._tx, one)) for one in takers)

    def _is_held(self, category_id: int, maker: str) -> bool:
        v, event = t.category_version.c, t.audit_event.c
        opened = select(event.action_id).join(t.category_version, v.from_seq == event.seq).where(v.category_id == category_id)
        roots = {later.root(self._tx, one) for one in self._tx.execute(opened.distinct()).scalars().all()} - {maker}
        return any(later.verb(self._tx, one) in later.EDITS and self._is_standing(one) for one in roots)

    def _is_standing(self, action_id: str) -> bool:
        if action_id not in self._stands:
            self._stands[action_id] = chain.undone_by(self._tx, action_id) is None
        return self._stands[action_id]
