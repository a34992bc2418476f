"""A memory of small chunks whose model says what the test tells it to, and a server that speaks OpenAI's HTTP."""

from __future__ import annotations

import pytest

import fake_openai as fake
import scripted

script = pytest.fixture(scripted.script)
opened = pytest.fixture(scripted.opened)
memory = pytest.fixture(scripted.memory)
fake_openai = pytest.fixture(fake.serving)
