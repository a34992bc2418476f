from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir_engine.core.results.facts import FACT_TYPES
from memoir_engine.prompts import consolidate, facts
from memoir_engine.prompts.consolidate import FactComparison, Statement, Verdict
from memoir_engine.prompts.facts import CutMessage, ExtractRequest, FactLink, RelatableFact

GOLDEN = Path(__file__).parents[1] / "golden"
TEXTS = st.one_of(st.text(), st.text(alphabet='"\\\n- ›1Message'))
MOMENTS = st.none() | st.datetimes(timezones=st.just(timezone(timedelta(hours=2))) | st.just(UTC))
TURNS = st.lists(st.builds(CutMessage, st.integers(1, 99), TEXTS, st.none() | TEXTS, MOMENTS, TEXTS), max_size=3).map(tuple)
TALKS = st.builds(ExtractRequest, TEXTS, st.integers(1, 9), st.integers(1, 9), TEXTS, TURNS)
NUMBERS = st.lists(st.integers(1, 9), max_size=2).map(tuple)
STATEMENTS = st.lists(st.builds(Statement, st.integers(1, 9), TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, NUMBERS), max_size=3)
GATHERED = st.builds(RelatableFact, st.integers(1, 9), TEXTS, TEXTS, TEXTS, st.lists(TEXTS, max_size=2).map(tuple), NUMBERS)

SAID = datetime(2026, 2, 13, 9, 30, tzinfo=timezone(timedelta(hours=1)))
TALK = ExtractRequest(
    "Mia",
    2,
    3,
    "Mia asked about a holiday.",
    (CutMessage(7, "user", "Mia", SAID, "I moved to Munich last week."), CutMessage(8, "assistant", None, None, "How nice!")),
)
MEETING = FactComparison(
    (Statement(1, "Mia lives in Munich", "personal", "Mia", "2026-02-13T08:30:00Z", "2026-02", near=(1,)),),
    (Statement(1, "Mia lives in Berlin", "personal", "Mia", "2025-01-02T10:00:00Z"),),
)
DRAWN = {
    "content": "Mia lives in Munich",
    "type": "personal",
    "subject": "Mia",
    "entities": ["Munich"],
    "message": 7,
    "quote": "I moved to Munich last week.",
    "confidence": 0.9,
    "valid_from": "2026-02",
    "valid_to": "",
}


def drawn(**changed: object) -> dict[str, object]:
    return {"facts": [DRAWN | changed]}


def judged(**changed: object) -> dict[str, object]:
    usual = {"new": 1, "relation": "update", "known": [1], "merged": "", "sure": True, "why": "She moved."}
    return {"verdicts": [usual | changed]}


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("facts-1", facts.build(TALK)),
        ("consolidate-1", consolidate.build(MEETING)),
        ("recap-1", facts.build_recap(TALK)),
        ("relate-1", facts.build_relate((RelatableFact(1, "Mia lives in Munich", "personal", "Mia", ("Munich",), (1, 2)),))),
    ],
    ids=["facts", "consolidate", "recap", "relate"],
)
def test_the_prompts_are_as_they_were_agreed(name, prompt):
    wanted = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert f"{prompt.version}\n---\n{prompt.instructions}---\n{prompt.text}" == wanted


@given(TALKS)
def test_a_cut_reads_back_whatever_it_holds(talk):
    assert facts.read(facts.build(talk).text) == talk
    assert facts.read(facts.build_recap(talk).text) == talk


@given(STATEMENTS.map(tuple), STATEMENTS.map(tuple))
def test_a_meeting_of_facts_reads_back_whatever_they_say(new, known):
    meeting = FactComparison(new, known)
    assert consolidate.read(consolidate.build(meeting).text) == meeting


@given(st.lists(GATHERED, max_size=3).map(tuple))
def test_gathered_facts_read_back_whatever_they_say(gathered):
    assert facts.read_relate(facts.build_relate(gathered).text) == gathered


@pytest.mark.req("TIMEM extraction")
def test_the_seven_types_and_no_other_are_asked_for():
    wanted = facts.build(TALK).schema.model_json_schema()["$defs"]["DrawnFact"]["properties"]["type"]
    assert wanted["enum"] == list(FACT_TYPES)
    assert len(FACT_TYPES) == 7


def test_a_fact_comes_back_as_the_reply_has_it():
    found = facts.parse(drawn(), TALK).facts
    assert [(one.content, one.message, one.quote, one.valid_from, one.confidence) for one in found] == [
        ("Mia lives in Munich", 7, "I moved to Munich last week.", "2026-02", 0.9)
    ]


@pytest.mark.parametrize(
    "changed",
    [{"content": " "}, {"content": "x" * 1001}, {"type": "secret"}, {"message": 6}, {"message": True}, {"message": "7"}],
    ids=["empty", "long", "type", "elsewhere", "bool", "text"],
)
def test_a_wrong_fact_is_left_out_and_said_so_and_costs_no_other(changed):
    found = facts.parse({"facts": [DRAWN | changed, DRAWN]}, TALK)
    assert [one.content for one in found.facts] == ["Mia lives in Munich"]
    assert found.notes[0].startswith("fact 1 was left out: ")


@pytest.mark.parametrize("confidence", [1.2, -1, float("nan"), "high", None, True])
def test_a_confidence_that_is_none_is_not_made_one(confidence):
    assert facts.parse(drawn(confidence=confidence), TALK).facts[0].confidence is None


def test_a_verdict_names_only_facts_that_were_shown_beside_the_new_one():
    found = consolidate.parse(judged(known=[1, 2]), MEETING)
    assert found.verdicts == (Verdict(1, "update", (1,), "", True, "She moved."),)
    assert "not shown" in found.notes[0]


@pytest.mark.parametrize(
    "reply",
    [
        None,
        {"verdicts": []},
        judged(relation="kill"),
        judged(known=[2]),
        judged(relation="complementary", merged=""),
        judged(new=9),
    ],
    ids=["none", "empty", "relation", "foreign", "merged", "unknown"],
)
def test_what_a_verdict_leaves_open_changes_nothing(reply):
    found = consolidate.parse(reply, MEETING)
    assert found.verdicts == (Verdict(1, "none", (), "", True, ""),)
    assert found.notes


def test_a_verdict_that_does_not_say_it_is_sure_is_not():
    assert consolidate.parse(judged(sure="yes"), MEETING).verdicts[0].sure is False


@pytest.mark.req("CHUNK 9.3")
def test_relations_end_at_two_facts_that_were_shown():
    gathered = (RelatableFact(1, "a", "plan", "Mia"), RelatableFact(2, "b", "plan", "Mia"))
    reply = [
        {"source": 1, "target": 1, "kind": "part_of", "confidence": 1},
        {"source": 1, "target": 3, "kind": "part_of", "confidence": 1},
        {"source": 1, "target": 2, "kind": "knows", "confidence": 1},
        {"source": 2, "target": 1, "kind": "follows", "confidence": 0.5},
        {"source": 1, "target": 2, "kind": "part_of", "confidence": 1},
    ]
    assert facts.parse_relate({"relations": reply}, gathered) == (FactLink(2, 1, "follows", 0.5),)


def test_a_recap_keeps_its_length():
    assert facts.parse_recap({"recap": "word " * 1000}).endswith("word…")
    assert len(facts.parse_recap({"recap": "word " * 1000})) <= facts.RECAP_CHARS
