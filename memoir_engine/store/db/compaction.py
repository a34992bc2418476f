"""Compaction: overwrite what deleted rows leave in a database file.

Invariant: that it is due is written by the very transaction that deletes, so a process that dies before it is done leaves it to
the next. SQLite keeps freed pages and a write-ahead log; the servers reclaim theirs by themselves, and nobody reads it by SQL.
Source: DESIGN §6 (secure_delete, WAL checkpoint, VACUUM).
"""

from __future__ import annotations

from sqlalchemy import delete, insert, select

from memoir_engine.core.errors import DatabaseError
from memoir_engine.store import tables
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.types import Tx

DUE = "compaction"


def note(tx: Tx) -> None:
    """Mark the compaction as due from the commit on."""
    if tx.dialect.name == "sqlite" and not is_due(tx):
        tx.execute(insert(tables.setting).values(name=DUE, value="due"))


def finish(db: Database) -> bool:
    """Compact where it is due. Return False when somebody else holds the file: it stays due."""
    if not db.read(is_due):
        return True
    try:
        done = db.compact()
    except DatabaseError:
        return False
    if done:
        db.write(
            lambda tx: tx.execute(delete(tables.setting).where(tables.setting.c.name == DUE)), operation="the end of a compaction"
        )
        db.compact(rows=False)
    return done


def is_due(tx: Tx) -> bool:
    return tx.execute(select(tables.setting.c.value).where(tables.setting.c.name == DUE)).scalar() is not None
