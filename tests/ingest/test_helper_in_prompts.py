"""The contextual helper: made once or given, in every classify prompt, stored with its source."""

from __future__ import annotations

import pytest

from memoir_engine import Memory
from memoir_engine.prompts import helper
from memoir_engine.prompts.frames import block
from scripted_model import Opened, Script, events, paper, placed

TRADES = paper("Music/Strings/Violin", "Art/Oil/Dutch", "Music/Wind/Flute")
FIELDS = {"author": "Ada Miller", "date": "2024-05", "topic": "trades", "summary": "A list of trades in a town."}
COMPOSED = "Author: Ada Miller. Date: 2024-05. Topic: trades. A list of trades in a town."


@pytest.mark.req("MEMOIR 2B.1", "MEMOIR 2B.3", "MEMOIR 2B.5")
def test_it_is_generated_once_and_stands_in_every_classify_prompt(memory: Memory, script: Script):
    script.always("helper", FIELDS)
    result = memory.ingest_text(TRADES).raise_for_error()
    assert len(script.asked("helper")) == 1
    assert result.helper == COMPOSED
    prompts = [asked.text for asked in script.asked("classify")]
    assert len(prompts) == 6
    assert {text.startswith(f"contextual_helper:\n{block(COMPOSED)}\n\nChunk 1:\n") for text in prompts} == {True}


@pytest.mark.req("MEMOIR 2B.4")
def test_it_is_stored_with_its_source_as_its_first_version(memory: Memory, script: Script):
    script.always("helper", FIELDS)
    source = memory.ingest_text(TRADES).raise_for_error().source_id
    stored = memory.sources.helper(source or 0)
    assert stored is not None
    assert (stored.source_id, stored.version, stored.origin, stored.text) == (source, 1, "generated", COMPOSED)
    assert (stored.author, stored.dated, stored.topic) == ("Ada Miller", "2024-05", "trades")


@pytest.mark.req("MEMOIR 2B.2")
def test_it_is_derived_from_name_title_headings_and_the_first_five_chunks(memory: Memory, script: Script):
    script.always("classify", lambda asked: placed(dict.fromkeys(asked.ids, "Music")))
    text = "# Trades\n\n" + paper(*("Music/Strings/Violin",) * 9)
    memory.ingest_file(text.encode(), name="trades.md").raise_for_error()
    facts = helper.read(script.asked("helper")[0].text)
    assert (facts.file_name, facts.title, facts.headings) == ("trades.md", "Trades", ("Trades",))
    assert facts.chunks == tuple(chunk.text for chunk in memory.sources.chunks(1)[:5])


@pytest.mark.req("MEMOIR 2B.2")
def test_headings_and_chunks_share_two_thousand_tokens(opened: Opened, script: Script):
    memory = opened(chunk_min_tokens=300, chunk_max_tokens=500)
    headings = "\n\n".join(f"# Heading number {i} of the many trades of this town" for i in range(200))
    memory.ingest_file(f"{headings}\n\n{paper(*('Art/Oil/Dutch',) * 100)}".encode(), name="many.md")
    facts = helper.read(script.asked("helper")[0].text)
    count = memory._async._engine.tokens.count
    assert count(facts.file_name) + sum(map(count, (*facts.headings, *facts.chunks))) <= 2000
    assert 0 < len(facts.headings) < 200


@pytest.mark.req("MEMOIR 2B.6")
def test_a_generated_one_is_cut_to_three_hundred_tokens(memory: Memory, script: Script):
    script.always("helper", FIELDS | {"summary": "A town of many trades and few words. " * 200})
    result = memory.ingest_text(TRADES).raise_for_error()
    stored = memory.sources.helper(result.source_id or 0)
    assert stored is not None
    assert 250 < stored.tokens <= 300
    assert stored.text.endswith(".")


@pytest.mark.req("MEMOIR 2B.8")
def test_the_users_own_is_used_and_no_call_is_made_for_one(memory: Memory, script: Script):
    result = memory.ingest_text(TRADES, contextual_helper="  The trades\nof my town. ").raise_for_error()
    assert script.asked("helper") == []
    assert {asked.batch.helper for asked in script.asked("classify")} == {"The trades of my town."}
    stored = memory.sources.helper(result.source_id or 0)
    assert stored is not None
    assert (stored.origin, stored.text) == ("user", "The trades of my town.")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        pytest.param(" \n ", "it is empty", id="empty"),
        pytest.param("trade " * 301, "it has 301 tokens, more than 300", id="too long"),
    ],
)
def test_a_users_own_that_does_not_fit_is_refused_with_nothing_stored(memory: Memory, script: Script, given: str, problem: str):
    result = memory.ingest_text(TRADES, contextual_helper=given)
    assert result.error is not None
    assert result.error.message == f"[mem][E210] the contextual helper is invalid: {problem}"
    assert script.requests == []
    assert memory.sources.list() == ()


@pytest.mark.req("MEMOIR 2B.10")
def test_making_one_is_told_with_its_origin_its_tokens_and_its_calls(memory: Memory):
    made = memory.ingest_text(TRADES).raise_for_error()
    given = memory.ingest_text(TRADES + ".", contextual_helper="Mine.").raise_for_error()
    tokens = memory._async._engine.tokens.count("Topic: trades. A list of trades.")
    assert events(memory, made.run_id, "HelperReady") == [{"origin": "generated", "tokens": tokens, "reused": False, "calls": 1}]
    assert events(memory, given.run_id, "HelperReady") == [{"origin": "user", "tokens": 2, "reused": False, "calls": 0}]


def test_with_automatic_identification_off_and_none_given_nothing_is_asked_or_stored(opened: Opened, script: Script):
    memory = opened(auto_source_identification=False)
    result = memory.ingest_text(TRADES)
    assert result.status in ("error", "needs_helper")
    assert (script.requests, memory.sources.list()) == ([], ())
    assert memory.ingest_text(TRADES, contextual_helper="Mine.").raise_for_error().chunks == 3


@pytest.mark.req("MEMOIR 7.6")
def test_a_cut_emoji_in_a_models_reply_costs_no_ingestion(memory: Memory, script: Script):
    """JSON can escape text that no database stores; a paid reply would fail again at every try."""
    script.always("helper", FIELDS | {"author": "Ada \ud83dMiller\x00"})
    result = memory.ingest_text(TRADES).raise_for_error()
    assert result.helper == COMPOSED
    assert memory.audit.verify().ok
