"""Cheap new databases: SQLite files copied from a prepared one, server databases emptied after a test.

A new SQLite file, wherever a test opens it in this process, is a copy of a prepared one: it holds what the product itself writes
into an empty database. Tests of that creation are marked `from_nothing`.
Invariant: nobody sees half a file; a database whose tables a test has altered is not handed out again.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import SQLAlchemyError

STORE = "memoir_engine.store.db.database"
GUARDS_OFF = {
    "postgresql": ("SET session_replication_role = replica", "SET lock_timeout = '2s'"),
    "mysql": ("SET SESSION foreign_key_checks = 0", "SET SESSION innodb_lock_wait_timeout = 2"),
}
SHAPE = {  # table or index, which of both, column, its type
    "postgresql": (
        "SELECT c.relname, c.relkind, a.attname, a.atttypid, a.attnotnull"
        " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attname"
    ),
    "mysql": (
        "SELECT table_name, 'r', column_name, column_type, is_nullable, column_key FROM information_schema.columns"
        " WHERE table_schema = DATABASE() ORDER BY table_name, column_name"
    ),
}

_off = False  # whether the running test wants to see the product make its tables


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    global _off
    _off = item.get_closest_marker("from_nothing") is not None
    if STORE in sys.modules:  # else this process opens no database, or its first one costs what it costs
        _take_over()


def make_tables(url: str) -> None:
    """Create the product's tables in an empty database, without a depth."""
    from memoir_engine.core.run import SystemClock
    from memoir_engine.store.db.database import Database

    Database.open(url, clock=SystemClock()).close()


@cache
def _take_over() -> None:
    from memoir_engine.store.db.database import Database

    real = Database.open

    def open_prepared(url: str, **given: Any) -> Database:
        if not _off and url.startswith("sqlite:///") and "?" not in url:
            _copy(Path(url.removeprefix("sqlite:///")))
        return real(url, **given)

    Database.open = open_prepared  # type: ignore[method-assign, assignment]


def _copy(path: Path) -> None:
    """Write the prepared file atomically; errors are left for the product to meet."""
    with contextlib.suppress(OSError, ValueError):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".prepared-") as whole:
                whole.write(_prepared())
                whole.flush()
                os.chmod(whole.name, 0o644)
                os.link(whole.name, path)


@cache
def _prepared() -> bytes:
    with tempfile.TemporaryDirectory(prefix="memoir-") as folder:
        path = Path(folder, "memory.db")
        path.touch()  # so that it is no new file
        make_tables(f"sqlite:///{path}")
        return path.read_bytes()


class Emptied:
    """Resets databases of one server to the state after `make_tables` by deleting rows: new tables take fifty times as long."""

    def __init__(self, url: str) -> None:
        """url: a database on which only `make_tables` has run."""
        with _connected(url) as connection:
            self._shape = _shape(connection)
            quote = connection.dialect.identifier_preparer.quote
            tables = dict.fromkeys(quote(row[0]) for row in self._shape if row[1] == "r")
            self._first = {table: _rows(connection, f"SELECT * FROM {table}") for table in tables}

    def again(self, url: str) -> bool:
        """Reset the database; return whether it is as new."""
        try:
            with _connected(url) as connection:
                if _shape(connection) != self._shape:
                    return False
                for table, rows in self._first.items():
                    connection.exec_driver_sql(f"DELETE FROM {table}")
                    for row in rows:
                        connection.exec_driver_sql(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(row))})", row)
                connection.commit()
        except SQLAlchemyError:
            return False
        return True


@contextlib.contextmanager
def _connected(url: str) -> Iterator[Connection]:
    from memoir_engine.store.db.engines import address

    engine = create_engine(address(url), poolclass=NullPool)
    with engine.connect() as connection:
        for guard in GUARDS_OFF[engine.dialect.name]:
            connection.exec_driver_sql(guard)
        yield connection


def _shape(connection: Connection) -> list[tuple[Any, ...]]:
    return _rows(connection, SHAPE[connection.dialect.name])


def _rows(connection: Connection, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in connection.exec_driver_sql(query)]
