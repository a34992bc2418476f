"""A memory of small chunks with a scripted model."""

from __future__ import annotations

import pytest

import scripted

script = pytest.fixture(scripted.script)
opened = pytest.fixture(scripted.opened)
memory = pytest.fixture(scripted.memory)
