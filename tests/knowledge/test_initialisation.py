"""Defaults of `Memory()`, and what it passes on. Source: MEMOLLA F-00, E004, §1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoir_engine import MemoirError, Memory
from memoir_engine.core.errors import UnsupportedBackend

Opened = Any
TEA = "Tea is grown in Uji. The first harvest begins in May."
KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LMSTUDIO_BASE_URL", "OLLAMA_BASE_URL", "MEMOIR_MODEL", "MEMOIR_EMBEDDER")


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder with no settings."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.mark.req("MEMOLLA F-00-01")
def test_nothing_given_makes_the_default_store_with_both_indexes(alone: Path):
    with Memory() as memory:
        memory.add_knowledge("tea", TEA)
        (found,) = memory.search("where is tea grown")
        assert (found.mode, found.doc_id) == ("hybrid", "tea")
        assert memory.is_offline
    made = {path.relative_to(alone).parts[1] for path in (alone / ".memoir").rglob("*") if path.is_file()}
    assert {"memory.db", "passages", "dense"} <= made
    with Memory(backend="auto") as again:
        assert [one.doc_id for one in again.search("where is tea grown")] == ["tea"]


@pytest.mark.req("MEMOLLA F-00-01")
def test_providers_come_from_what_is_given_then_dotenv_then_the_environment(alone: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMOIR_EMBEDDER", "ollama:from-the-environment")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    with Memory() as memory:
        told = {setting.name: (setting.value, setting.origin) for setting in memory.settings()}
        assert (memory.model_name, told["OPENAI_API_KEY"]) == ("gpt-4o-mini", ("set", "environment"))
        assert told["embedder"] == ("ollama:from-the-environment", "environment")
    (alone / ".env").write_text("MEMOIR_EMBEDDER=ollama:from-dotenv\nOPENAI_API_KEY=sk-from-dotenv\n")
    with Memory() as memory:
        told = {setting.name: (setting.value, setting.origin) for setting in memory.settings()}
        assert (told["embedder"], told["OPENAI_API_KEY"]) == (("ollama:from-dotenv", ".env"), ("set", ".env"))
    with Memory(embedder="offline", model="offline") as memory:
        told = {setting.name: (setting.value, setting.origin) for setting in memory.settings()}
        assert told["embedder"] == ("offline", "argument")


@pytest.mark.req("MEMOLLA F-00-01")
def test_options_of_the_backend_reach_bm25_and_chroma(opened: Opened):
    usual = opened("one.db")
    other = opened("two.db", backend_options={"bm25": {"k1": 0.9, "b": 0.0}, "chroma": {"ef_search": 200, "max_neighbors": 32}})
    raw = []
    for memory in (usual, other):
        memory.add_knowledge("tea", TEA)
        memory.add_knowledge("long", "Tea is grown by many. " + "Other things are said of other places and people. " * 5)
        raw.append([(one.doc_id, one.raw_bm25) for one in memory.search("tea grown", top_k=2, alpha=0.0)])
        assert memory.search("tea")[0].mode == "hybrid"
    assert raw[0] != raw[1]
    assert dict(raw[1])["tea"] == pytest.approx(dict(raw[1])["long"])  # with b = 0 the length of a passage does not count


@pytest.mark.parametrize(
    "options",
    [{"bm25": {"k2": 1}}, {"bm25": {"b": 2}}, {"chroma": {"space": "l2"}}, {"redis": {}}],
    ids=["no option of bm25", "b above 1", "no option of Chroma", "no backend"],
)
def test_options_that_no_index_takes_are_refused_by_name(opened: Opened, options: dict[str, Any]):
    with pytest.raises(MemoirError, match=r"E102.*backend_options") as refused:
        opened(backend_options=options)
    assert refused.value.remedy


@pytest.mark.req("MEMOLLA F-00-02", "MEMOLLA E004")
def test_an_unknown_backend_is_refused_to_the_letter(alone: Path):
    with pytest.raises(UnsupportedBackend) as refused:
        Memory(backend="redis")
    assert str(refused.value) == "[mem][E004] Unsupported backend"
    assert list(alone.iterdir()) == []
