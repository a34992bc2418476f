"""A memory whose model extracts a fact from every sentence and compares as scripted."""

from __future__ import annotations

import pytest

import fact_play
import scripted
from scripted import Script

opened = pytest.fixture(scripted.opened)
memory = pytest.fixture(scripted.memory)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    return fact_play.usual(scripted.script(monkeypatch))
