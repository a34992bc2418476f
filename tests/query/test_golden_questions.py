"""The requests of one question of each strategy, as golden text: any change of what a model is sent is seen as a difference.

The instructions stand in the golden texts of the prompts; here are the texts, in the order they were sent.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memoir_engine import Memory
from scripted_model import Script

GOLDEN = Path(__file__).parents[1] / "golden"
TEXT = """\
Harbour/Ferries/Timetable The ferry to the island leaves the northern quay at nine, and at ten on Sundays.

Harbour/Ferries/Tickets A ticket for the ferry costs four euros; children below six travel free of charge.

Harbour/Cranes/Repairs The old crane was repaired in March 1998, which took the harbour office eleven weeks.

Garden/Watering/Summer In summer the tomatoes are watered in the evening, from barrels that hold the rain.

Garden/Pruning/Roses Roses are pruned in February, before the first leaves, and never when it freezes.
"""


@pytest.fixture
def harbour(memory: Memory) -> Memory:
    memory.ingest_text(TEXT, name="town.md", contextual_helper="Notes of a town by the sea. Date: 1999.").raise_for_error()
    return memory


@pytest.mark.parametrize("strategy", ["one_shot", "wide_branch", "zoom_in", "branch_out"])
def test_a_question_sends_what_was_agreed(harbour: Memory, script: Script, strategy: str):
    harbour.query("When does the ferry leave on Sundays?", strategy=strategy).raise_for_error()
    sent = [asked for asked in script.requests if asked.purpose in ("select", "answer")]
    text = "\n".join(f"=== {asked.instructions.splitlines()[0]}\n{asked.text}" for asked in sent)
    assert text == (GOLDEN / f"question-{strategy}.txt").read_text(encoding="utf-8")
