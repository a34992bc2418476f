"""Edge cases of facts: who pays for a search, pages of relations, the embedder's meanings, and invalid texts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fact_play import remember, said
from fake_openai import FakeOpenAI, Status, Vectors
from memoir_engine import MemoirError, Memory, MemoryExtractor, chunk_text, compare_token_counts, count_tokens, token_method
from scripted_model import Opened, Script

REMOTE = {"embedder": "openai:text-embedding-3-small", "embedder_dims": 8}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-real-key-000")
        yield running


@pytest.mark.req("TIMEM isolation")
def test_what_an_admin_asks_about_somebody_is_a_run_of_that_person(opened: Opened, server: FakeOpenAI, script: Script):
    memory = opened(**REMOTE)
    remember(memory, "Mia likes tea")
    memory.recall("what does she drink", user_id="mia")
    assert [run.user for run in memory.runs.list(limit=2)] == ["mia", "mia"]
    assert [run.verb for run in memory.acting_as("Ben", user="ben").runs.list()] == []


def test_relations_come_in_pages(memory: Memory, script: Script):
    links = [{"source": 1, "target": other, "kind": "part_of", "confidence": 1} for other in (2, 3, 4)]
    script.on("relate", {"relations": links})
    remember(memory, "Mia rows on a lake. Mia likes the lake. Mia has a cat by the lake. Mia paints the lake")
    every = memory.facts.relations("mia")
    first = memory.facts.relations("mia", limit=2)
    assert (len(every), first) == (3, every[:2])
    assert memory.facts.relations("mia", limit=2, after=first[-1]) == every[2:]
    for wrong in ({"after": "the last one"}, {"limit": 10**9}):
        with pytest.raises(MemoirError, match=r"\[mem\]\[E102\]"):
            memory.facts.relations("mia", **wrong)


def test_a_fact_that_was_taken_back_can_be_looked_at_before_it_is_forgotten(memory: Memory, script: Script):
    found = remember(memory, "Mia likes tea")
    memory.review.undo(found.action_id)
    shown = memory.facts.preview_forget(found.added[0].id)
    assert (shown.fact.content, shown.places["fact"]) == ("Mia likes tea", 1)
    memory.facts.forget(found.added[0].id, "she asked for it")
    with pytest.raises(MemoirError, match=r"\[mem\]\[E601\]"):
        memory.facts.preview_forget(found.added[0].id)
    assert memory.audit.verify().ok


TALK = said(*["Mia talks of the very same garden here"] * 10)
SEMANTIC = {"conversation": {"strategy": "semantic", "max_tokens": 80, "min_tokens": 0}}


@pytest.mark.req("CHUNK 5.3")
def test_where_the_subject_shifts_is_told_by_the_memorys_embedder(opened: Opened, server: FakeOpenAI, script: Script):
    """All words are the same; the embedder's vectors change at the fifth message."""
    server.say_vectors(Vectors([[1.0] + [0.0] * 7] * 4 + [[0.0] * 7 + [1.0]] * 6))
    found = opened(**REMOTE, **SEMANTIC).remember(TALK, user_id="mia")
    assert [cut.first for cut in found.cuts] == [0, 4]


@pytest.mark.req("CHUNK 15.5")
def test_words_tell_it_where_the_embedder_cannot_be_asked(opened: Opened, server: FakeOpenAI, script: Script):
    server.say_vectors(Status(400, "no such model"))
    memory = opened(**REMOTE, **SEMANTIC, max_retries=0)
    found = MemoryExtractor(memory=memory).extract(TALK, user_id="mia")
    assert {cut.strategy for cut in found.cuts} == {"semantic"}
    assert [one for one in found.warnings if one.startswith("Where the subject shifts was told by words")]


@pytest.mark.parametrize(
    "refused",
    [
        lambda: count_tokens(None),
        lambda: count_tokens("tea", 3),
        lambda: count_tokens("tea", method=3),
        lambda: chunk_text(b"tea"),
        lambda: chunk_text("tea", min_tokens="few"),
        lambda: token_method(None),
        lambda: compare_token_counts(["tea", None]),
        lambda: compare_token_counts("tea"),
        lambda: compare_token_counts({"tea": "two"}),
    ],
)
def test_what_is_no_text_is_refused_by_its_name(refused):
    with pytest.raises(MemoirError, match=r"\[mem\]\[E102\]") as error:
        refused()
    assert error.value.remedy


NO_WORDS = "The messages hold no words: there is nothing to draw facts from."


@pytest.mark.parametrize(
    ("messages", "warnings"),
    [
        pytest.param([], ("There are no messages: there is nothing to draw facts from.",), id="none"),
        pytest.param(said("", " \n"), (NO_WORDS,), id="only empty ones"),
        pytest.param(said("Mia likes tea", " "), ("Message 2 holds no words.",), id="an empty one"),
        pytest.param(said("", "Mia likes tea", ""), ("Messages 1, 3 hold no words.",), id="several empty ones"),
        pytest.param(said("Mia likes tea"), (), id="words alone"),
    ],
)
def test_what_holds_no_words_is_warned_of(
    memory: Memory, script: Script, messages: list[dict[str, str]], warnings: tuple[str, ...]
):
    assert MemoryExtractor(memory).extract(messages, user_id="mia").warnings == warnings
    assert memory.remember(messages, user_id="mia").warnings == warnings


@pytest.mark.parametrize("unseen", ["\u200b", " \u200b\u2060 ", "\ufeff"])
def test_marks_that_nobody_sees_are_no_words_of_a_fact(memory: Memory, unseen: str):
    known = memory.facts.add("Mia likes tea", "mia").fact_id or ""
    for changed in (lambda: memory.facts.add(unseen, "mia"), lambda: memory.facts.correct(known, unseen)):
        with pytest.raises(MemoirError, match=r"\[mem\]\[E608\]"):
            changed()
    assert [fact.content for fact in memory.facts.list("mia", status="active")] == ["Mia likes tea"]


def test_a_suggested_addition_takes_its_words_once(memory: Memory):
    with pytest.raises(MemoirError, match=r"\[mem\]\[E102\] content"):
        memory.facts.suggest("add", "mia", "Plays chess")
    assert memory.facts.proposals() == ()


def test_more_than_a_question_is_not_recalled_by(memory: Memory):
    memory.facts.add("Mia likes tea", "mia")
    with pytest.raises(MemoirError, match="Shorten it to 10000 characters"):
        memory.recall("x" * 10_001, user_id="mia")
