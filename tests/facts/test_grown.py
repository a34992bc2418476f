"""A conversation grown since it was remembered: stored messages stay once, and only new ones are read."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fact_play import DAY, said, standing
from memoir_engine import Memory
from memoir_engine.prompts import facts
from scripted_model import Opened, Script

FIRST = ("Mia likes tea", "Mia rows")
MORE = ("Mia has a cat", "Mia paints")
LATER = DAY + timedelta(days=1)


def contents(memory: Memory) -> list[str]:
    return [one.content for one in memory.acting_as("Mia", user="mia").sessions.get_session_history("talk")]


def read(script: Script) -> list[list[str]]:
    """Return the messages shown to each extraction."""
    return [[turn.text for turn in facts.read(one.text).turns] for one in script.asked("facts")]


@pytest.mark.parametrize("at", [DAY, None], ids=["with times", "without"])
def test_messages_that_stand_in_the_session_are_not_appended_again(memory: Memory, script: Script, at):
    memory.remember(said(*FIRST, at=at), user_id="mia", session_id="talk")
    found = memory.remember(said(*FIRST, *MORE, at=at), user_id="mia", session_id="talk")
    assert contents(memory) == [*FIRST, *MORE]
    assert read(script) == [[*FIRST], [*MORE]]
    assert [one.content for one in found.added] == [*MORE]
    assert [one.origins[0].message for one in found.added] == [3, 4]
    assert {len(one.origins) for one in memory.facts.list("mia")} == {1}
    assert memory.audit.verify().ok


def test_a_session_that_grew_by_itself_is_read_from_where_it_was_left(memory: Memory, script: Script):
    mine = memory.acting_as("Mia", user="mia", roles=("viewer",))
    for text in FIRST:
        mine.add_conversation("talk", "user", text, ts=DAY)
    mine.remember(session_id="talk")
    mine.add_conversation("talk", "user", MORE[0], ts=LATER)
    found = mine.remember(session_id="talk")
    assert read(script) == [[*FIRST], [MORE[0]]]
    assert [(one.content, one.origins[0].message) for one in found.added] == [(MORE[0], 3)]
    assert mine.remember(session_id="talk").seen_again
    assert len(contents(memory)) == 3


def test_what_came_before_is_told_in_short(memory: Memory, script: Script):
    memory.remember(said(*FIRST), user_id="mia", session_id="talk")
    memory.remember(said(*FIRST, *MORE), user_id="mia", session_id="talk")
    (before,) = script.asked("recap")
    assert [turn.text for turn in facts.read(before.text).turns] == [*FIRST]
    assert [facts.read(one.text).recap for one in script.asked("facts")] == ["", "Recap of part 1."]


def test_only_the_end_of_a_conversation_comes_and_finds_its_place(memory: Memory, script: Script):
    first = [*said(FIRST[0]), *said(FIRST[1], at=LATER)]
    memory.remember(first, user_id="mia", session_id="talk")
    memory.remember([*first[1:], *said(MORE[0], at=LATER)], user_id="mia", session_id="talk")
    assert contents(memory) == [*FIRST, MORE[0]]
    assert read(script)[1:] == [[MORE[0]]]


def test_the_same_word_said_again_is_said_again(memory: Memory, script: Script):
    memory.remember(said("Mia likes tea", "Mia rows", at=None), user_id="mia", session_id="talk")
    memory.remember(said("Mia rows", "Mia paints", at=None), user_id="mia", session_id="talk")
    assert contents(memory) == ["Mia likes tea", "Mia rows", "Mia rows", "Mia paints"]


def test_a_session_that_keeps_few_messages_goes_on_behind_them(opened: Opened, script: Script):
    memory = opened(session={"max_messages": 2})
    memory.remember(said("Mia likes tea", "Mia rows", "Mia has a cat"), user_id="mia", session_id="talk")
    assert contents(memory) == ["Mia rows", "Mia has a cat"]
    memory.remember(said("Mia likes tea", "Mia rows", "Mia has a cat", "Mia paints"), user_id="mia", session_id="talk")
    assert contents(memory) == ["Mia has a cat", "Mia paints"]
    assert read(script)[1:] == [["Mia paints"]]


def test_what_was_undone_is_read_once_more_and_not_appended(memory: Memory, script: Script):
    first = memory.remember(said(*FIRST), user_id="mia", session_id="talk")
    memory.review.undo(first.action_id)
    memory.remember(said(*FIRST, *MORE), user_id="mia", session_id="talk")
    assert read(script)[1:] == [[*FIRST, *MORE]]
    assert set(standing(memory)) == {*FIRST, *MORE}
    assert contents(memory) == [*FIRST, *MORE]
    assert memory.audit.verify().ok


def test_what_could_not_be_read_is_read_with_what_is_new(opened: Opened, script: Script):
    memory = opened(conversation={"max_tokens": 12, "min_tokens": 0, "overlap_percent": 0})
    texts = ["Mia likes tea and figs a lot", "Mia rows on the lake at dawn", "Mia has a cat that is old"]
    script.on("facts", {"facts": []}, "Mia rows", "Mia rows", "Mia rows")  # words where a form was asked for
    first = memory.remember(said(*texts[:2]), user_id="mia", session_id="talk")
    assert len(first.errors) == 1
    memory.remember(said(*texts), user_id="mia", session_id="talk")
    assert [one for some in read(script)[-2:] for one in some] == texts[1:]
    assert contents(memory) == texts


def test_a_session_that_was_cleared_begins_anew(memory: Memory, script: Script):
    memory.remember(said(*FIRST), user_id="mia", session_id="talk")
    memory.acting_as("Mia", user="mia", roles=("auditor",)).sessions.clear_session("talk")
    memory.remember(said(*FIRST, *MORE), user_id="mia", session_id="talk")
    assert contents(memory) == [*FIRST, *MORE]
    assert read(script)[1:] == [[*FIRST, *MORE]]
    assert memory.audit.verify().ok
