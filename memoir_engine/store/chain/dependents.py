"""Later actions that depend on an action, and so have to be undone before it.

Invariant: an undo counts for what it undid, and an action never blocks itself. What others changed and took back counts as
left alone; what others changed and is in force blocks, whatever the row looks like now.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import select

from memoir_engine.store import tables
from memoir_engine.store.chain import actions
from memoir_engine.store.db.types import Tx, portions

EDITS = frozenset({"create", "rename", "move", "merge", "split", "retire"})  # verbs that make and change categories by hand


@dataclass
class Dependents:
    """Actions that changed, after the action `own`, what it touched; callers pass the seqs of those changes."""

    tx: Tx
    own: str
    _actions: dict[int, str] = field(default_factory=dict)  # seq → action
    _roots: dict[str, str] = field(default_factory=dict)
    _undoings: dict[str, str | None] = field(default_factory=dict)  # root → what undid it and stands

    def in_force(self, seqs: Iterable[int]) -> tuple[str, ...]:
        """Return the other actions of these seqs that are not undone, oldest first."""
        return tuple(one for one in self._others(seqs) if self.undone_by(one) is None)

    def edits(self, seqs: Iterable[int]) -> tuple[str, ...]:
        """Return those of them that changed categories by hand."""
        return tuple(one for one in self.in_force(seqs) if self.verb(one) in EDITS)

    def undoings(self, seqs: Iterable[int]) -> tuple[str, ...]:
        """Return the undos of the others: undone themselves, they bring back what they took."""
        found = (self.undone_by(one) for one in self._others(seqs))
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def root(self, action_id: str) -> str:
        """Follow undos to the action that they are about."""
        if action_id not in self._roots:
            self._roots[action_id] = root(self.tx, action_id)
        return self._roots[action_id]

    def verb(self, action_id: str) -> str:
        return verb(self.tx, action_id)

    def undone_by(self, action_id: str) -> str | None:
        if action_id not in self._undoings:
            self._undoings[action_id] = actions.undone_by(self.tx, action_id)
        return self._undoings[action_id]

    def _others(self, seqs: Iterable[int]) -> tuple[str, ...]:
        wanted = sorted(set(seqs))
        self._learn(wanted)
        roots = dict.fromkeys(self.root(self._actions[seq]) for seq in wanted)
        return tuple(one for one in roots if one != self.root(self.own))

    def _learn(self, seqs: list[int]) -> None:
        c = tables.audit_event.c
        for some in portions(seq for seq in seqs if seq not in self._actions):
            rows = self.tx.execute(select(c.seq, c.action_id).where(c.seq.in_(some)))
            self._actions |= {row.seq: row.action_id for row in rows}


def root(tx: Tx, action_id: str) -> str:
    while undone := tx.execute(select(tables.action.c.undoes).where(tables.action.c.id == action_id)).scalar():
        action_id = undone
    return action_id


def verb(tx: Tx, action_id: str) -> str:
    return str(tx.execute(select(tables.action.c.verb).where(tables.action.c.id == action_id)).scalar_one())
