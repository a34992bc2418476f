"""What other people's code may rely on is there, is all there is, and costs little to import. Source: API.md, STYLE 14."""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType

import pytest

import memoir_engine
from machine import REPOSITORY

# of API.md, what stands today; the parts that later work brings are added here with them
PROMISED = {"Memory", "AsyncMemory", "MemoirConfig", "MemoirError", "ConfigurationError", "chunk_text", "count_tokens"}
HEAVY = (
    "pydantic_ai litellm openai tiktoken chromadb bm25s pandas plotly streamlit pypdf docx bs4 lxml charset_normalizer alembic "
    "typer langgraph langchain_core sqlalchemy.dialects.postgresql sqlalchemy.dialects.mysql"
).split()


def test_the_package_offers_exactly_what_it_lists():
    """Submodules become attributes when they are imported; they are not on offer."""
    public = {name: value for name, value in vars(memoir_engine).items() if not name.startswith("_")}
    assert {name for name, value in public.items() if not isinstance(value, ModuleType)} == set(memoir_engine.__all__)
    assert [name for name in memoir_engine.__all__ if getattr(memoir_engine, name, None) is None] == []


def test_the_list_of_names_holds_none_twice_and_keeps_an_order():
    assert sorted(set(memoir_engine.__all__)) == sorted(memoir_engine.__all__)


def test_every_promised_name_is_there():
    assert PROMISED - set(memoir_engine.__all__) == set()


@pytest.mark.parametrize(
    "statement", ["import memoir_engine", "from memoir_engine import Memory, AsyncMemory, MemoirConfig, MemoirError"]
)
def test_importing_the_engine_loads_no_heavy_library(statement: str):
    look = f"{statement}; import json, sys; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    ran = subprocess.run([sys.executable, "-c", look], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == []


def test_the_package_carries_its_types():
    assert (REPOSITORY / "memoir_engine" / "py.typed").exists()
