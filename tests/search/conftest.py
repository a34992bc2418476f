"""Memories with a few texts to search."""

from __future__ import annotations

import pytest

import fake_openai as fake_openai_server
import search_stores

fake_openai = pytest.fixture(fake_openai_server.serving)
opened = pytest.fixture(search_stores.opened)
memory = pytest.fixture(search_stores.memory)
