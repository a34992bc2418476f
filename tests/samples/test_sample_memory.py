"""The sample memory, built and asked by the offline model: what a new user sees first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memoir_engine import Memory
from memoir_engine.samples import documents, questions


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(data_dir=tmp_path_factory.mktemp("samples"), model="offline") as memory:
        for sample in documents():
            memory.ingest_file(sample.data, name=sample.name).raise_for_error()
        yield memory


def asked(about: str) -> str:
    return next(question.text for question in questions() if about in question.about)


def test_a_tree_worth_looking_at_arises(memory):
    roots = memory.tree.roots()
    assert 20 <= sum(root.chunks for root in roots) <= 40
    assert len(roots) >= 5
    assert max(root.chunks for root in roots) <= 10


def test_the_spanning_question_cites_two_branches(memory):
    result = memory.query(asked("spans two branches"), strategy="wide_branch").raise_for_error()
    cited = {used.category_path[0] for used in result.used_chunks if used.quotes}
    assert len(cited) == 2
    assert "2,340 water birds" in result.answer and "nine degrees" in result.answer


def test_the_net_catches_what_one_shot_misses(memory):
    result = memory.query(asked("only the net catches"), strategy="one_shot", safety_net=5).raise_for_error()
    read = {chunk.id for chunk in result.chunks}
    telling = [chunk for chunk in (*result.chunks, *result.net) if "Wednesdays" in chunk.text]
    assert {chunk.source_name for chunk in telling if chunk.id in read} == {"choir-letter.txt"}
    assert "tool-library-rules.txt" in {chunk.source_name for chunk in telling if chunk.id not in read}


@pytest.mark.parametrize("question", [question.text for question in questions() if question.answered])
def test_every_sample_question_that_has_an_answer_is_answered_with_spans_that_open(memory, question):
    result = memory.query(question).raise_for_error()
    quotes = [(used.source_id, span) for used in result.used_chunks for span in used.quotes]
    assert quotes
    assert all(memory.sources.text(source)[start:end].strip() for source, (start, end) in quotes)
