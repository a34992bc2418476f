"""Adding a fact costs the same, however much is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from fact_play import remember
from memoir_engine import Memory

EVERY_ROW = {"audit_head", "counter", "lease"}  # tables of a few rows, whatever is stored


@contextmanager
def heard(memory: Memory) -> Iterator[list[tuple[str, Any]]]:
    """The statements of the units, with what they are given."""
    said: list[tuple[str, Any]] = []
    db = memory._async._engine.db

    def hear(_connection: Any, _cursor: Any, statement: str, given: Any, *_: Any) -> None:
        said.append((statement, given))

    for engine in (db._reader, db._writer):
        event.listen(engine, "before_cursor_execute", hear)
    yield said
    for engine in (db._reader, db._writer):
        event.remove(engine, "before_cursor_execute", hear)


def steps(memory: Memory, said: list[tuple[str, Any]]) -> list[str]:
    """How SQLite goes about them, one step after the other."""
    looked = [one for one in said if one[0].startswith(("SELECT", "UPDATE", "DELETE"))]
    with memory._async._engine.db._reader.connect() as connection:
        plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {asked}", given).all() for asked, given in looked]
    return [row.detail for plan in plans for row in plan]


@pytest.mark.req("TIMEM similarity", "TIMEM storage")
def test_no_statement_of_remembering_walks_through_a_whole_table(memory: Memory) -> None:
    remember(memory, "Mia lives in Berlin")
    with heard(memory) as said:
        remember(memory, "Mia likes tea in Berlin")
    walks = {step for step in steps(memory, said) if step.startswith("SCAN ")}
    assert {walk for walk in walks if walk.split()[1] not in EVERY_ROW} == set()


def test_what_was_paid_for_a_conversation_is_found_by_its_subject(memory: Memory) -> None:
    with heard(memory) as said:
        remember(memory, "Mia lives in Berlin")
    paid = [one for one in said if one[0].startswith("SELECT model_call.fingerprint")]
    assert [step.split(" (")[0] for step in steps(memory, paid)] == [
        "SEARCH model_call USING INDEX ix_model_call_subject_fingerprint",
        "SEARCH run USING INDEX sqlite_autoindex_run_1",
    ]
