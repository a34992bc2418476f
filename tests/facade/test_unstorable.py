"""Text that no database can store is refused right after reading, before a model is paid for."""

from __future__ import annotations

import pytest

from memoir_engine import Memory
from scripted_model import Script, paper

TRADES = paper("Music/Strings/Violin").encode()


@pytest.mark.req("MEMOIR 7.6", "MEMOIR 6.5")
@pytest.mark.parametrize(
    ("name", "told"),
    [
        pytest.param("n" * 5000, "it is 5000 characters long", id="long"),
        pytest.param("a\x00b.txt", "it holds NUL characters", id="NUL"),
        pytest.param("a\ud800.txt", "half of a surrogate pair", id="surrogate"),
        pytest.param("", "it is empty", id="empty"),
        pytest.param(" \t ", "it is empty", id="blank"),
    ],
)
def test_a_name_that_cannot_be_stored_costs_nothing(memory: Memory, script: Script, name: str, told: str):
    result = memory.ingest_file(TRADES, name=name)
    assert result.error is not None
    assert (result.error.code, script.requests, memory.sources.list()) == ("E205", [], ())
    assert told in result.error.message
    assert memory.runs.ingest(result.run_id).error.code == "E205"


@pytest.mark.req("MEMOIR 7.6")
def test_a_helper_that_cannot_be_stored_costs_nothing(memory: Memory, script: Script):
    result = memory.ingest_file(TRADES, name="a.txt", contextual_helper="of \x00 the sea")
    assert result.error is not None
    assert (result.error.code, script.requests, memory.sources.list()) == ("E205", [], ())


def test_a_text_without_a_name_is_called_text(memory: Memory):
    source = memory.ingest_text(TRADES.decode(), name=" ").raise_for_error().source_id
    assert memory.sources.get(source).name == "text"
