"""Changes the model is unsure of, or that words and times contradict, become proposals to a person."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fact_play import DAY, drawn, judge, remember, standing
from memoir_engine import MemoirError

LATER = DAY + timedelta(days=30)


def test_what_the_model_is_not_sure_of_is_put_to_a_person(memory, script):
    remember(memory, "Mia lives in Berlin")
    script.always("consolidate", judge(Mia_stays_in_Munich=("update", "Mia lives in Berlin", {"sure": False, "why": "Maybe."})))
    (proposal,) = remember(memory, "Mia stays in Munich", at=LATER).proposals
    assert (proposal.cause, proposal.doubt, proposal.reason, proposal.state) == ("update", "model", "Maybe.", "open")
    assert set(standing(memory).values()) == {"active"}
    approved = memory.facts.approve(proposal.id, reason="she did")
    assert standing(memory) == {"Mia lives in Berlin": "outdated", "Mia stays in Munich": "active"}
    assert memory.facts.proposals() == ()
    memory.review.undo(approved.action_id)
    assert set(standing(memory).values()) == {"active"}
    assert [one.id for one in memory.facts.proposals("mia")] == [proposal.id]
    assert memory.audit.verify().ok


def test_a_refused_proposal_leaves_both_and_is_settled(memory, script):
    remember(memory, "Mia lives in Berlin")
    script.always("consolidate", judge(Mia_stays_in_Munich=("conflict", "Mia lives in Berlin", {"sure": False})))
    (proposal,) = remember(memory, "Mia stays in Munich", at=LATER).proposals
    memory.facts.reject(proposal.id)
    assert set(standing(memory).values()) == {"active"}
    assert [one.state for one in memory.facts.proposals(state="rejected")] == ["rejected"]
    with pytest.raises(MemoirError, match=r"\[mem\]\[E604\]"):
        memory.facts.approve(proposal.id)


@pytest.mark.parametrize(
    ("known", "new", "at"),
    [
        ("Ben lives in Berlin", "Mia lives in Munich", LATER),
        ("Mia lives in Berlin", "Mia lives in Munich", DAY - timedelta(days=9)),
    ],
    ids=["of somebody else", "said before it"],
)
def test_what_the_words_or_the_times_speak_against_is_put_to_a_person(memory, script, known, new, at):
    remember(memory, known)
    script.always("consolidate", judge(**{new.replace(" ", "_"): ("update", known)}))
    (proposal,) = remember(memory, new, at=at).proposals
    assert proposal.doubt == "second_opinion"
    assert set(standing(memory).values()) == {"active"}


@pytest.mark.req("TIMEM consolidation.4")
def test_what_was_said_first_gives_way_although_it_came_later(memory, script):
    remember(memory, "Mia lives in Paris", at=LATER)
    script.always("consolidate", judge(Mia_lives_in_Berlin=("update", "Mia lives in Paris")))
    (proposal,) = remember(memory, "Mia lives in Berlin", at=DAY).proposals
    assert (proposal.new.content, [one.content for one in proposal.old]) == ("Mia lives in Paris", ["Mia lives in Berlin"])
    memory.facts.approve(proposal.id)
    (berlin,) = memory.facts.list("mia", status="outdated")
    assert (berlin.content, berlin.said_at, berlin.valid_to) == ("Mia lives in Berlin", DAY, LATER)
    assert [one.content for one in memory.facts.list("mia", valid_at=DAY)] == ["Mia lives in Berlin"]
    assert [one.content for one in memory.facts.list("mia", valid_at=LATER)] == ["Mia lives in Paris"]
    assert memory.audit.verify().ok


def test_what_came_later_but_was_said_first_can_be_taken_back_with_what_was_asked_of_it(memory, script):
    first = remember(memory, "Mia lives in Paris", at=LATER)
    script.always("consolidate", judge(Mia_lives_in_Berlin=("update", "Mia lives in Paris")))
    second = remember(memory, "Mia lives in Berlin", at=DAY)
    memory.facts.approve(second.proposals[0].id)
    with pytest.raises(MemoirError):
        memory.review.undo(first.action_id, reason="wrong person")
    memory.review.undo(memory.facts.list("mia", status="outdated")[0].ended_by, reason="not so")
    memory.review.undo(second.action_id, reason="not so")
    assert standing(memory) == {"Mia lives in Paris": "active"}
    assert memory.audit.verify().ok


def test_what_is_approved_does_not_end_before_it_was_said(memory, script):
    remember(memory, "Mia drives a Toyota", at=LATER)
    script.on("facts", {"facts": [drawn("Mia drives a Fiat", 1, valid_from="2020")]})
    script.always("consolidate", judge(Mia_drives_a_Fiat=("update", "Mia drives a Toyota", {"sure": False})))
    (proposal,) = remember(memory, "Mia drives a Fiat", at=LATER + timedelta(days=1)).proposals
    memory.facts.approve(proposal.id)
    (toyota,) = memory.facts.list("mia", status="outdated")
    assert toyota.valid_to == LATER + timedelta(days=1)


def test_approved_merges_and_duplicates_do_what_they_would_have_done(memory, script):
    remember(memory, "Mia drinks coffee. Mia likes tea")
    fuller = {"sure": False, "merged": "Mia drinks coffee every morning"}
    verdicts = {"Mia_drinks_it_every_morning": ("complementary", "Mia drinks coffee", fuller)}
    verdicts |= {"Mia_is_fond_of_tea": ("duplicate", "Mia likes tea", {"sure": False})}
    script.always("consolidate", judge(**verdicts))
    for proposal in remember(memory, "Mia drinks it every morning. Mia is fond of tea", at=LATER).proposals:
        memory.facts.approve(proposal.id)
    assert standing(memory, status="active") == {"Mia likes tea": "active", "Mia drinks coffee every morning": "active"}
    assert memory.audit.verify().ok
