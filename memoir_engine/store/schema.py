"""Bring the database to the schema this version knows.

Invariant: one process migrates, others wait and find it done; new or at the head already, Alembic is not even imported.
A database of a newer version is refused, never touched.
Source: DESIGN §5; MEMOIR 1.3.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, insert, inspect, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from memoir_engine.errors import SchemaTooNew
from memoir_engine.store import creating
from memoir_engine.store import tables as t
from memoir_engine.store.types import Tx

REVISION = "0008"  # the head of migrations/versions; a test holds the two equal
_LOCK = 7_203_517  # any number: the advisory lock of migrations


def bring_up(engine: Engine) -> None:
    """Migrate to REVISION where needed. Raises SchemaTooNew."""
    with engine.connect() as connection:
        with connection.begin():
            found = _revision(connection)
        if found == REVISION:
            return
        with connection.begin(), _Alone(connection):
            _to_the_head(connection)


def depth(tx: Tx, given: int) -> int:
    """The depth of this store; recorded at its first opening."""
    stored = tx.execute(select(t.setting.c.value).where(t.setting.c.name == "depth").with_for_update()).scalar()
    if stored is not None:
        return int(stored)
    try:
        with tx.begin_nested():
            tx.execute(insert(t.setting).values(name="depth", value=str(given)))
    except IntegrityError:  # another process opened it at the same time; a row that is not there yet cannot be locked
        return stored_depth(tx) or given
    return given


def stored_depth(tx: Tx) -> int | None:
    stored = tx.execute(select(t.setting.c.value).where(t.setting.c.name == "depth")).scalar()
    return None if stored is None else int(stored)


def alembic_config(connection: Connection) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def _to_the_head(connection: Connection) -> None:
    found = _revision(connection)
    if found in (None, creating.UNDER_WAY):
        creating.create(connection, revision=REVISION, resumed=found is not None)
    elif found != REVISION:
        _migrate(connection, found)


def _migrate(connection: Connection, found: str | None) -> None:
    from alembic import command
    from alembic.script import ScriptDirectory

    config = alembic_config(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found not in known:
        raise SchemaTooNew(found=found, known=REVISION)
    command.upgrade(config, "head")


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


class _Alone:
    """Hold the lock under which one process migrates; SQLite's BEGIN IMMEDIATE is one already."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._dialect = connection.dialect.name

    def __enter__(self) -> None:
        if self._dialect == "postgresql":
            self._connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        elif self._dialect in ("mysql", "mariadb"):
            self._connection.exec_driver_sql("SELECT GET_LOCK('memoir-migrations', 120)")

    def __exit__(self, *failed: object) -> None:
        if self._dialect in ("mysql", "mariadb"):  # its DDL commits by itself, so the lock is the session's
            try:
                self._connection.exec_driver_sql("SELECT RELEASE_LOCK('memoir-migrations')")
            except DBAPIError:
                return  # the session is gone, and its lock with it
