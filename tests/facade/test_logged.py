"""Progress of a run also goes to Python's log, without any source text."""

from __future__ import annotations

import logging

import pytest

from memoir_engine import Memory
from scripted_model import Script, paper

TRADES = paper("Music/Strings/Violin", "Art/Oil/Dutch")
RUNS = "memoir_engine.runs"


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int]]:
    return [(record.__dict__["event"], record.levelno) for record in caplog.records if record.name == RUNS]


@pytest.mark.req("MEMOIR 2A.10", "MEMOIR 2B.10")
def test_a_helper_its_batches_and_the_commit_are_logged_with_their_figures(memory: Memory, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, logger=RUNS):
        result = memory.ingest_text(TRADES, name="trades.txt").raise_for_error()
    names = [name for name, level in logged(caplog) if level == logging.INFO]
    assert (names[0], names[-2], names[-1]) == ("RunStarted", "Committed", "RunEnded")
    assert {"HelperReady", "BatchClassified"} < set(names)
    batch = next(record for record in caplog.records if record.__dict__.get("event") == "BatchClassified")
    assert batch.__dict__["run_id"] == result.run_id
    assert all(f"'{figure}'" in batch.getMessage() for figure in ("sent", "succeeded", "retried", "latency_ms"))


@pytest.mark.req("MEMOIR 7.1")
def test_a_text_below_the_minimum_is_a_logged_warning(memory: Memory, caplog: pytest.LogCaptureFixture):
    result = memory.ingest_text("Music/Strings/Violin", name="note.txt").raise_for_error()
    (warning,) = [record for record in caplog.records if record.name == RUNS and record.levelno == logging.WARNING]
    assert result.warnings[0] in warning.getMessage()


@pytest.mark.req("MEMOIR 7.9", "MEMOIR 7B.4")
def test_a_failure_is_logged_with_its_exact_message(memory: Memory, script: Script, caplog: pytest.LogCaptureFixture):
    result = memory.ingest_file(b"\x00\x01\x02", name="odd.txt")
    assert result.error is not None
    (error,) = [record for record in caplog.records if record.name == RUNS and record.levelno == logging.ERROR]
    assert str(result.error.message) in error.getMessage()


def test_no_word_of_a_text_is_logged(memory: Memory, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.DEBUG, logger=RUNS):
        memory.ingest_text(TRADES + " Xylograph.", name="trades.txt").raise_for_error()
        memory.query("Where are Xylograph?")
    assert any(name == "ChunkPlaced" for name, _ in logged(caplog))
    assert not any("Xylograph" in record.getMessage() for record in caplog.records if record.name == RUNS)
