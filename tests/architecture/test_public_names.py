"""Public names: complete, exclusive, and cheap to import. Source: API.md, STYLE 14."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
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
    ("Memory.search", "query, *, newest_first=False"),
    ("Memory.create_summary", "session_id=None, doc_id=None, options=None"),
    ("Memory.optimize", "level"),
    ("Memory.reindex", ""),
    ("Memory.remember", "messages, user_id=None, session_id=None"),
    ("Memory.remember", "messages, *, agent_id=None, metadata=None"),
    ("Memory.remember_source", "source_id, user_id=None"),
    ("Memory.recall", "text, user_id=None, limit=10, include_outdated=True, as_of=None, valid_at=None"),
    ("Memory.recall", "text, *, threshold=None, filters=None"),
    ("Memory.context", "text, user_id=None, max_tokens=800"),
    ("Memory.export", "path"),
    ("Memory.import_", "path"),
    ("Memory.start", "verb, **arguments"),
    ("AgentClient", "memory_config=None, tools=(), max_tool_calls=10"),
    ("AgentClient.query", "text, session_id=None"),
    ("MemoryExtractor", "memory"),
    ("MemoryExtractor.extract", "messages, conversation_id, user_id"),
)
VIEWS = (
    *("tree", "sources", "runs", "jobs", "review", "audit", "helpers", "sessions", "facts", "reports", "people"),
    *("feedback", "notices", "tokens"),
)
HEAVY = (
    "pydantic_ai litellm openai tiktoken chromadb bm25s pandas plotly streamlit pypdfium2 PIL docx bs4 lxml alembic "
    "typer langgraph langchain_core sqlalchemy.dialects.postgresql sqlalchemy.dialects.mysql"
).split()


def test_the_package_offers_exactly_what_it_lists():
    """Names become attributes on first use; imported submodules are attributes too, but not on offer."""
    assert [name for name in memoir_engine.__all__ if getattr(memoir_engine, name, None) is None] == []
    public = {name: value for name, value in vars(memoir_engine).items() if not name.startswith("_")}
    assert {name for name, value in public.items() if not isinstance(value, ModuleType)} == set(memoir_engine.__all__)


def test_the_list_of_names_holds_none_twice_and_keeps_an_order():
    assert sorted(set(memoir_engine.__all__)) == sorted(memoir_engine.__all__)


def test_every_promised_name_is_there():
    assert PROMISED - set(memoir_engine.__all__) == set()


def test_every_type_that_comes_out_of_a_public_name_is_public_too(tmp_path: Path):
    """Callers annotate results and catch errors, so their types are public."""
    told = {name: getattr(memoir_engine, name) for name in memoir_engine.__all__}
    with memoir_engine.Memory(model="offline", data_dir=tmp_path) as memory:
        spaces = [type(getattr(memory, view)) for view in VIEWS]
    given = {
        f"{owner.__name__}.{name}": _classes(kind, owner.__module__)
        for owner in {*filter(inspect.isclass, told.values()), *spaces}
        for name, kind in _given(owner)
    }
    missing = {where: kinds - told.keys() for where, kinds in given.items() if kinds - told.keys()}
    assert len(given) > 500
    assert missing == {}


def _given(owner: type) -> Iterator[tuple[str, str]]:
    """Yield the annotations of a result's public fields and of the return values of public verbs and properties."""
    if dataclasses.is_dataclass(owner):
        yield from ((field.name, str(field.type)) for field in dataclasses.fields(owner) if not field.name.startswith("_"))
    ours = [kind for kind in inspect.getmro(owner) if kind.__module__.startswith("memoir_engine")]
    for name, member in {name: member for kind in reversed(ours) for name, member in vars(kind).items()}.items():
        verb = member.fget if isinstance(member, property) else member
        if not name.startswith("_") and inspect.isfunction(verb):
            yield name, str(verb.__annotations__.get("return"))


def _classes(written: str, module: str) -> set[str]:
    """Return our classes among its names; short names for unions and literals need not be imported by anybody."""
    names = set(re.findall(r"\b[A-Z]\w+", re.sub(r"Literal\[[^]]*\]", "", written)))
    here = vars(sys.modules[module])
    return {name for name in names if _is_ours(here[name] if name in here else _anywhere(name))}


def _is_ours(found: object) -> bool:
    return inspect.isclass(found) and found.__module__.startswith("memoir_engine")


def _anywhere(name: str) -> object:
    """Look the name up where its module imports it for types alone."""
    ours = [module for known, module in sys.modules.items() if known.startswith("memoir_engine.")]
    return next((vars(module)[name] for module in ours if name in vars(module)), None)


@pytest.mark.parametrize(("name", "promised"), SIGNATURES)
def test_every_promised_parameter_is_there_in_its_order_with_its_default(name: str, promised: str):
    """Allow additional parameters, and defaults for positional ones."""
    holder: dict[str, Any] = {}
    exec(f"def promise({promised}): ...", holder)
    member = functools.reduce(getattr, name.split("."), memoir_engine)
    ours = {one.name: one for one in inspect.signature(member).parameters.values()}
    theirs = list(inspect.signature(holder["promise"]).parameters.values())
    assert [one.name for one in theirs] == [one for one in ours if one in {each.name for each in theirs}]
    assert {one.name: one.default for one in theirs if one.default is not one.empty} == {
        one.name: ours[one.name].default for one in theirs if one.default is not one.empty
    }


FACE = "from memoir_engine import Memory, AsyncMemory, MemoirError"
OPENING = ("pydantic", "memoir_engine.core.settings", "memoir_engine.core.results")  # loaded where a memory is opened


@pytest.mark.parametrize(
    ("statement", "left_out"),
    [("import memoir_engine", (*HEAVY, *OPENING)), (FACE, (*HEAVY, *OPENING)), (f"{FACE}, MemoirConfig", HEAVY)],
)
def test_importing_the_engine_loads_no_heavy_library(statement: str, left_out: tuple[str, ...]):
    look = f"{statement}; import json, sys; print(json.dumps([name for name in {left_out!r} if name in sys.modules]))"
    ran = subprocess.run([sys.executable, "-c", look], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == []


def test_the_package_carries_its_types():
    assert (REPOSITORY / "memoir_engine" / "py.typed").exists()
