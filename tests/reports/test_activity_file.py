"""Export of the activity: no cell is a formula, and JSON holds every event."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import pytest

from memoir_engine.audit.trail import COLUMNS, action_record, csv_row, csv_rows, to_json
from memoir_engine.core.results import Action, AuditEvent, Change

AT = datetime(2026, 1, 1, tzinfo=UTC)
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u200b=1", "＝1", "|cmd", "%0A=1", "\ufeff@x")


def action(reason: str, *changes: Change) -> Action:
    events = (AuditEvent(5, AT, "a" * 26, "run.closed", {"run": "r"}, None, "f" * 64),)
    return Action("a" * 26, "close", "Mia", AT, reason, None, None, None, events, changes)


def cells(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("formula", FORMULAS, ids=ascii)
def test_no_cell_begins_like_a_formula(formula: str) -> None:
    (row,) = cells(csv_row(COLUMNS) + csv_rows([action(formula)]))
    assert row["reason"].startswith("'")


def test_a_plain_cell_is_left_as_it_is() -> None:
    (row,) = cells(csv_row(COLUMNS) + csv_rows([action("it was wrong, twice\nreally")]))
    assert row["reason"] == "it was wrong, twice\nreally"
    assert (row["actor"], row["verb"], row["first_event"]) == ("Mia", "Finished a run", "5")


def test_each_thing_an_action_did_has_a_line() -> None:
    changes = (Change("chunk.refiled", "a chunk was moved", "Law", "Art"), Change("category.closed", "Law closes"))
    rows = cells(csv_row(COLUMNS) + csv_rows([action("why", *changes)]))
    assert [(row["what"], row["before"], row["after"]) for row in rows] == [
        ("a chunk was moved", "Law", "Art"),
        ("Law closes", "", ""),
    ]


def test_the_json_of_an_action_holds_its_events() -> None:
    record = json.loads(to_json(action_record(action("why"))))
    assert record["events"][0]["hash"] == "f" * 64
    assert record["at"] == "2026-01-01T00:00:00.000000Z"
