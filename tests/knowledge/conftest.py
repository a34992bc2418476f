"""A memory without a model, and one whose model and embedder are behind an OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fake_openai as fake
from fake_openai import FakeOpenAI, offline
from memoir_engine import Memory

fake_openai = pytest.fixture(fake.serving)

KEY = "sk-very-secret-0123456789"
Opened = Callable[..., Memory]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Open memories that answer without a model; `at` names the file."""
    memories: list[Memory] = []

    def open_memory(at: str = "memory.db", **settings: Any) -> Memory:
        memories.append(Memory(**({"db_path": tmp_path / at, "model": "offline"} | settings)))
        return memories[-1]

    yield open_memory
    for memory in memories:
        memory.close()


@pytest.fixture
def memory(opened: Opened) -> Memory:
    return opened()


@pytest.fixture
def on_the_wire(opened: Opened, fake_openai: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Answer over HTTP as the offline model does, unless the test says otherwise."""
    fake_openai.otherwise(offline)
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def open_memory(**settings: Any) -> Memory:
        return opened(**({"model": "local-model", "embedder": "offline"} | settings))

    return open_memory
