"""Records of an ingestion: decisions with their alternatives, calls, events, warnings."""

from __future__ import annotations

import pytest

from memoir_engine import Memory
from scripted_model import Opened, Script, events, paper

TRADES = paper("Music/Strings/Violin", "Art/Oil/Dutch", "Music/Strings/Violin")


def test_each_chunk_keeps_one_decision_per_level_with_the_call_that_made_it(memory: Memory):
    result = memory.ingest_text(TRADES).raise_for_error()
    chunk = memory.sources.chunks(result.source_id or 0)[2]
    decisions = memory.tree.decisions(chunk.id)
    assert [(d.level, d.parent_path, d.decided_by, d.attempts) for d in decisions] == [
        (1, (), "model", 1),
        (2, ("Music",), "model", 1),
        (3, ("Music", "Strings"), "model", 1),
    ]
    assert decisions[-1].chosen == (chunk.category_id,)
    purposes = {call.id: call.purpose for call in memory.runs.get(result.run_id).calls}
    assert {purposes[decision.call_id or 0] for decision in decisions} == {"classify"}


def test_a_decision_shows_the_options_that_lost_with_the_second_opinion_of_each(memory: Memory):
    memory.ingest_text(TRADES, name="first").raise_for_error()
    source = memory.ingest_text(paper("Art/Oil/Dutch"), name="second").raise_for_error().source_id
    first = memory.tree.decisions(memory.sources.chunks(source or 0)[0].id)[0]
    assert [(option.name, option.rank) for option in first.options] == [("Music", None), ("Art", 1)]
    assert [option.name for option in first.rejected] == ["Music"]
    assert first.seen
    opinions = {option.name: option.opinion for option in first.options}
    assert 0 <= (opinions["Music"] or 0) < (opinions["Art"] or 0) <= 1


def test_a_new_category_is_told_apart_from_what_was_offered(memory: Memory):
    memory.ingest_text(TRADES, name="first").raise_for_error()
    source = memory.ingest_text(paper("Trade/Tea/Green"), name="second").raise_for_error().source_id
    first = memory.tree.decisions(memory.sources.chunks(source or 0)[0].id)[0]
    assert [(option.name, option.is_new) for option in first.options] == [("Music", False), ("Art", False), ("Trade", True)]


def test_a_chunk_asked_about_twice_says_so(opened: Opened, script: Script):
    memory = opened(hierarchy_depth=1)
    script.on("classify", {"chunks": [{"id": 1, "category": "Music"}]})
    source = memory.ingest_text(paper("Music", "Art")).raise_for_error().source_id
    chunks = memory.sources.chunks(source or 0)
    assert [memory.tree.decisions(chunk.id)[0].attempts for chunk in chunks] == [1, 2]


def test_the_call_of_a_decision_has_the_prompt_that_named_its_options(memory: Memory, script: Script):
    memory.ingest_text(TRADES, name="first").raise_for_error()
    source = memory.ingest_text(paper("Art/Oil/Dutch"), name="second").raise_for_error().source_id
    decision = memory.tree.decisions(memory.sources.chunks(source or 0)[0].id)[0]
    call = memory.runs.call(decision.call_id or 0)
    assert '- \\"Music\\"' in (call.prompt or "")
    assert call.reply == '{"chunks": [{"id": 1, "category": "Art"}]}'


def test_events_come_in_order_and_the_same_to_the_listener_and_the_ledger(memory: Memory):
    heard: list[tuple[int, str]] = []
    result = memory.ingest_text(TRADES, on_event=lambda stamped: heard.append((stamped.n, stamped.event.kind)))
    told = [(event.n, event.kind) for event in memory.runs.events(result.run_id)]
    assert told == heard
    assert [n for n, _ in told] == list(range(1, len(told) + 1))
    kinds = [kind for _, kind in told]
    expected = ["RunStarted", "FileRead", "ChunksCut", "HelperReady", "CommitStarted", "Committed", "RunEnded"]
    assert [kind for kind in kinds if kind in expected] == expected


def test_what_each_chunk_became_is_told_as_it_happens(memory: Memory):
    result = memory.ingest_text(TRADES).raise_for_error()
    placed = {told["position"]: "/".join(told["path"]) for told in events(memory, result.run_id, "ChunkPlaced")}
    assert placed == {0: "Music/Strings/Violin", 1: "Art/Oil/Dutch", 2: "Music/Strings/Violin"}
    proposed = ["/".join(told["path"]) for told in events(memory, result.run_id, "CategoryProposed")]
    assert sorted(proposed) == ["Art", "Art/Oil", "Art/Oil/Dutch", "Music", "Music/Strings", "Music/Strings/Violin"]


def test_a_chunk_is_told_with_its_batch_where_its_category_exists_and_not_at_the_end_of_the_wave(opened: Opened):
    memory = opened(batch_size=1, max_concurrency=1)
    memory.ingest_text(paper("Music/Strings/Violin")).raise_for_error()
    result = memory.ingest_text(paper(*["Music/Strings/Violin"] * 4), name="more").raise_for_error()
    steps = [
        event.kind
        for event in memory.runs.events(result.run_id)
        if event.kind == "ChunkPlaced" or (event.kind == "BatchClassified" and event.body["level"] == 3)
    ]
    assert steps == ["BatchClassified", "ChunkPlaced"] * 4


@pytest.mark.req("MEMOIR 7.1")
def test_a_text_below_the_minimum_is_kept_with_a_warning(opened: Opened):
    memory = opened(chunk_min_tokens=40, chunk_max_tokens=60)
    result = memory.ingest_text(paper("Music/Strings/Violin")).raise_for_error()
    warning = "chunks shorter than 40 tokens, kept as they are: 1 of 1"
    assert (result.chunks, result.warnings) == (1, (warning,))
    assert events(memory, result.run_id, "Warned") == [{"code": "short", "message": warning}]


@pytest.mark.req("MEMOIR 2.11")
def test_every_chunk_is_the_very_text_at_its_span(memory: Memory):
    text = "Music/Strings/Violin \u201cäöü\u201d 東京 \U0001f3bb says a lot about nothing.\r\n\r\n" + TRADES
    source = memory.ingest_text(text).raise_for_error().source_id or 0
    whole, chunks = memory.sources.text(source), memory.sources.chunks(source)
    assert [whole[chunk.start : chunk.end] for chunk in chunks] == [chunk.text for chunk in chunks]
    assert "".join(chunk.text for chunk in chunks) == whole


@pytest.mark.req("MEMOIR 7.6")
def test_sql_in_a_text_a_name_and_a_category_is_text(memory: Memory, script: Script):
    hostile = "Robert'); DROP TABLE source;--"
    script.always("classify", lambda asked: {"chunks": [{"id": n, "category": "x'; DELETE FROM filing"} for n in asked.ids]})
    memory.ingest_text(
        f"{hostile} and so on and so forth, said the table.", name=hostile, metadata={"q": hostile}
    ).raise_for_error()
    source = memory.sources.list()[0]
    assert (source.name, source.metadata) == (hostile, {"q": hostile})
    assert memory.tree.roots()[0].name == "x'; DELETE FROM filing"
    assert memory.sources.text(source.id).startswith(hostile)


def test_the_run_read_again_is_the_result_that_came_back(memory: Memory):
    result = memory.ingest_text(TRADES, name="trades.txt").raise_for_error()
    again = memory.runs.ingest(result.run_id)
    fields = ("status", "source_id", "name", "chunks", "new_categories", "calls", "warnings", "action_id", "error")
    assert [getattr(again, name) for name in fields] == [getattr(result, name) for name in fields]


def test_a_failed_run_read_again_tells_the_same_error(memory: Memory):
    failed = memory.ingest_text("  ", name="empty.txt")
    again = memory.runs.ingest(failed.run_id)
    assert failed.error is not None
    assert again.error == failed.error
    assert again.error is not None
    assert (again.error.code, type(again.error.cause)) == ("E201", type(failed.error.cause))
    assert str(again.error.cause) == "[mem][E201] 'empty.txt' holds no text"
