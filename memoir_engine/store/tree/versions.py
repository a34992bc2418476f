"""Write versions of categories: created, changed, merged, closed, reopened; one event each.

Invariant: a version is closed and the next opened at one seq; the event carries the new version's digest, its payload the path
before and after. A merge writes a last version that names its target, and closes it.
Source: DESIGN §2.7, §5, §6.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select, update

from memoir_engine.store import tables
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import seal
from memoir_engine.store.db.text_rules import name_key
from memoir_engine.store.db.types import FAR, ROOT, Tx

Row = dict[str, Any]


def row_of(category_id: int, parent: int, name: str, seq: int, *, merged_into: int | None = None) -> Row:
    return {
        "category_id": category_id,
        "from_seq": seq,
        "to_seq": FAR,
        "parent_id": None if parent == ROOT else parent,
        "parent_key": parent,
        "name": name,
        "name_key": name_key(name),
        "merged_into": merged_into,
    }


def make(tx: Tx, action: OpenAction, category_id: int, parent: int, level: int, name: str, *, payload: str | None = None) -> None:
    """Create a category with its first version."""
    seq = action.next_seq
    row = seal(tables.category_version, [row_of(category_id, parent, name, seq)])[0]
    action.add("category.created", payload=payload, category=category_id, level=level, parent=parent, digest=row["digest"])
    tx.execute(insert(tables.category), [{"id": category_id, "level": level, "created_seq": seq}])
    tx.execute(insert(tables.category_version), [row])


def change(
    tx: Tx,
    action: OpenAction,
    kind: str,
    category_id: int,
    parent: int,
    name: str,
    *,
    merged_into: int | None = None,
    payload: str | None = None,
) -> None:
    """Open a new version. kind: category.renamed, category.moved, category.merged, category.restored."""
    row = row_of(category_id, parent, name, action.next_seq, merged_into=merged_into)
    sealed = seal(tables.category_version, [row])[0]
    seq = action.add(kind, payload=payload, category=category_id, parent=parent, digest=sealed["digest"])
    _end(tx, category_id, seq)
    tx.execute(insert(tables.category_version), [sealed])


def close(tx: Tx, action: OpenAction, category_id: int, *, payload: str | None = None) -> int:
    """Close a category and return its parent."""
    c = tables.category_version.c
    parent = tx.execute(select(c.parent_key).where(c.category_id == category_id, c.to_seq == FAR)).scalar_one()
    _end(tx, category_id, action.add("category.closed", payload=payload, category=category_id))
    return int(parent)


def reopen(tx: Tx, action: OpenAction, category_id: int, closed_seq: int) -> None:
    """Reopen the version that was closed at that seq."""
    old = _ended_at(tx, category_id, closed_seq)
    row = seal(tables.category_version, [{**old._mapping, "from_seq": action.next_seq, "to_seq": FAR}])[0]
    numbers = {"category": category_id, "closed": closed_seq, "parent": row["parent_key"]}
    action.add("category.reopened", **numbers, digest=row["digest"])
    tx.execute(insert(tables.category_version), [row])


def restore(tx: Tx, action: OpenAction, category_id: int, changed_seq: int) -> int:
    """Restore the version that was replaced at that seq, and return the present parent."""
    c = tables.category_version.c
    parent = tx.execute(select(c.parent_key).where(c.category_id == category_id, c.to_seq == FAR)).scalar_one()
    old = _ended_at(tx, category_id, changed_seq)
    change(tx, action, "category.restored", category_id, old.parent_key, old.name, merged_into=old.merged_into)
    return int(parent)


def _ended_at(tx: Tx, category_id: int, seq: int) -> Any:
    c = tables.category_version.c
    return tx.execute(select(tables.category_version).where(c.category_id == category_id, c.to_seq == seq)).one()


def _end(tx: Tx, category_id: int, seq: int) -> None:
    c = tables.category_version.c
    tx.execute(update(tables.category_version).where(c.category_id == category_id, c.to_seq == FAR).values(to_seq=seq))
