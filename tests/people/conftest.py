"""A memory whose model extracts a fact from every sentence and compares as scripted."""

from __future__ import annotations

import pytest

import fact_play
import scripted_model
from scripted_model import Script

opened = pytest.fixture(scripted_model.opened)
memory = pytest.fixture(scripted_model.memory)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    return fact_play.usual(scripted_model.script(monkeypatch))
