"""The sample memory of its own: two years told by an injected clock, made whole or not at all, and deleted with its folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoir_engine import FactView, MemoirError, Memory, SampleMemory
from memoir_engine.api import sample_memory
from memoir_engine.samples import later_versions, questions, story


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own") / "sample"
    SampleMemory(folder).make()
    return folder


@pytest.fixture(scope="module")
def memory(made: Path) -> Iterator[Memory]:
    with SampleMemory(made).open(model="offline") as memory:
        yield memory


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> SampleMemory:
    shutil.copytree(made, tmp_path / "sample")
    return SampleMemory(tmp_path / "sample")


def known(memory: Memory, user: str) -> dict[str, FactView]:
    return {fact.content: fact for fact in memory.facts.list(user)}


def test_facts_were_learned_over_two_years(memory: Memory):
    moments = sorted(fact.recorded_at.date().isoformat() for fact in memory.facts.list("Leonie"))
    assert (moments[0], moments[-1]) == ("2024-01-08", "2025-11-10")
    assert len(set(moments)) >= 8


def test_a_person_corrected_one_fact_and_said_why(memory: Memory):
    facts = known(memory, "Leonie")
    wrong, right = (facts[content] for content in (
        "Has two nephews, Ole and Finn, who want to join",
        "Has a nephew, Ole, and a niece, Finn, who want to join",
    ))  # fmt: skip
    assert (wrong.status, wrong.cause, wrong.superseded_by) == ("outdated", "corrected", right.id)
    (action,) = [change for change in memory.audit.actions() if change.verb == "correct_fact"]
    assert (action.actor, action.reason) == ("Leonie", "Finn is my niece. I wrote that in a hurry.")


def test_one_fact_was_contradicted(memory: Memory):
    gone = [fact.content for fact in memory.facts.list("Leonie") if fact.cause == "conflict"]
    assert gone == ["Biscuit loves the stairs"]


def test_one_proposal_is_open(memory: Memory):
    assert [(one.user_id, one.old[0].content) for one in memory.facts.proposals()] == [
        ("Leonie", "Lives in a flat above the old post office in Norrwick since January")
    ]


def test_a_document_has_a_newer_version_that_answers(memory: Memory):
    assert [source.version for source in memory.sources.list() if source.name == "tool-library-rules.txt"] == [2, 1]
    assert "red-label machines nine" in (memory.query("What does a machine with a red label cost a week?").answer or "")


def test_one_question_of_the_samples_has_no_answer(memory: Memory):
    (unanswerable,) = [question for question in questions() if not question.answered]
    assert memory.query(unanswerable.text).answered is False


def test_its_chain_holds_and_today_follows_the_story(memory: Memory):
    memory.ingest_text("The new caretaker is called Anouk. " * 30, name="today.txt").raise_for_error()
    assert memory.audit.verify().ok
    times = [event.at for event in memory.audit.events(limit=500)]
    assert sorted(times) in (times, times[::-1])


def test_a_sample_memory_takes_no_model_and_place_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    told: list[dict[str, object]] = []
    monkeypatch.setenv("MEMOIR_MODEL", "openai:gpt-4o-mini")
    monkeypatch.setenv("MEMOIR_DATABASE_URL", f"sqlite:///{tmp_path / 'own.db'}")
    monkeypatch.setattr(sample_memory, "_talks", lambda: iter(()))
    monkeypatch.setattr(sample_memory, "story", lambda: story()[:1])
    SampleMemory(tmp_path / "sample").make(lambda done, steps: told.append({"done": done, "steps": steps}))
    assert told == [{"done": 0, "steps": 1}, {"done": 1, "steps": 1}]
    assert (tmp_path / "sample" / "memory.db").exists() and not (tmp_path / "own.db").exists()


def test_it_is_made_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sample_memory, "_talks", lambda: iter(()))
    monkeypatch.setattr(sample_memory, "later_versions", lambda: ())  # the story's newer version is not there
    monkeypatch.setattr(sample_memory, "story", lambda: [step for step in story() if step.do == "renew"])
    sample = SampleMemory(tmp_path / "sample")
    with pytest.raises(StopIteration):
        sample.make()
    assert not sample.is_made and list(tmp_path.iterdir()) == []


def test_it_is_deleted_with_its_folder_and_made_anew(copied: SampleMemory):
    copied.delete()
    assert not copied.is_made and not copied.folder.exists()
    copied.delete()


def test_a_folder_that_is_no_sample_memory_is_neither_deleted_nor_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sample_memory, "_tell", lambda folder, on_step: None)
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    sample = SampleMemory(tmp_path)
    sample.delete()
    with pytest.raises(MemoirError, match="something else stands there"):
        sample.make()
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_every_newer_version_is_of_a_document_and_told_in_the_story():
    assert [sample.name for sample in later_versions()] == [step.what for step in story() if step.do == "renew"]
