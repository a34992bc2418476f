"""Result of a question with default settings: the memory's budget, the complete result."""

from __future__ import annotations

import pytest

from memoir_engine import Memory
from memoir_engine.core.errors import ModelReplyInvalid
from scripted_model import Opened, Script, paper, selected

THREE = ("Music/Strings/Violin", "Music/Wind/Flute", "Art/Oil/Dutch")


@pytest.fixture
def small(memory: Memory) -> Memory:
    memory.ingest_text(paper(*THREE), name="trades.txt").raise_for_error()
    return memory


def count(memory: Memory, text: str) -> int:
    return memory._async._engine.tokens.count(text)


def final_tokens(memory: Memory, script: Script) -> int:
    """Count the tokens of the last answer prompt as the engine does."""
    asked = script.asked("answer")[-1]
    return count(memory, f"{asked.instructions.split(chr(10), 1)[1]}\n\n{asked.text}")


@pytest.mark.req("MEMOIR 9.C1", "MEMOIR 9.C2", "MEMOIR 9.C3", "MEMOIR 9.9")
def test_a_budget_of_the_memory_holds_for_every_question_and_prunes_by_rank_unless_told_otherwise(opened: Opened, script: Script):
    roomy = opened("roomy.db")
    roomy.ingest_text(paper(*THREE), name="trades.txt").raise_for_error()
    roomy.query("where?").raise_for_error()
    whole = final_tokens(roomy, script)
    tight, just = opened("tight.db", max_token_budget=whole - 30), opened("just.db", max_token_budget=whole)
    for memory in (tight, just):
        memory.ingest_text(paper(*THREE), name="trades.txt").raise_for_error()
    script.on("select", selected("Art", "Music", most=2))
    pruned = tight.query("where?").raise_for_error()
    assert final_tokens(tight, script) <= whole - 30
    assert [(drop.category_path[-1], drop.reason) for drop in pruned.dropped_paths] == [("Flute", "budget")]
    assert just.query("where?").raise_for_error().dropped_paths == ()
    assert final_tokens(just, script) == whole
    assert script.asked("condense") == []


@pytest.mark.req("MEMOIR 4.7", "MEMOIR 9.F", "MEMOIR 9.10")
def test_what_the_caller_receives_is_the_whole_result_also_of_a_question_that_failed(small: Memory, script: Script):
    answered = small.query("where?")
    (first, *_), last = answered.responses, answered.responses[-1]
    assert (answered.status, answered.error, answered.dropped_paths) == ("success", None, ())
    assert [(used.chunk_id, used.category_path) for used in answered.used_chunks] == [
        (chunk.id, chunk.category_path) for chunk in answered.chunks
    ]
    assert [(one.purpose, one.model, one.tokens_prompt > 0, one.tokens_completion > 0) for one in (first, last)] == [
        ("select", "offline", True, True),
        ("answer", "offline", True, True),
    ]
    assert first.timestamp <= last.timestamp
    assert isinstance(answered.total_latency, float)
    script.on("answer", *["no JSON"] * 3)
    failed = small.query("where?")
    assert type(failed) is type(answered)
    assert (failed.status, failed.answer) == ("error", "")
    assert [one.purpose for one in failed.responses][:3] == ["select"] * 3
    assert {path.names for path in failed.paths} == {tuple(path.split("/")) for path in THREE}
    with pytest.raises(ModelReplyInvalid):
        failed.raise_for_error()
