"""A memory on every database that can store conversations, and a user of one's own in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from memoir_engine import Memory
from set_clock import SetClock

_users = count(1)


@pytest.fixture(
    scope="module",
    params=[
        "memory",
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.postgresql),
        pytest.param("mariadb", marks=pytest.mark.mariadb),
    ],
)
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder: Path = tmp_path_factory.mktemp("sessions")
    if request.param == "memory":
        memory = Memory(db_path=":memory:", data_dir=folder, model="offline")
    elif request.param == "sqlite":
        memory = Memory(db_path=folder / "sessions.db", model="offline")
    else:
        url = request.getfixturevalue(f"{request.param}_server").prepared_url()
        memory = Memory(database_url=url, data_dir=folder, model="offline")
    with memory:
        yield memory


@pytest.fixture
def mia(backend: Memory) -> Memory:
    """A user without any messages or facts."""
    number = next(_users)
    return backend.acting_as(f"Mia {number}", user=f"mia{number}@example.org")


@pytest.fixture
def clock(backend: Memory, monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """A clock that begins after all messages so far."""
    told = SetClock(max(datetime.now(UTC), backend.audit.head().at) + timedelta(seconds=1))
    monkeypatch.setattr(backend._async._engine, "clock", told)
    return told
