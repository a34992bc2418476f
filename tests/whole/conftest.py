"""A memory of small chunks with a scripted model, and an OpenAI-compatible server."""

from __future__ import annotations

import pytest

import fake_openai as fake
import scripted

script = pytest.fixture(scripted.script)
opened = pytest.fixture(scripted.opened)
memory = pytest.fixture(scripted.memory)
fake_openai = pytest.fixture(fake.serving)
