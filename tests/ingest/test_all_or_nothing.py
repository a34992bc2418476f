"""A failed or cancelled ingestion stores nothing but its run and its paid calls."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from memoir_engine import Memory
from memoir_engine.core.events import CommitStarted, Stamped
from scripted_model import Opened, Script, events, leaves, paper, place

TRADES = paper("Music/Strings/Violin", "Art/Oil/Dutch", "Music/Wind/Flute")
FILED = {"Music/Strings/Violin": [0], "Art/Oil/Dutch": [1], "Music/Wind/Flute": [2]}


@contextmanager
def failing_write(memory: Memory, number: int, *, within: str = "") -> Iterator[list[str]]:
    """Fail the `number`-th write (from 1), counted from the one that mentions `within`, as if the disk were full."""
    engine = memory._async._engine.db._writer
    wrote: list[str] = []

    def fail(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(("INSERT", "UPDATE")) and (wrote or within in statement):
            wrote.append(statement)
            if len(wrote) == number:
                raise OperationalError(statement, {}, sqlite3.OperationalError("database or disk is full"))

    event.listen(engine, "before_cursor_execute", fail)
    try:
        yield wrote
    finally:
        event.remove(engine, "before_cursor_execute", fail)


def nothing_is_stored(memory: Memory) -> bool:
    return memory.sources.list() == () and memory.tree.all() == () and memory.overview().chunks == 0


@pytest.mark.req("MEMOIR 7.8", "MEMOIR 7.9", "MEMOIR 7B.3")
@pytest.mark.parametrize("number", range(1, 13))
def test_a_write_that_fails_at_any_point_of_the_commit_leaves_nothing_half_stored(memory: Memory, number: int):
    with failing_write(memory, number, within="INSERT INTO source "):
        result = memory.ingest_text(TRADES, name="trades.txt")
    assert result.error is not None
    assert result.error.code == "E506"
    assert "the ingestion of 'trades.txt' could not be written" in result.error.message
    assert nothing_is_stored(memory)
    assert memory.audit.verify().ok


@pytest.mark.req("MEMOIR 7B.4", "MEMOIR 7B.7")
def test_a_failed_write_names_the_operation_and_is_told_with_its_run(memory: Memory):
    with failing_write(memory, 5, within="INSERT INTO source "):
        result = memory.ingest_text(TRADES, name="trades.txt")
    assert result.error is not None
    (ended,) = events(memory, result.run_id, "RunEnded")
    assert ended == {"status": "failed", "error": result.error.message, "remedy": result.error.remedy}
    assert result.error.retryable
    assert "rolled back, no partial data was stored" in result.error.remedy


@pytest.mark.req("MEMOIR 7.9")
def test_after_a_failed_write_ingesting_again_asks_nothing_anew(memory: Memory, script: Script):
    with failing_write(memory, 3, within="INSERT INTO filing"):
        assert memory.ingest_text(TRADES).status == "error"
    script.requests.clear()
    again = memory.ingest_text(TRADES).raise_for_error()
    assert script.requests == []
    assert again.calls == 0
    assert leaves(memory) == FILED


@pytest.mark.req("MEMOIR 7B.1", "MEMOIR 7B.2", "MEMOIR 7B.5", "MEMOIR 7B.6")
def test_nothing_is_written_while_a_model_is_waited_for_and_all_of_it_in_one_commit(memory: Memory, script: Script):
    begun: list[str] = []
    engine = memory._async._engine.db._writer
    event.listen(engine, "before_cursor_execute", lambda c, k, statement, *a: begun.append(statement))
    event.listen(engine, "commit", lambda c: begun.append("COMMIT"))
    receipt = memory.ingest_text(TRADES).raise_for_error()
    tables = ("source", "contextual_helper", "chunk", "category", "category_version", "filing", "decision")
    wrote = {table: [i for i, said in enumerate(begun) if said.startswith(f"INSERT INTO {table} ")] for table in tables}
    first, last = min(min(at) for at in wrote.values()), max(max(at) for at in wrote.values())
    assert "COMMIT" not in begun[first:last]
    assert memory.sources.get(receipt.source_id or 0).chunks == receipt.chunks == 3
    assert events(memory, receipt.run_id, "Committed")[0]["head"] == memory.audit.head().hash


@pytest.mark.parametrize("purpose", ["helper", "classify"])
def test_a_model_that_fails_in_the_middle_leaves_nothing_but_the_paid_calls(opened: Opened, script: Script, purpose: str):
    memory = opened(max_retries=0, output_mode="native")
    script.on(purpose, *(place,) if purpose == "classify" else ())
    script.on(purpose, ModelHTTPError(400, "offline", {"error": {"message": "out of order"}}))
    result = memory.ingest_text(TRADES)
    assert result.error is not None
    assert result.error.code == "E404"
    assert nothing_is_stored(memory)
    calls = memory.runs.get(result.run_id).calls
    assert [call.error is None for call in calls].count(False) == 1
    assert memory.ingest_text(TRADES).raise_for_error().chunks == 3


def test_a_commit_whose_connection_breaks_is_tried_again_as_a_whole(memory: Memory):
    failed: list[str] = []

    def lose(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO filing") and not failed:
            failed.append(statement)
            raise OperationalError(statement, {}, sqlite3.OperationalError("database is locked"))

    event.listen(memory._async._engine.db._writer, "before_cursor_execute", lose)
    memory.ingest_text(TRADES).raise_for_error()
    assert len(failed) == 1
    assert leaves(memory) == FILED
    assert memory.audit.verify().ok


# --- called off -----------------------------------------------------------------------------------------------------------


def test_cancelled_while_the_model_is_waited_for_it_ends_with_nothing_stored(memory: Memory, script: Script):
    gate = script.hold("classify")
    run_id = memory.start("ingest_text", text=TRADES, name="trades.txt")
    script.wait_for("classify")
    assert memory.jobs.cancel(run_id)
    ended = memory.jobs.wait(run_id, 120)
    gate.open()
    assert (ended.status, ended.error) == ("cancelled", "[mem][E208] the ingestion of 'trades.txt' was cancelled")
    assert nothing_is_stored(memory)
    assert [(call.purpose, call.error) for call in memory.runs.get(run_id).calls] == [("helper", None), ("classify", "cancelled")]
    assert memory.audit.verify().ok


def test_ingesting_again_after_a_cancel_asks_only_what_was_not_answered(memory: Memory, script: Script):
    gate = script.hold("classify")
    run_id = memory.start("ingest_text", text=TRADES)
    script.wait_for("classify")
    memory.jobs.cancel(run_id)
    memory.jobs.wait(run_id, 120)
    gate.open()
    script.requests.clear()
    memory.ingest_text(TRADES).raise_for_error()
    assert script.asked("helper") == []
    assert leaves(memory) == FILED


def test_cancelled_before_it_begins_it_asks_nothing(memory: Memory, script: Script):
    gate = script.hold("helper")
    first = memory.start("ingest_text", text=TRADES)
    script.wait_for("helper")
    second = memory.start("ingest_text", text=paper("Law/Order/Rules"), name="second")
    assert memory.jobs.cancel(second)
    assert memory.jobs.wait(second, 120).status == "cancelled"
    gate.open()
    assert memory.jobs.wait(first, 120).status == "done"
    assert len(script.asked("helper")) == 1
    assert [source.name for source in memory.sources.list()] == ["text"]


def test_once_the_commit_has_begun_cancelling_is_too_late(memory: Memory):
    answers: list[bool] = []

    def late(stamped: Stamped) -> None:
        if isinstance(stamped.event, CommitStarted):
            answers.append(memory.jobs.cancel(stamped.run_id))

    result = memory.ingest_text(TRADES, on_event=late).raise_for_error()
    assert answers == [False]
    assert memory.jobs.get(result.run_id).status == "done"
    assert leaves(memory) == FILED


def test_who_waits_may_leave_during_the_commit_and_it_still_ends_as_done(memory: Memory, script: Script):
    engine = memory._async._engine
    release, waiting = threading.Event(), threading.Event()

    def hold(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO filing"):
            waiting.set()
            release.wait(120)

    event.listen(engine.db._writer, "before_cursor_execute", hold)
    future = engine.loop.submit(memory._async.ingest_text(TRADES))
    waiting.wait(120)
    (run_id,) = engine.runner.ids()
    future.cancel()
    release.set()
    assert memory.jobs.wait(run_id, 120).status == "done"
    assert leaves(memory) == FILED
    assert memory.audit.verify().ok


def test_cancelled_twice_in_a_row_it_is_cancelled_once(memory: Memory, script: Script):
    gate = script.hold("helper")
    run_id = memory.start("ingest_text", text=TRADES)
    script.wait_for("helper")
    assert memory.jobs.cancel(run_id)
    memory.jobs.cancel(run_id)  # true or false: the run may have ended in between
    assert memory.jobs.wait(run_id, 120).status == "cancelled"
    gate.open()
    assert len(events(memory, run_id, "RunEnded")) == 1
