"""What has undone an action, and stands: an undoing that was itself undone does not.

Invariant: asks level by level, for all actions at once, and only for those that are asked about: it costs as many queries as
undoings were undone in a row, however long the history is.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select

from memoir_engine.store import tables as t
from memoir_engine.store.types import Tx, portions


def standing(tx: Tx, action_ids: Iterable[str]) -> dict[str, str]:
    """Action -> what has undone it and is not undone itself, the last where there are several; others are left out."""
    asked = list(dict.fromkeys(action_ids))
    by, moments = _undoings(tx, asked)
    # an undoing is later than what it undoes: newest first, each comes before what depends on it
    order = [*sorted(moments, key=lambda one: moments[one], reverse=True), *(one for one in asked if one not in moments)]
    stands: dict[str, str | None] = {}
    for number in order:
        found = sorted(by.get(number, ()), key=lambda one: moments[one], reverse=True)
        stands[number] = next((one for one in found if stands.get(one) is None), None)
    return {number: one for number in asked if (one := stands[number]) is not None}


def _undoings(tx: Tx, asked: list[str]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """What was ever undone by what, from these on; and when each of those undoings was made."""
    a = t.action.c
    by: dict[str, list[str]] = {}
    moments: dict[str, str] = {}
    seen, level = set(asked), asked
    while level:
        met: list[str] = []
        for some in portions(level):
            for row in tx.execute(select(a.id, a.undoes, a.at).where(a.undoes.in_(some))):
                by.setdefault(row.undoes, []).append(row.id)
                moments[row.id] = row.at
                met.append(row.id)
        level = [one for one in met if one not in seen]
        seen.update(level)
    return by, moments
