"""Agents with a memory: with the offline model, and over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_openai import FakeOpenAI, serving
from memoir_engine import AgentClient

fake_openai = pytest.fixture(serving)


@pytest.fixture
def opened() -> Iterator[Callable[..., AgentClient]]:
    """Open agents; close them after the test."""
    clients: list[AgentClient] = []

    def open_one(*given: Any, **named: Any) -> AgentClient:
        clients.append(AgentClient(*given, **{"model": "offline", **named}))
        return clients[-1]

    yield open_one
    for client in clients:
        client.close()


@pytest.fixture
def wired(
    opened: Callable[..., AgentClient], fake_openai: FakeOpenAI, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., AgentClient]:
    """Open agents whose model is a server of OpenAI's kind."""
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.url)

    def open_one(**named: Any) -> AgentClient:
        config = {"backend": "sqlite", "path": tmp_path / "wired.db"}
        return opened(config, **{"model": "local-model", "max_retries": 0, **named})

    return open_one
