"""Verifying links only: fast, and blind to the rows they cover."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import text

from memoir_engine import Memory
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.statements import Tx


def test_the_links_alone_find_a_changed_event_but_not_a_changed_row(tmp_path: Path) -> None:
    with Memory(db_path=tmp_path / "memory.db", model="offline") as memory:
        memory.ingest_text("The committee met in May and agreed on the budget of the harbour.", name="minutes").raise_for_error()
        database: Database = memory._async._engine.db
        database.write(lambda tx: _set(tx, "UPDATE chunk SET text = 'forged'"))
        assert memory.audit.verify(links_only=True).ok
        assert not memory.audit.verify().ok
        database.write(lambda tx: _set(tx, "UPDATE audit_event SET kind = 'forged' WHERE seq = 2"))
        check = memory.audit.verify(links_only=True)
    assert (check.ok, check.first_bad) == (False, 2)


def _set(tx: Tx, statement: str) -> None:
    tx.execute(text(statement))
