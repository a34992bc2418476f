"""A memory of facts whose clock stands still, for what people put right by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import scripted_model
from memoir_engine import FactView, Memory
from memoir_engine.core.run import SystemClock
from set_clock import SetClock

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """A clock that stands still until a test moves it."""
    told = SetClock(NOW)
    monkeypatch.setattr(SystemClock, "now", lambda _: told.now())
    return told


def memory(clock: SetClock, script: scripted_model.Script, tmp_path: Path) -> Iterator[Memory]:
    with Memory(db_path=":memory:", data_dir=tmp_path / "data", model="offline", vector_store="exact") as opened:
        yield opened


def fact(memory: Memory, words: str, user: str = "mia") -> FactView:
    return next(one for one in memory.facts.list(user) if one.content == words)
