"""Replies that are wrong in part or cut at their length: what is mended, what is asked again, and that nothing goes silently."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fact_play import DAY, drawn, judge, remember, said, sentences, standing
from fake_openai import FakeOpenAI, Text
from memoir_engine import MemoirError, Memory
from memoir_engine.prompts import consolidate, facts
from scripted_model import CUT, Script

TEA = "Mia likes tea"
LONG = f"{TEA}. " + "She drinks it from a blue cup on the balcony every day. " * 20
FOUR = ("Mia rows", "Mia sings", "Mia paints", "Mia knits")


def again(script: Script) -> list[str]:
    """Return the lines of what was asked once more."""
    return script.asked("facts")[1].text.split("Facts to set right: ")[1].splitlines()[1:]


@pytest.mark.req("TIMEM extraction")
def test_a_fact_of_no_known_type_is_asked_for_once_more(memory: Memory, script: Script):
    script.on("facts", {"facts": [drawn(TEA, 1, type="banana"), drawn("Mia rows", 1)]}, {"facts": [drawn(TEA, 1)]})
    found = memory.remember(said(f"{TEA}. Mia rows"), user_id="mia")
    assert sorted((one.content, one.type) for one in found.added) == [(TEA, "preference"), ("Mia rows", "preference")]
    (line,) = again(script)
    assert "it is of no known type ('banana')" in line
    assert found.warnings == ()


@pytest.mark.req("TIMEM extraction")
def test_what_no_answer_gives_a_type_is_kept_as_miscellaneous_and_said_so(memory: Memory, script: Script):
    wrong = {"facts": [drawn(TEA, 1, type="banana")]}
    script.on("facts", wrong, wrong)
    found = memory.remember(said(TEA), user_id="mia")
    assert [(one.content, one.type) for one in found.added] == [(TEA, "miscellaneous")]
    assert any("'banana'): it was kept as miscellaneous" in warning for warning in found.warnings)
    assert len(script.asked("facts")) == 2


@pytest.mark.req("TIMEM extraction")
@pytest.mark.parametrize("second", [{"facts": []}, "no JSON"], ids=["not given again", "no answer"])
def test_a_fact_that_is_too_long_is_shortened_behind_a_sentence_and_said_so(memory: Memory, script: Script, second):
    script.on("facts", {"facts": [drawn(LONG, 1, quote=TEA)]}, *[second] * 3)
    found = memory.remember(said(TEA), user_id="mia")
    (kept,) = found.added
    assert (kept.content.startswith(TEA), kept.content.endswith("every day."), len(kept.content) <= 1000) == (True, True, True)
    assert any("was longer than 1000 characters and was shortened" in warning for warning in found.warnings)


@pytest.mark.req("TIMEM extraction")
def test_a_fact_said_in_several_turns_has_the_words_of_each(memory: Memory, script: Script):
    both = [{"message": "1", "quote": "Tea?"}, {"message": 2, "quote": "That's my drink."}]
    script.on("facts", {"facts": [drawn(TEA, 1, quotes=both)]})
    found = memory.remember(said("Tea?", "That's my drink."), user_id="mia")
    assert [(origin.message, origin.quote) for origin in found.added[0].origins] == [(1, "Tea?"), (2, "That's my drink.")]


@pytest.mark.req("TIMEM extraction")
def test_single_values_where_lists_are_asked_for_and_years_as_numbers_are_mended(memory: Memory, script: Script):
    quote = {"message": 1, "quote": TEA}
    script.on("facts", {"facts": [drawn(TEA, 1, entities="tea", quotes=quote, valid_from=2024)]})
    (fact,) = memory.remember(said(TEA), user_id="mia").added
    assert (fact.entities, fact.origins[0].quote, fact.valid_from.year) == (("tea",), TEA, 2024)
    script.always("consolidate", {"verdicts": [{"new": "n1", "relation": "Update", "known": "K1", "sure": "true", "why": ""}]})
    remember(memory, "Mia likes no tea")
    assert standing(memory) == {TEA: "outdated", "Mia likes no tea": "active"}
    assert len(script.asked("facts")) == 2


@pytest.mark.req("CHUNK 7.4")
def test_a_reply_cut_at_its_length_is_asked_again_in_halves(memory: Memory, script: Script):
    script.on("facts", CUT, sentences, CUT)
    found = memory.remember(said(*FOUR), user_id="mia")
    asked = [facts.read(one.text) for one in script.asked("facts")]
    assert [[turn.number for turn in talk.turns] for talk in asked] == [[1, 2, 3, 4], [1, 2], [3, 4], [3], [4]]
    assert [talk.recap for talk in asked] == ["", "", "Mia rows Mia sings", "Mia rows Mia sings", "Mia rows Mia sings Mia paints"]
    assert ([one.content for one in found.added], found.errors) == ([*FOUR], ())


@pytest.mark.req("CHUNK 12.2")
def test_one_message_whose_facts_fit_no_reply_is_told_with_what_helps(memory: Memory, script: Script):
    script.always("facts", CUT)
    with pytest.raises(MemoirError, match=r"\[mem\]\[E602\]") as raised:
        memory.remember(said(TEA), user_id="mia")
    assert raised.value.remedy.startswith("Use a model with a larger output limit")
    assert "batch_size" not in raised.value.remedy


def test_a_comparison_cut_at_its_length_is_made_in_halves(memory: Memory, script: Script):
    remember(memory, "Mia lives in Berlin")
    homes = ("Mia lives in Bonn", "Mia lives in Rome", "Mia lives in Oslo", "Mia lives in Bern")
    script.on("consolidate", CUT)
    script.always("consolidate", judge(Mia_lives_in_Bern=("update", "Mia lives in Bonn")))
    found = remember(memory, ". ".join(homes))
    asked = [consolidate.read(one.text) for one in script.asked("consolidate")]
    assert [[one.content for one in comparison.new] for comparison in asked] == [[*homes], [*homes[:2]], [*homes[2:]]]
    assert [one.content for one in asked[2].known] == ["Mia lives in Berlin", *homes[:2]]
    assert standing(memory)["Mia lives in Bonn"] == "outdated"
    assert len(found.added) == 3


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-real-key-000")
        yield running


@pytest.mark.req("TIMEM errors")
def test_halves_are_asked_over_the_wire_too(server: FakeOpenAI, tmp_path):
    halves = [{"facts": [drawn(text, number)]} for number, text in enumerate(FOUR[:2], 1)]
    server.say(Text('{"facts": [', finish="length"), *halves)
    with Memory(db_path=tmp_path / "m.db", model="openai-chat:gpt-4o-mini", max_retries=0) as memory:
        found = memory.remember(said(*FOUR[:2], at=DAY), user_id="mia")
        assert sorted(one.content for one in found.added) == ["Mia rows", "Mia sings"]


def test_a_remark_that_nothing_is_worth_remembering_is_no_facts_in_one_call(server: FakeOpenAI, tmp_path):
    server.say(Text("There is nothing in it that is worth remembering."))
    with Memory(db_path=tmp_path / "m.db", model="openai-chat:gpt-4o-mini", max_retries=0) as memory:
        found = memory.remember(said("Hello there!", at=DAY), user_id="mia")
        assert (found.added, found.errors, len(server.seen)) == ((), (), 1)


def test_a_fact_told_in_plain_words_is_asked_for_again(server: FakeOpenAI, tmp_path):
    server.say(Text("Mia rows."), {"facts": [drawn("Mia rows", 1)]})
    with Memory(db_path=tmp_path / "m.db", model="openai-chat:gpt-4o-mini", max_retries=0) as memory:
        found = memory.remember(said("Mia rows", at=DAY), user_id="mia")
        assert [one.content for one in found.added] == ["Mia rows"]
