"""Rebuilding all search indexes. Source: API `memory.reindex`; DESIGN §2.3."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from fake_openai import FakeOpenAI
from memoir_engine import Memory
from memoir_engine.core.errors import NotAllowed

Opened = Any
TEA = "Tea is grown in Uji. The first harvest begins in May. "


def found(memory: Memory) -> list[tuple[str | None, float]]:
    return [(one.doc_id, round(one.score, 3)) for one in memory.search("harvest of tea", top_k=3)]


def test_everything_is_made_anew_and_found_as_before(memory: Memory):
    memory.add_knowledge("tea", TEA * 30)
    memory.add_knowledge("bread", "Bread is baked in an oven. " * 10)
    before = found(memory)
    done = memory.reindex()
    assert (done.passages, done.vectors, done.made) == (5, 5, 0)
    assert found(memory) == before
    assert memory.audit.verify().ok


def test_files_of_indexes_that_are_gone_cost_nothing_but_time(opened: Opened, tmp_path: Path):
    memory = opened()
    memory.add_knowledge("tea", TEA * 30)
    before = found(memory)
    memory.close()
    for folder in (tmp_path / "memory.memoir").iterdir():
        shutil.rmtree(folder) if folder.is_dir() else folder.unlink()
    again = opened()
    assert found(again) == before
    again.reindex()
    assert found(again) == before


def test_a_job_tells_how_far_it_is(memory: Memory):
    memory.add_knowledge("tea", TEA * 30)
    memory.search("tea")
    run = memory.jobs.wait(memory.start("reindex"))
    assert (run.status, run.result["passages"], run.result["vectors"]) == ("done", 4, 4)
    told = [(event.body["step"], event.body["done"]) for event in memory.runs.events(run.id) if event.kind == "Reindexing"]
    assert told == [("passages", 0), ("passages", 4), ("words", 4), ("vectors", 4)]


def test_another_embedder_is_asked_for_what_it_has_not_seen(on_the_wire: Opened, fake_openai: FakeOpenAI):
    memory = on_the_wire()
    memory.add_knowledge("tea", TEA)
    memory.search("tea")
    memory.close()
    other = on_the_wire(embedder="local-embedder")
    done = other.reindex()
    assert (done.made, done.vectors, done.embedder) == (1, 1, "compatible:local-embedder")
    assert [call.purpose for call in other.runs.get(done.run_id).calls] == ["embed"]
    assert other.reindex().made == 0
    assert len(fake_openai.seen) == 1


def test_it_needs_an_admin(memory: Memory):
    auditor = memory.acting_as("Aki", roles=("auditor",))
    with pytest.raises(NotAllowed, match="rebuild the indexes"):
        auditor.reindex()
    with pytest.raises(NotAllowed):
        auditor.start("reindex")


def test_an_index_of_vectors_that_cannot_be_had_is_told_and_words_are_made_anew(opened: Opened, tmp_path: Path):
    holder, memory = opened(data_dir=tmp_path / "shared"), opened("other.db", data_dir=tmp_path / "shared", vector_store="off")
    memory.add_knowledge("tea", TEA)
    done = memory.reindex()
    assert (done.passages, done.vectors, done.made, done.problem) == (1, 0, 0, None)
    assert memory.search("tea")[0].mode == "bm25_only"
    assert holder.search("tea") == []
