"""Repeated statements: concurrently, in another session, after an undo; and overtaken proposals."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from fact_play import DAY, judge, remember, said, standing
from memoir_engine import MemoirError, Memory

LATER = DAY + timedelta(days=30)


def test_one_conversation_that_comes_from_two_sides_at_once_is_stored_once(memory: Memory, script):
    messages, found = said("Mia likes tea", "Mia rows"), []

    def come() -> None:
        found.append(memory.remember(messages, user_id="mia", session_id="talk"))

    both = [threading.Thread(target=come) for _ in range(3)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert sorted(one.seen_again for one in found) == [False, True, True]
    mine = memory.acting_as("Mia", user="mia").sessions
    assert [one.content for one in mine.get_session_history("talk")] == ["Mia likes tea", "Mia rows"]
    assert {len(one.origins) for one in memory.facts.list("mia")} == {1}
    assert memory.audit.verify().ok


@pytest.mark.parametrize("is_there", [True, False])
def test_what_was_undone_is_remembered_in_another_session_with_its_words(memory: Memory, script, is_there):
    if is_there:
        memory.remember(said("Mia has a cat", "Mia rows"), user_id="mia", session_id="other")
    first = memory.remember(said("Mia likes tea"), user_id="mia", session_id="talk")
    memory.review.undo(first.action_id)
    again = memory.remember(said("Mia likes tea"), user_id="mia", session_id="other")
    (origin,) = again.added[0].origins
    assert (origin.conversation_id, origin.quote) == ("other", "Mia likes tea")
    assert memory.audit.verify().ok


def test_what_two_conversations_say_does_not_go_with_the_first(memory: Memory, script):
    first, second = remember(memory, "Mia likes tea"), remember(memory, "Mia likes tea. Mia rows", at=LATER)
    with pytest.raises(MemoirError, match=r"\[mem\]\[E703\]"):
        memory.review.undo(first.action_id)
    assert set(standing(memory)) == {"Mia likes tea", "Mia rows"}
    memory.review.undo(second.action_id)
    memory.review.undo(first.action_id)
    assert standing(memory) == {}
    assert memory.audit.verify().ok


def test_an_origin_that_was_taken_back_is_not_there_at_a_later_moment(memory: Memory, script):
    fact = remember(memory, "Mia likes tea").added[0]
    second = remember(memory, "Mia likes tea. Mia rows", at=LATER)
    memory.review.undo(second.action_id)
    assert memory.facts.get(fact.id).origins == fact.origins
    assert memory.facts.get(fact.id, as_of=memory.audit.head().seq).origins == fact.origins


def test_a_proposal_that_cannot_be_settled_any_more_does_not_wait(memory: Memory, script):
    first = remember(memory, "Mia lives in Berlin")
    unsure = ("update", "Mia lives in Berlin", {"sure": False})
    script.always("consolidate", judge(Mia_stays_in_Munich=unsure, Mia_lives_in_Rome=("update", "Mia lives in Berlin")))
    remember(memory, "Mia stays in Munich", at=LATER)
    third = remember(memory, "Mia lives in Rome", at=LATER + timedelta(days=1))
    assert memory.facts.proposals() == ()
    memory.review.undo(third.action_id)
    assert [one.new.content for one in memory.facts.proposals(limit=1)] == ["Mia stays in Munich"]
    memory.review.undo(first.action_id)
    assert memory.facts.proposals() == ()
    assert memory.audit.verify().ok


def test_what_others_did_and_took_back_stands_in_nobodys_way(memory: Memory, script):
    first = remember(memory, "Mia lives in Berlin")
    unsure = ("update", "Mia lives in Berlin", {"sure": False})
    script.always("consolidate", judge(Mia_stays_in_Munich=unsure, Mia_lives_in_Rome=("update", "Mia lives in Berlin")))
    second = remember(memory, "Mia stays in Munich", at=LATER)
    agreed = memory.facts.approve(memory.facts.proposals()[0].id)
    with pytest.raises(MemoirError, match=r"\[mem\]\[E703\]"):
        memory.review.undo(second.action_id)
    memory.review.undo(agreed.action_id)
    memory.review.undo(second.action_id)
    memory.review.undo(remember(memory, "Mia lives in Rome", at=LATER).action_id)
    memory.review.undo(first.action_id)
    assert (standing(memory), memory.facts.proposals(state=None)) == ({}, ())
    assert memory.audit.verify().ok
