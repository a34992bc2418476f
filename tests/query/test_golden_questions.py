"""The requests of one question of each strategy, as golden text: any change of what a model is sent is seen as a difference."""

from __future__ import annotations

from typing import Any

import pytest

from golden_texts import Golden, requests_text
from memoir_engine import Memory
from memoir_engine.prompts import condense
from scripted_model import Asked, Opened, Script

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
def test_a_question_sends_what_was_agreed(harbour: Memory, script: Script, golden: Golden, strategy: str):
    script.requests.clear()
    harbour.query("When does the ferry leave on Sundays?", strategy=strategy).raise_for_error()
    golden(f"question-{strategy}", requests_text(script.requests))


def test_questions_that_shorten_and_that_read_the_nets_catch_send_what_was_agreed(opened: Opened, script: Script, golden: Golden):
    def shortened(asked: Asked) -> dict[str, Any]:
        pieces = condense.read(asked.text).pieces
        return {"summaries": [{"chunk_id": piece.chunk_id, "summary": piece.text[: piece.target * 2 // 3]} for piece in pieces]}

    memory = opened(summarization_instruction_headroom_tokens=10)
    memory.ingest_text(TEXT, name="town.md", contextual_helper="Notes of a town by the sea. Date: 1999.").raise_for_error()
    script.requests.clear()
    script.always("condense", shortened)
    question = "When does the ferry leave on Sundays, and when are roses pruned?"
    memory.query(question, prompt_limiting_strategy="SUMMARIZE", max_token_budget=310).raise_for_error()
    assert script.asked("condense")
    memory.query(question, safety_net=1, safety_net_in_prompt=True).raise_for_error()
    golden("question-shortened", requests_text(script.requests))
