"""A memory on a database, and a saver of its own user."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoir_engine import Memory
from memoir_engine.langgraph import MemoirCheckpointSaver


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(data_dir=tmp_path / "memory", model="offline") as opened:
        yield opened


@pytest.fixture
def saver(memory: Memory) -> MemoirCheckpointSaver:
    return MemoirCheckpointSaver(memory)
