"""Memories with a few texts in them, to be searched."""

from __future__ import annotations

import pytest

import fake_openai as fake_openai_server
import search_stores

fake_openai = pytest.fixture(fake_openai_server.serving)
opened = pytest.fixture(search_stores.opened)
memory = pytest.fixture(search_stores.memory)
