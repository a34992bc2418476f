"""Questions that a source answers: each leads to it, and is answered from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoir_engine import MemoirError, Memory
from memoir_engine.samples import documents


@pytest.fixture
def filled(tmp_path: Path):
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        for sample in documents():
            memory.ingest_file(sample.data, name=sample.name).raise_for_error()
        yield memory


def test_every_question_offered_is_answered_from_the_source_it_is_of(filled: Memory):
    wrong, offered = [], 0
    for source in filled.sources.list():
        for asked in filled.source_questions(source.id):
            offered += 1
            result = filled.query(asked.text, safety_net=3, safety_net_in_prompt=True)
            if source.id not in {used.source_id for used in result.used_chunks if used.cited}:
                wrong.append((source.name, asked.text, result.answer))
    assert wrong == []
    assert offered >= 2 * len(filled.sources.list())


def test_a_question_names_the_span_that_answers_it(filled: Memory):
    report = filled.sources.by_name("energy-report-2023.docx")[0]
    (asked,) = filled.source_questions(report.id, limit=1)
    assert asked.text == "How much did the solar roof cost?"
    assert filled.sources.text(report.id)[asked.start : asked.end].startswith("The solar roof cost 61,500 euros")


def test_nothing_is_asked_or_written(filled: Memory):
    before = filled.audit.head(), filled.runs.list()
    filled.source_questions(1)
    assert (filled.audit.head(), filled.runs.list()) == before


def test_a_question_that_another_source_answers_better_is_not_offered(filled: Memory):
    other = filled.ingest_text("The valves are locked, because every guest knows better. " * 12, name="valves.txt").source_id
    report = filled.sources.by_name("energy-report-2023.docx")[0].id
    offered = {source: [asked.text for asked in filled.source_questions(source, limit=9)] for source in (other, report)}
    assert ["Why are the valves locked?" in offered[source] for source in (other, report)] == [True, False]


def test_an_unknown_source_is_said(filled: Memory):
    with pytest.raises(MemoirError) as told:
        filled.source_questions(999)
    assert told.value.code == "E206"
