"""What other people's code may rely on is there, is all there is, and costs little to import. Source: API.md, STYLE 14."""

from __future__ import annotations

import functools
import inspect
import json
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

import memoir_engine
from machine import REPOSITORY

PROMISED = {
    *("Memory", "AsyncMemory", "MemoirConfig", "MemoirError", "ConfigurationError", "AgentClient", "MemoryExtractor"),
    *("chunk_text", "chunk_conversation", "count_tokens", "CHUNKERS", "STRATEGIES", "EMBEDDERS"),
}
# (name, the parameters that other people's code names, in their order, with their defaults)
SIGNATURES = (
    ("Memory", "config=None, *, backend='auto', db_path=None, backend_options=None, **settings"),
    ("Memory.ingest_text", "text, *, name='text', contextual_helper=None, metadata=None, on_event=None"),
    ("Memory.ingest_file", "data, *, name"),
    ("Memory.estimate", "given"),
    (
        "Memory.query",
        "question, *, strategy='wide_branch', n=None, n2=None, prompt_limiting_strategy=None, per_path_limit=None, "
        "page_size=None, after=None, sources=None, safety_net=0",
    ),
    ("Memory.acting_as", "actor, user=None, roles=('viewer',)"),
    ("Memory.add_knowledge", "doc_id, text, metadata=None"),
    ("Memory.add_conversation", "session_id, role, content, metadata=None, ts=None"),
    ("Memory.search", "query, top_k=5, alpha=0.5, fanout=2"),
    ("Memory.create_summary", "session_id=None, doc_id=None, options=None"),
    ("Memory.optimize", "level"),
    ("Memory.reindex", ""),
    ("Memory.remember", "messages, user_id=None, session_id=None"),
    ("Memory.recall", "text, user_id=None, limit=10, include_outdated=True, as_of=None, valid_at=None"),
    ("Memory.export", "path"),
    ("Memory.import_", "path"),
    ("Memory.start", "verb, **arguments"),
    ("AgentClient", "memory_config=None, tools=(), max_tool_calls=10"),
    ("AgentClient.query", "text, session_id=None"),
    ("MemoryExtractor", "memory"),
    ("MemoryExtractor.extract", "messages, conversation_id, user_id"),
)
HEAVY = (
    "pydantic_ai litellm openai tiktoken chromadb bm25s pandas plotly streamlit pypdf docx bs4 lxml alembic "
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


@pytest.mark.parametrize(("name", "promised"), SIGNATURES)
def test_every_promised_parameter_is_there_in_its_order_with_its_default(name: str, promised: str):
    """More may be there beside them, and what need not be given by name may have a default."""
    holder: dict[str, Any] = {}
    exec(f"def promise({promised}): ...", holder)
    member = functools.reduce(getattr, name.split("."), memoir_engine)
    ours = {one.name: one for one in inspect.signature(member).parameters.values()}
    theirs = list(inspect.signature(holder["promise"]).parameters.values())
    assert [one.name for one in theirs] == [one for one in ours if one in {each.name for each in theirs}]
    assert {one.name: one.default for one in theirs if one.default is not one.empty} == {
        one.name: ours[one.name].default for one in theirs if one.default is not one.empty
    }


@pytest.mark.parametrize(
    "statement", ["import memoir_engine", "from memoir_engine import Memory, AsyncMemory, MemoirConfig, MemoirError"]
)
def test_importing_the_engine_loads_no_heavy_library(statement: str):
    look = f"{statement}; import json, sys; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    ran = subprocess.run([sys.executable, "-c", look], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == []


def test_the_package_carries_its_types():
    assert (REPOSITORY / "memoir_engine" / "py.typed").exists()
