"""Facts in the review: queue, order, single decisions, undo, and privacy."""

from __future__ import annotations

import pytest

from memoir_engine import Memory, ReviewStep, sample_conversations
from memoir_engine.core import errors
from memoir_engine.core.run import new_id


@pytest.fixture
def memory(tmp_path):
    with Memory(data_dir=tmp_path, model="offline") as opened:
        for talk in sample_conversations():
            opened.remember(talk.messages, user_id=talk.user, session_id=talk.session_id)
        yield opened


def step(memory: Memory, key: str, verdict: str, **more: object) -> ReviewStep:
    from datetime import UTC, datetime

    return ReviewStep(new_id(datetime.now(UTC)), key, verdict, **more)  # type: ignore[arg-type]


def waiting(memory: Memory, kind: str):
    return next(one for one in memory.review.facts(limit=500).items if one.kind == kind)


@pytest.mark.parametrize("kind", ["proposal", "supersession", "fact"])
def test_who_asks_the_queue_of_filings_for_facts_is_told_where_they_wait(memory: Memory, kind: str):
    with pytest.raises(errors.InvalidSetting) as raised:
        memory.review.queue(kind=kind)
    assert f"review.facts(kind='{kind}')" in raised.value.remedy


def test_open_proposals_come_first_then_what_gave_way_then_the_rest(memory: Memory):
    page = memory.review.facts(limit=500)
    kinds = [one.kind for one in page.items]
    assert kinds == sorted(kinds, key=["proposal", "supersession", "fact"].index)
    assert set(kinds) == {"proposal", "supersession", "fact"}
    assert page.total == len(page.items) == page.counts["unreviewed"]
    assert all(one.reasons for one in page.items)
    pages, after = [], None
    while True:
        part = memory.review.facts(limit=7, after=after)
        pages += part.items
        after = part.after
        if after is None:
            break
    assert [one.key for one in pages] == [one.key for one in page.items]


def test_states_in_which_nothing_is_are_counted_as_none(tmp_path):
    with Memory(data_dir=tmp_path, model="offline") as memory:
        memory.facts.add("Lives in Lyon", "mia")
        assert memory.review.facts().counts == {"unreviewed": 0, "approved": 1, "refiled": 0, "rejected": 0, "skipped": 0}


def test_a_fact_is_approved_skipped_and_rejected_and_each_is_taken_back(memory: Memory):
    found = waiting(memory, "fact")
    approved = memory.review.approve(found.key, reason="I asked")
    assert (approved.verb, memory.review.fact(found.key).state) == ("confirm_fact", "approved")
    assert found.key not in {one.key for one in memory.review.facts(limit=500).items}
    memory.review.undo(approved.action_id)
    assert memory.review.fact(found.key).state == "unreviewed"
    memory.review.skip(found.key)
    assert memory.review.facts(limit=500).items[-1].key == found.key
    rejected = memory.review.reject(found.key, reason="Nobody said so")
    gone = memory.facts.get(found.fact.id)
    assert (gone.status, gone.cause, gone.reason) == ("outdated", "person", "Nobody said so")
    assert memory.review.fact(found.key).state == "rejected"
    assert f"“{found.fact.content}” is active again" in memory.review.preview_undo(rejected.action_id).changes
    memory.review.undo(rejected.action_id)
    assert memory.facts.get(found.fact.id).status == "active"
    assert memory.audit.verify().ok


def test_what_was_said_of_a_fact_holds_again_when_an_undo_brings_it_back(memory: Memory):
    found = waiting(memory, "fact")
    memory.review.approve(found.key)
    rejected = memory.review.reject(found.key)
    memory.review.undo(rejected.action_id)
    assert (memory.review.fact(found.key).state, memory.review.fact(found.key).key) == ("approved", found.key)


def test_two_verdicts_on_one_fact_are_taken_back_one_after_the_other(memory: Memory):
    found = waiting(memory, "fact")
    skipped, approved = memory.review.skip(found.key), memory.review.approve(found.key)
    assert memory.review.preview_undo(skipped.action_id).blocked_by == (approved.action_id,)
    memory.review.undo(approved.action_id)
    assert memory.review.fact(found.key).state == "skipped"
    memory.review.undo(skipped.action_id)
    assert memory.review.fact(found.key).state == "unreviewed"


def test_that_a_fact_gave_way_is_approved_or_the_older_one_comes_back(memory: Memory):
    found = waiting(memory, "supersession")
    assert found.fact.superseded_by == found.others[0].id
    approved = memory.review.approve(found.key)
    assert memory.facts.get(found.fact.id) == found.fact
    memory.review.undo(approved.action_id)
    rejected = memory.review.reject(found.key)
    assert (rejected.verb, memory.facts.get(found.fact.id).status) == ("restore_fact", "active")
    assert memory.review.fact(found.key).state == "approved"


def test_a_proposal_is_settled_from_the_queue(memory: Memory):
    found = waiting(memory, "proposal")
    memory.review.skip(found.key)
    assert memory.review.fact(found.key).state == "skipped"
    before = {found.proposal.id, *(proposal.id for proposal in memory.facts.proposals())}
    settled = memory.review.approve(found.key)
    assert memory.facts.get(found.others[0].id).superseded_by == found.fact.id
    assert {proposal.id for proposal in memory.facts.proposals()} == before - {found.proposal.id}
    memory.review.undo(settled.action_id)
    assert {proposal.id for proposal in memory.facts.proposals()} == before
    memory.review.reject(memory.review.fact(found.key).key)
    assert memory.facts.get(found.others[0].id).status == "active"
    assert memory.audit.verify().ok


def test_a_step_is_done_once_and_who_comes_second_is_told(memory: Memory):
    found = waiting(memory, "fact")
    mia, noa = (memory.acting_as(name, roles=("viewer", "auditor", "admin")) for name in ("Mia", "Noa"))
    one = step(memory, found.key, "approve", seen="unreviewed")
    assert [told.outcome for told in mia.review.apply([one, one])] == ["done", "again"]
    (late,) = noa.review.apply([step(memory, found.key, "reject", seen="unreviewed")])
    assert (late.outcome, late.by) == ("overtaken", "Mia")
    (other,) = noa.review.apply([step(memory, found.key, "reject", seen="approved")])
    assert other.outcome == "done"
    (gone,) = mia.review.apply([step(memory, found.key, "approve", seen="approved")])
    assert (gone.outcome, gone.by) == ("overtaken", "Noa")


def test_filings_and_facts_are_decided_in_one_list_of_steps(memory: Memory):
    memory.ingest_text("The dough for the rye bread rests overnight in the cold room. " * 40, name="bread.txt").raise_for_error()
    filing, fact = memory.review.queue(limit=1).items[0], waiting(memory, "fact")
    told = memory.review.apply([step(memory, key, "approve") for key in (fact.key, filing.key)])
    assert [one.outcome for one in told] == ["done", "done"]


def test_a_proposal_whose_fact_somebody_ended_meanwhile_names_who_and_when(memory: Memory):
    found = waiting(memory, "proposal")
    ana = memory.acting_as("Ana", user=found.user_id, roles=("viewer", "auditor"))
    ended = ana.facts.retire(found.others[0].id)
    (told,) = memory.review.apply([step(memory, found.key, "approve")])
    assert (told.outcome, told.by, told.at) == ("overtaken", "Ana", ended.at)


def test_facts_of_others_are_not_there(memory: Memory):
    found = waiting(memory, "proposal")
    other = memory.acting_as("Tomasz", user="Tomasz", roles=("viewer", "auditor"))
    assert {one.user_id for one in other.review.facts(limit=500).items} == {"Tomasz"}
    with pytest.raises(errors.ReviewItemNotFound):
        other.review.fact(found.key)
    (told,) = other.review.apply([step(memory, found.key, "approve")])
    assert told.outcome == "refused"


def test_a_viewer_decides_nothing_and_what_is_no_step_is_refused(memory: Memory):
    found = waiting(memory, "fact")
    with pytest.raises(errors.NotAllowed):
        memory.acting_as("Vi", roles=("viewer",)).review.approve(found.key)
    for key in ("fact-1", "fact-99999-99999", "proposal-1-1", "fact-x-y"):
        with pytest.raises(errors.ReviewItemNotFound):
            memory.review.approve(key)
    (told,) = memory.review.apply([step(memory, found.key, "refile", category_id=1)])
    assert told.outcome == "refused"
    for bad in ({"after": "nonsense"}, {"state": "lost"}):
        with pytest.raises(errors.InvalidSetting):
            memory.review.facts(**bad)  # type: ignore[arg-type]
