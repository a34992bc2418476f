"""A memory of small chunks whose model says what the test tells it to."""

from __future__ import annotations

import pytest

import scripted

script = pytest.fixture(scripted.script)
opened = pytest.fixture(scripted.opened)
memory = pytest.fixture(scripted.memory)
