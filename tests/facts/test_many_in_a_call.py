"""Facts are compared many in a call: known ones by what they say without the name, new ones with those said before them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fact_play import DAY, drawn, judge, remember, said, standing
from memoir_engine import Memory
from memoir_engine.facts.consolidation import AT_ONCE
from memoir_engine.prompts import consolidate
from memoir_engine.text.attributes import bare_statement
from scripted_model import Script

LATER = DAY + timedelta(days=30)
JOB = "Mia starts as a welder on 16 March"
MOVED = "Mia starts on 23 March"
STILL = "Mia starts as a welder"
DOINGS = (
    "rows sings paints knits bakes skis surfs fishes hikes runs swims dances reads writes draws sews plays cooks gardens cycles"
).split()


@pytest.mark.parametrize(
    ("content", "person", "bare"),
    [
        ("Priya lives in Leeds", "Priya", "lives in Leeds"),
        ("Priya's sister lives in Leeds", "Priya Nair", "sister lives in Leeds"),
        ("Priyanka lives in Leeds", "Priya", "Priyanka lives in Leeds"),
        ("The user lives in Leeds", "the user", "lives in Leeds"),
        ("田中は大阪に住んでいる", "田中", "は大阪に住んでいる"),
        ("Priya", "Priya", "Priya"),
        ("Lives in Leeds", "", "Lives in Leeds"),
    ],
)
def test_what_a_fact_says_without_the_name(content, person, bare):
    assert bare_statement(content, person) == bare


@pytest.mark.req("TIMEM consolidation.1")
def test_facts_that_share_nothing_but_the_name_are_asked_about_in_one_call(memory: Memory, script: Script):
    remember(memory, "Mia lives in Berlin")
    remember(memory, ". ".join(f"Mia {doing}" for doing in DOINGS), at=LATER)
    (asked,) = script.asked("consolidate")
    comparison = consolidate.read(asked.text)
    assert [one.label for one in comparison.new] == [f"N{number}" for number in range(1, len(DOINGS) + 1)]
    assert [one.label for one in comparison.known] == ["K1"]


def test_so_many_facts_that_they_fill_several_calls_are_compared_across_them(memory: Memory, script: Script):
    plain = [f"Mia bought pear number {number}" for number in range(AT_ONCE)]
    script.always("consolidate", judge(Mia_lives_in_Munich=("update", "Mia lives in Berlin")))
    remember(memory, ". ".join(["Mia lives in Berlin", *plain, "Mia lives in Munich"]))
    first, second = [consolidate.read(one.text) for one in script.asked("consolidate")]
    assert (len(first.new), len(second.new)) == (
        AT_ONCE - 1,
        2,
    )  # her home is like no pear
    assert "Mia lives in Berlin" in [one.content for one in second.known]
    assert standing(memory)["Mia lives in Berlin"] == "outdated"


def test_what_is_asked_does_not_depend_on_the_order_of_a_reply(opened, script: Script):
    listed = [drawn(f"Mia {doing} in the park", at, quote=f"I {doing}") for at, doing in enumerate(DOINGS[:4], 1)]
    asked = []
    for name, order in (("one.db", listed), ("other.db", listed[::-1])):
        script.requests.clear()
        script.on("facts", {"facts": order})
        memory = opened(name)
        memory.remember(said(*(f"I {doing}" for doing in DOINGS[:4])), user_id="mia")
        asked.append([one.text for one in script.requests if one.purpose != "facts"])
    assert asked[0] == asked[1] != []


def test_the_likest_is_shown_whatever_the_language_if_few_are_of_its_type(memory: Memory, script: Script):
    script.on("facts", {"facts": [drawn("Mia is allergic to peanuts", 1, type="health")]})
    remember(memory, "Mia is allergic to peanuts")
    remember(memory, ". ".join(f"Mia bought pear number {number} at the market" for number in range(60)), at=LATER)
    script.on("facts", {"facts": [drawn("Mia isst keine Erdnüsse", 1, type="health")]})
    script.always("consolidate", judge(Mia_isst_keine_Erdnüsse=("duplicate", "Mia is allergic to peanuts")))
    found = remember(memory, "Mia isst keine Erdnüsse", at=LATER + timedelta(days=1))
    assert [one.content for one in found.duplicates] == ["Mia is allergic to peanuts"]


@pytest.mark.req("TIMEM consolidation.4")
def test_what_of_an_ended_fact_still_holds_is_kept_with_its_words(memory: Memory, script: Script):
    job = remember(memory, JOB).added[0]
    script.always("consolidate", judge(Mia_starts_on_23_March=("update", JOB, {"keep": STILL})))
    found = remember(memory, MOVED, at=LATER)
    assert standing(memory) == {JOB: "outdated", MOVED: "active", STILL: "active"}
    kept = next(one for one in found.added if one.content == STILL)
    assert [(origin.quote, origin.at) for origin in kept.origins] == [(JOB, DAY)]
    assert [(link.source, link.target, link.kind) for link in memory.facts.relations("mia")] == [(kept.id, job.id, "part_of")]
    undone = memory.review.undo(found.action_id)
    assert standing(memory) == {JOB: "active"}
    memory.review.undo(undone.action_id)
    assert standing(memory) == {JOB: "outdated", MOVED: "active", STILL: "active"}
    assert memory.audit.verify().ok


@pytest.mark.parametrize("known", [True, False], ids=["known", "said in the same conversation"])
def test_what_is_said_elsewhere_is_not_kept_twice(memory: Memory, script: Script, known: bool):
    remember(memory, f"{JOB}. {STILL}" if known else JOB)
    script.always("consolidate", judge(Mia_starts_on_23_March=("update", JOB, {"keep": STILL})))
    remember(memory, MOVED if known else f"{MOVED}. {STILL}", at=LATER)
    assert sorted((one.content, one.status) for one in memory.facts.list("mia")) == [
        (STILL, "active"),
        (JOB, "outdated"),
        (MOVED, "active"),
    ]


@pytest.mark.parametrize("keep", ["Mia starts as a welder on 17 March", JOB], ids=["another number", "all of it"])
def test_what_is_kept_must_be_a_part_of_what_ended_or_a_person_decides(memory: Memory, script: Script, keep):
    remember(memory, JOB)
    script.always("consolidate", judge(Mia_starts_on_23_March=("update", JOB, {"keep": keep})))
    (proposal,) = remember(memory, MOVED, at=LATER).proposals
    assert (proposal.doubt, proposal.keep) == ("second_opinion", None)
    assert standing(memory) == {JOB: "active", MOVED: "active"}


def test_what_a_proposal_keeps_is_kept_when_a_person_agrees(memory: Memory, script: Script):
    remember(memory, JOB)
    script.always("consolidate", judge(Mia_starts_on_23_March=("update", JOB, {"keep": STILL, "sure": False})))
    (proposal,) = remember(memory, MOVED, at=LATER).proposals
    assert (proposal.keep, standing(memory)) == (STILL, {JOB: "active", MOVED: "active"})
    agreed = memory.facts.approve(proposal.id)
    assert standing(memory) == {JOB: "outdated", MOVED: "active", STILL: "active"}
    memory.review.undo(agreed.action_id)
    assert standing(memory) == {JOB: "active", MOVED: "active"}
    assert memory.audit.verify().ok


def test_what_is_put_right_was_never_true_and_its_details_stay(memory: Memory, script: Script):
    right = "Mia starts as a welder on 23 March"
    script.on("facts", {"facts": [drawn(JOB, 1, valid_from="2026-03-16"), drawn(MOVED, 2, valid_from="2026-03-23")]})
    script.always("consolidate", judge(Mia_starts_on_23_March=("correction", JOB, {"merged": right})))
    found = memory.remember(said(JOB, MOVED), user_id="mia")
    assert standing(memory) == {JOB: "outdated", right: "active"}
    (wrong,) = memory.facts.list("mia", "outdated")
    assert (wrong.cause, wrong.superseded_by) == ("corrected", found.added[0].id)
    assert [origin.quote for origin in found.added[0].origins] == [MOVED, JOB]
    for day in (3, 17, 24):
        assert wrong.id not in {one.id for one in memory.facts.list("mia", valid_at=DAY.replace(day=day))}
    assert memory.audit.verify().ok


def test_a_correction_that_a_person_decides_is_the_same(memory: Memory, script: Script):
    right = "Mia starts as a welder on 23 March"
    script.always("consolidate", judge(Mia_starts_on_23_March=("correction", JOB, {"merged": right, "sure": False})))
    remember(memory, JOB)
    (proposal,) = remember(memory, MOVED, at=LATER).proposals
    memory.facts.approve(proposal.id)
    assert standing(memory) == {JOB: "outdated", MOVED: "outdated", right: "active"}
    assert {one.content: one.cause for one in memory.facts.list("mia", "outdated")} == {JOB: "corrected", MOVED: "merged"}
    assert memory.audit.verify().ok


@pytest.mark.parametrize("sure", [True, False], ids=["by the model", "by a person"])
def test_what_was_moved_before_it_began_never_was(memory: Memory, script: Script, sure: bool):
    script.on("facts", {"facts": [drawn(JOB, 1, valid_from="2026-03-16")]})
    remember(memory, JOB)
    script.on("facts", {"facts": [drawn(MOVED, 1, valid_from="2026-03-23")]})
    script.always("consolidate", judge(Mia_starts_on_23_March=("update", JOB, {"sure": sure})))
    proposals = remember(memory, MOVED, at=DAY + timedelta(days=2)).proposals
    assert [memory.facts.approve(one.id).verb for one in proposals] == ([] if sure else ["approve_fact"])
    assert [one.content for one in memory.facts.list("mia", valid_at=DAY.replace(day=20))] == []
    assert [one.content for one in memory.facts.list("mia", valid_at=DAY.replace(day=24))] == [MOVED]


def test_what_holds_again_after_it_ended_in_the_same_conversation_is_new(memory: Memory, script: Script):
    first = remember(memory, "Mia lives in Berlin").added[0]
    script.always("consolidate", judge(Mia_lives_in_Munich=("update", "Mia lives in Berlin")))
    found = remember(memory, "Mia lives in Munich. Mia lives in Berlin", at=LATER)
    assert memory.facts.get(first.id).status == "outdated"
    assert [one.content for one in found.added] == ["Mia lives in Munich", "Mia lives in Berlin"]
    assert found.duplicates == ()


def test_facts_of_one_part_that_share_nothing_are_not_asked_for_relations(memory: Memory, script: Script):
    remember(memory, "Mia rows. Mia likes tea. Mia has a cat")
    assert script.asked("relate") == []
    remember(memory, "Mia has a boat. Mia painted the boat. Mia sings", at=LATER)
    (asked,) = script.asked("relate")
    assert "sings" not in asked.text


@pytest.mark.parametrize(
    ("user", "known", "again"),
    [
        ("cy", "Is allergic to nuts", "Cy is allergic to nuts"),
        ("cy", "Cy is allergic to nuts", "Is allergic to nuts"),
        ("Cy Moss", "Is allergic to nuts", "Cy is allergic to nuts"),
        ("cy", "Dog is called Rex", "Cy's dog is called Rex"),
        ("佐藤", "大阪に住んでいる", "佐藤さんは大阪に住んでいる。"),
    ],
    ids=["with the name", "without it", "a part of the name", "a thing of theirs", "Japanese"],
)
def test_a_fact_with_the_persons_name_is_the_one_without_it(memory: Memory, user: str, known: str, again: str) -> None:
    first = memory.facts.add(known, user)
    done = memory.facts.add(again, user)
    assert (done.known, done.fact_id, done.proposals) == (True, first.fact_id, ())


def test_who_does_it_to_whom_is_no_matter_of_the_name(memory: Memory) -> None:
    memory.facts.add("Cy helps Ann with the garden", "cy", entities=["Ann"])
    done = memory.facts.add("Ann helps Cy with the garden", "cy", entities=["Ann"])
    assert done.known is False
