"""SUMMARIZE through the whole product: prompts, final prompt, and stored summaries."""

from __future__ import annotations

from typing import Any

import pytest

from memoir_engine import Memory, QueryResult
from memoir_engine.core.errors import ConfigurationError
from memoir_engine.prompts import condense
from scripted_model import Asked, Opened, Script, events, selected

BUDGET = 360
SETTINGS: dict[str, Any] = {
    "chunk_min_tokens": 40,
    "chunk_max_tokens": 80,
    "summarization_instruction_headroom_tokens": 10,
    "max_token_budget": BUDGET,
    "prompt_limiting_strategy": "SUMMARIZE",
    "max_retries": 0,
}
SAYING = "tells of the trade, of those who work at it, of their tools, their years of learning and their pay"
TRADES = "\n\n".join(f"{name} paragraph {i} {SAYING}, {SAYING}, {SAYING}." for i, name in enumerate(("Music", "Art", "Law"), 1))


def condensed(asked: Asked) -> dict[str, Any]:
    """Cut each chunk well below its target: a cut word takes more tokens than a whole one."""
    part = condense.read(asked.text)
    return {"summaries": [{"chunk_id": piece.chunk_id, "summary": piece.text[: piece.target * 4 // 5]} for piece in part.pieces]}


def over(asked: Asked) -> dict[str, Any]:
    """Return each chunk unshortened."""
    part = condense.read(asked.text)
    return {"summaries": [{"chunk_id": piece.chunk_id, "summary": piece.text} for piece in part.pieces]}


@pytest.fixture
def filled(opened: Opened, script: Script) -> Memory:
    """A memory of three chunks of some 70 tokens in three leaves; the budget fits about a third of them."""
    script.always("condense", condensed)
    memory = opened(hierarchy_depth=1, **SETTINGS)
    assert memory.ingest_text(TRADES).raise_for_error().chunks == 3
    script.requests.clear()
    return memory


def final_texts(script: Script) -> list[str]:
    return [passage.text for passage in script.asked("answer")[0].final.passages]


@pytest.mark.req("MEMOIR 9.B3.1", "MEMOIR 9.7")
def test_a_question_whose_chunks_fit_is_answered_from_the_chunks_themselves(filled: Memory, script: Script):
    answered = filled.query("What of trades?", max_token_budget=4000).raise_for_error()
    assert script.asked("condense") == []
    assert final_texts(script) == [chunk.text for chunk in answered.chunks]
    assert (answered.compression_ratio, answered.summaries) == (None, ())


@pytest.mark.req("MEMOIR 9.B3.3", "MEMOIR 9.B3.5", "MEMOIR 9.8", "MEMOIR 9.8.1", "MEMOIR 9.8.2", "MEMOIR 9.8.4", "MEMOIR 7.3")
def test_above_the_budget_every_chunk_is_shortened_to_its_share(filled: Memory, script: Script):
    answered = filled.query("What of trades?").raise_for_error()
    assert answered.compression_ratio is not None
    assert 0 < answered.compression_ratio < 1
    chars = [len(chunk.text) for chunk in answered.chunks]
    targets = [int(length * answered.compression_ratio) for length in chars]
    assert [(each.chars, each.target) for each in answered.summaries] == list(zip(chars, targets, strict=True))
    assert final_texts(script) == [each.text for each in answered.summaries]
    assert [each.text for each in answered.summaries] == [
        c.text[: t * 4 // 5] for c, t in zip(answered.chunks, targets, strict=True)
    ]
    assert "Music paragraph 1" in answered.answer


@pytest.mark.req("MEMOIR 9.B3.2")
@pytest.mark.parametrize("use_rankings", [True, False])
def test_nothing_is_dropped_whatever_the_rankings(filled: Memory, script: Script, use_rankings: bool):
    answered = filled.query("What of trades?", use_rankings=use_rankings).raise_for_error()
    assert answered.dropped_paths == ()
    assert len(answered.used_chunks) == len(answered.chunks) == len(answered.summaries) == 3


@pytest.mark.req("MEMOIR 9.B3.2", "MEMOIR 9.C3")
def test_the_ranks_order_the_chunks_and_change_nothing_of_their_targets(filled: Memory, script: Script):
    script.on("select", selected("Law", "Art", "Music"), selected("Music", "Art", "Law"))
    first, second = filled.query("One?").raise_for_error(), filled.query("Two?").raise_for_error()
    assert [chunk.category_path for chunk in first.chunks] == [("Law",), ("Art",), ("Music",)]
    assert {each.chunk_id: each.target for each in first.summaries} == {each.chunk_id: each.target for each in second.summaries}


@pytest.mark.req("MEMOIR 9.B3.4", "MEMOIR 9.8.3")
def test_chunks_go_out_in_parts_that_keep_to_budget_less_headroom(filled: Memory, script: Script):
    answered = filled.query("What of trades?").raise_for_error()
    count = filled._async._engine.tokens.count
    sent = [(asked, condense.read(asked.text)) for asked in script.asked("condense")]
    assert len(sent) > 1
    assert [piece.chunk_id for _, part in sent for piece in part.pieces] == [chunk.id for chunk in answered.chunks]
    assert [count(asked.instructions + asked.text) <= BUDGET - 10 for asked, _ in sent] == [True] * len(sent)


@pytest.mark.req("MEMOIR 9.B3.6", "MEMOIR 9.8.5")
def test_a_summary_that_is_too_long_is_asked_again_alone(filled: Memory, script: Script):
    script.on("condense", over)
    answered = filled.query("What of trades?").raise_for_error()
    parts = [condense.read(asked.text) for asked in script.asked("condense")]
    assert (parts[1].pieces, parts[1].strict) == (parts[0].pieces, True)
    assert all(len(each.text) <= each.target for each in answered.summaries)


@pytest.mark.req("MEMOIR 9.B3.7")
def test_summaries_that_stay_too_long_are_an_error_with_targets_and_remedy(filled: Memory, script: Script):
    script.always("condense", over)
    failed = filled.query("What of trades?")
    assert failed.error is not None
    assert failed.error.code == "E308"
    assert "Raise max_token_budget" in failed.error.remedy
    assert (failed.answer, len(failed.chunks)) == ("", 3)
    assert failed.compression_ratio is not None
    assert script.asked("answer") == []


@pytest.mark.req("MEMOIR 9.B3.8", "MEMOIR 9.9")
def test_summaries_within_their_characters_but_above_the_tokens_are_an_error(filled: Memory, script: Script):
    def dense(asked: Asked) -> dict[str, Any]:
        pieces = condense.read(asked.text).pieces
        return {
            "summaries": [{"chunk_id": piece.chunk_id, "summary": ("∰ꙮ𒐫" * piece.target)[: piece.target]} for piece in pieces]
        }

    script.always("condense", dense)
    failed = filled.query("What of trades?")
    assert failed.error is not None
    assert failed.error.code == "E307" and "the required compression could not be achieved" in failed.error.message
    assert f"more than max_token_budget ({BUDGET})" in failed.error.message
    assert script.asked("answer") == []


def shortly(asked: Asked) -> dict[str, Any]:
    """Answer the same few words for every chunk, whatever its target; their tokens are many."""
    return {"summaries": [{"chunk_id": piece.chunk_id, "summary": "∰ꙮ𒐫" * 4} for piece in condense.read(asked.text).pieces]}


@pytest.mark.req("MEMOIR 9.B3.8", "MEMOIR 9.9")
def test_a_final_prompt_of_the_budget_is_sent_and_one_of_a_token_more_is_an_error(filled: Memory, script: Script):
    script.always("condense", shortly)
    filled.query("What of trades?").raise_for_error()
    (sent,) = script.asked("answer")
    size = filled._async._engine.tokens.count(sent.instructions.split("\n", 1)[1] + "\n\n" + sent.text)
    script.requests.clear()
    assert filled.query("What of trades?", max_token_budget=size).error is None
    assert [asked.text for asked in script.asked("answer")] == [sent.text]
    failed = filled.query("What of trades?", max_token_budget=size - 1)
    assert failed.error is not None
    assert (failed.error.code, f"({size - 1})" in failed.error.message, f" {size} " in failed.error.message) == (
        "E307",
        True,
        True,
    )
    assert len(script.asked("answer")) == 1


@pytest.mark.req("MEMOIR 9.9")
def test_the_final_prompt_is_within_the_budget(filled: Memory, script: Script):
    filled.query("What of trades?").raise_for_error()
    (asked,) = script.asked("answer")
    assert filled._async._engine.tokens.count(asked.instructions.split("\n", 1)[1] + "\n\n" + asked.text) <= BUDGET


@pytest.mark.req("MEMOIR 9.B3.3")
def test_a_question_that_leaves_no_room_for_content_is_an_error(filled: Memory, script: Script):
    failed = filled.query("Why " * 400)
    assert failed.error is not None
    assert failed.error.code == "E309"
    assert script.asked("condense") == []


@pytest.mark.req("MEMOIR 9.C4", "MEMOIR 7A.1")
@pytest.mark.parametrize("limiting", ["PRUNE", "SUMMARIZE"])
@pytest.mark.parametrize("budget", [1, 140])
def test_a_budget_that_holds_no_chunk_is_refused_before_anything_is_asked(
    filled: Memory, script: Script, limiting: str, budget: int
):
    with pytest.raises(ConfigurationError) as refused:
        filled.query("What of trades?", max_token_budget=budget, prompt_limiting_strategy=limiting)
    assert str(refused.value) == f"[mem][E105] max_token_budget ({budget}) must be above 140 (chunk_min_tokens + 100)"
    assert script.requests == []


@pytest.mark.req("MEMOIR 9.C4", "MEMOIR 7A.1")
def test_a_budget_that_holds_no_part_is_refused_before_anything_is_asked(opened: Opened, script: Script):
    memory = opened("wide.db", **SETTINGS | {"max_token_budget": 500, "summarization_instruction_headroom_tokens": 200})
    with pytest.raises(ConfigurationError) as refused:
        memory.query("What of trades?", max_token_budget=280)
    assert str(refused.value) == (
        "[mem][E105] max_token_budget (280) must be above 280"
        " (with SUMMARIZE: summarization_instruction_headroom_tokens + chunk_max_tokens)"
    )
    assert script.requests == []


@pytest.mark.req("MEMOIR 9.C1")
def test_the_strategy_can_be_chosen_for_one_question(filled: Memory, script: Script):
    pruned = filled.query("What of trades?", prompt_limiting_strategy="PRUNE").raise_for_error()
    assert script.asked("condense") == []
    assert (len(pruned.dropped_paths) > 0, pruned.summaries) == (True, ())


@pytest.mark.req("MEMOIR 9.8", "MEMOIR 9.10")
def test_the_run_read_again_tells_ratio_targets_and_summaries_and_where_each_text_stands(filled: Memory, script: Script):
    script.on("condense", over)
    answered = filled.query("What of trades?").raise_for_error()
    again = filled.runs.query(answered.run_id)
    assert again == answered
    assert [each.text in str(filled.runs.call(each.call_id or 0).reply) for each in again.summaries] == [True] * 3


def test_the_texts_of_summaries_are_kept_with_their_calls_and_nowhere_else(filled: Memory):
    answered = filled.query("What of trades?").raise_for_error()
    kept = str(filled.jobs.get(answered.run_id).result) + str([each.body for each in filled.runs.events(answered.run_id)])
    assert "paragraph" not in kept
    assert [row[:3] for row in filled.jobs.get(answered.run_id).result["summaries"]] == [
        [each.chunk_id, each.chars, each.target] for each in answered.summaries
    ]


def test_each_summarising_call_is_a_response_of_the_question(filled: Memory, script: Script):
    answered = filled.query("What of trades?").raise_for_error()
    purposes = [response.purpose for response in answered.responses]
    assert purposes == ["select", *["condense"] * len(script.asked("condense")), "answer"]
    assert events(filled, answered.run_id, "RunEnded")[0]["status"] == "done"


def test_an_answer_in_a_fence_can_be_read_again(filled: Memory, script: Script):
    script.on("answer", 'Here it is:\n```json\n{"answer": "So it is. [1]"}\n```')
    answered: QueryResult = filled.query("What of trades?").raise_for_error()
    assert filled.runs.query(answered.run_id).answer == answered.answer == "So it is. [1]"


@pytest.mark.req("MEMOIR 9.C6", "MEMOIR 9.B3.6")
def test_where_nothing_is_said_a_summary_that_is_too_long_is_asked_for_once_more_and_no_more(filled: Memory, script: Script):
    script.always("condense", over)
    failed = filled.query("What of trades?")
    assert failed.error is not None
    parts = [condense.read(asked.text) for asked in script.asked("condense")]
    first = [part for part in parts if not part.strict]
    assert [part.pieces for part in parts if part.strict] == [part.pieces for part in first]
    assert filled.config.summary_max_retries == 1


@pytest.mark.req("MEMOIR 9.C5", "MEMOIR 9.B3.7")
@pytest.mark.parametrize(("over_by", "status"), [(0, "success"), (1, "error")], ids=["at five percent", "one character more"])
def test_where_nothing_is_said_all_summaries_may_pass_their_characters_by_five_percent(
    opened: Opened, script: Script, over_by: int, status: str
):
    """The first chunk uses up the tolerance; the words are short, so that the tokens fit."""
    script.always("condense", condensed)
    memory = opened(hierarchy_depth=1, **SETTINGS)
    memory.ingest_text(TRADES).raise_for_error()
    probe = memory.query("What of trades?")
    allowed = int(sum(each.chars for each in probe.summaries) * (probe.compression_ratio or 0) * 1.05)
    targets = {each.chunk_id: each.target for each in probe.summaries}
    first = next(iter(targets))
    lengths = targets | {first: allowed - sum(targets.values()) + targets[first] + over_by}

    def filled_up(asked: Asked) -> dict[str, Any]:
        part = condense.read(asked.text)
        return {"summaries": [{"chunk_id": one.chunk_id, "summary": "a" * lengths[one.chunk_id]} for one in part.pieces]}

    script.always("condense", filled_up)
    answered = memory.query("What of trades?")
    assert answered.status == status
    assert sum(lengths.values()) == allowed + over_by
