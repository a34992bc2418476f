"""A store of depth 3 on every database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoir_engine.store.db.database import Database
from small_plans import SteadyClock
from small_stores import Store


@pytest.fixture
def clock() -> SteadyClock:
    return SteadyClock()


@pytest.fixture
def store(database_url: str, clock: SteadyClock) -> Iterator[Store]:
    db = Database.open(database_url, clock=clock, depth=3)
    yield Store(db, clock, database_url)
    db.close()


@pytest.fixture
def sqlite_store(tmp_path: Path, clock: SteadyClock) -> Iterator[Store]:
    """A store on SQLite, for what is the same on every database or SQLite's own."""
    url = f"sqlite:///{tmp_path / 'own.db'}"
    db = Database.open(url, clock=clock, depth=3)
    yield Store(db, clock, url)
    db.close()
