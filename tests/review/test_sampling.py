"""Audits by samples: drawn, judged in a queue of their own, signed as a whole, and reported so that others can check them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from memoir_engine import (
    InvalidSetting,
    Memory,
    NotAllowed,
    NothingChanges,
    ReviewStep,
    SampleUnfinished,
    SamplingPlanNotFound,
    SignedStateChanged,
    SourceNotFound,
    UndoBlocked,
)

TEXT = "The lease of the office may be ended by either side with three months' notice. Rent is due on the third day. " * 60
OTHER = "The harbour festival earned a surplus of 8,450 euros, and the board decided to repair the quay. " * 60


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(model="offline", data_dir=tmp_path / "memory") as memory:
        memory.ingest_text(TEXT, name="lease.txt").raise_for_error()
        memory.ingest_text(OTHER, name="harbour.txt").raise_for_error()
        yield memory


def auditor(memory: Memory, name: str) -> Memory:
    return memory.acting_as(name, roles=("auditor",))


def judged(memory: Memory, plan: int, wrong: int = 0) -> None:
    """Judge all that a plan drew, the first `wrong` of them as wrong."""
    for number, item in enumerate(memory.review.sampled(plan).items):
        (memory.review.reject if number < wrong else memory.review.approve)(item.key)


def test_a_sample_is_drawn_judged_and_says_how_much_is_wrong(memory: Memory):
    plan = memory.review.draw_sample(size=4, words="The quarter.")
    assert (plan.population, plan.size, plan.waiting, plan.words) == (7, 4, 4, "The quarter.")
    assert plan.error_rate is None
    assert [item.chunk_id for item in memory.review.sampled(plan.number).items] == [one.chunk_id for one in plan.filings]
    judged(memory, plan.number, wrong=1)
    found = memory.review.sampling_plan(plan.number)
    assert (found.judged, found.wrong, found.waiting) == (4, 1, 0)
    assert found.error_rate is not None
    assert (found.error_rate.rate, round(found.error_rate.low, 3), round(found.error_rate.high, 3)) == (0.25, 0.046, 0.699)
    assert [one.state for one in found.filings] == ["wrong", "right", "right", "right"]
    assert memory.review.sampled(plan.number).items == ()
    assert memory.audit.verify().ok


def test_the_population_is_a_source_a_category_or_a_period(memory: Memory):
    lease = memory.sources.by_name("lease.txt")[0]
    whole = memory.review.preview_sample(share=100).population
    assert memory.review.preview_sample(source=lease.id, share=100).population == lease.chunks
    tops = [memory.review.preview_sample(category=root.id, share=100).population for root in memory.tree.roots()]
    assert sum(tops) == whole
    between = memory.sources.by_name("harbour.txt")[0].created_at
    assert memory.review.preview_sample(until=between, share=100).population == lease.chunks
    assert memory.review.preview_sample(since=between - timedelta(days=1), share=50).size == 4
    with pytest.raises(InvalidSetting, match="nothing is filed there"):
        memory.review.preview_sample(since=datetime.now(UTC), share=100)


def test_what_was_decided_before_the_draw_waits_again_and_is_not_shown(memory: Memory):
    ada, ben = auditor(memory, "Ada"), auditor(memory, "Ben")
    for item in memory.review.queue().items:
        ada.review.approve(item.key)
    plan = ben.review.draw_sample(size=3)
    shown = memory.review.sampled(plan.number).items
    assert [(item.state, item.reviewer) for item in shown] == [("unreviewed", None)] * 3
    first, second, third = shown
    ada.review.approve(first.key)  # she had approved it before, and does so for the audit
    (outcome,) = ben.review.apply([ReviewStep("a" * 26, second.key, "approve", seen="unreviewed")])
    assert outcome.outcome == "done"
    ben.review.skip(third.key)
    found = memory.review.sampling_plan(plan.number)
    assert (found.judged, found.skipped, found.waiting) == (2, 1, 1)
    with pytest.raises(NothingChanges):
        ada.review.approve(first.key)
    assert memory.review.agreement().items == 1  # Ben judged one that Ada had judged


def test_a_verdict_that_is_undone_waits_again(memory: Memory):
    plan = memory.review.draw_sample(size=2)
    item = memory.review.sampled(plan.number).items[0]
    done = memory.review.reject(item.key)
    assert memory.review.sampling_plan(plan.number).wrong == 1
    memory.review.undo(done.action_id)
    assert memory.review.sampling_plan(plan.number).judged == 0
    assert [one.chunk_id for one in memory.review.sampled(plan.number).items][0] == item.chunk_id


def test_a_sample_is_signed_as_a_whole_and_the_signature_is_void_once_an_item_is_altered(memory: Memory):
    plan, ada = memory.review.draw_sample(size=3).number, auditor(memory, "Ada")
    with pytest.raises(SampleUnfinished, match="3 of the 3 filings"):
        ada.review.sign_off_sample(plan, "I have looked.")
    judged(memory, plan)
    with pytest.raises(SignedStateChanged):
        ada.review.sign_off_sample(plan, "I have looked.", expected="0" * 64)
    seen = memory.review.preview_sign_off(plan=plan).digest
    ada.review.sign_off_sample(plan, "I have looked.", expected=seen)
    (signed,) = memory.review.sampling_plan(plan).sign_offs
    assert (signed.signer, signed.state, signed.statement) == ("Ada", "valid", "I have looked.")
    with pytest.raises(NothingChanges):
        ada.review.sign_off_sample(plan, "Again.")
    drawn = {one.chunk_id for one in memory.review.sampling_plan(plan).filings}
    outside = next(item for item in memory.review.queue().items if item.chunk_id not in drawn)
    memory.review.reject(outside.key)
    assert memory.review.sign_offs(plan=plan)[0].state == "valid"
    altered = memory.review.reject(memory.review.of_chunk(min(drawn)).key)
    (void,) = memory.review.sign_offs(plan=plan)
    assert (void.state, void.ended_by and void.ended_by.action_id) == ("void", altered.action_id)
    memory.review.undo(altered.action_id)
    assert memory.review.sign_offs(plan=plan)[0].state == "valid"
    assert memory.audit.verify().ok


def test_a_plan_is_withdrawn_by_an_undo_unless_somebody_stands_for_it(memory: Memory):
    plan = memory.review.draw_sample(size=2)
    judged(memory, plan.number)
    signed = memory.review.sign_off_sample(plan.number, "Yes.")
    with pytest.raises(UndoBlocked):
        memory.review.undo(plan.action_id)
    memory.review.undo(signed.action_id)
    undone = memory.review.undo(plan.action_id)
    assert memory.review.sampling_plans() == ()
    with pytest.raises(SamplingPlanNotFound):
        memory.review.sampling_plan(plan.number)
    memory.review.undo(undone.action_id)
    assert memory.review.sampling_plan(plan.number).judged == 2
    assert memory.audit.verify().ok


def test_an_outsider_repeats_the_draw_and_the_estimate_from_the_report_alone(memory: Memory):
    plan = memory.review.draw_sample(method="risk", size=5, seed="dice: 4 1 6")
    judged(memory, plan.number, wrong=1)
    memory.review.sign_off_sample(plan.number, "Looked at by me.")
    made = memory.reports.sample(plan.number)
    sample = json.loads(made.json)["sample"]
    strata = {key: code for code, keys in sample["population"]["keys"].items() for key in keys}
    ordered = sorted(strata, key=lambda key: tuple(map(int, key.split("-"))))
    assert sha256("".join(f"{key} {strata[key]}\n" for key in ordered).encode()).hexdigest() == sample["population"]["digest"]
    lots = sorted(strata, key=lambda key: sha256(f"{sample['seed']}:{key}".encode()).hexdigest())
    drawn = {part["code"]: part["drawn"] for part in sample["strata"]}
    expected = [key for key in lots if _place(key, lots, strata) < drawn[strata[key]]]
    assert [filing["key"] for filing in sample["filings"]] == expected
    chain = {event.seq: event for event in memory.audit.events(limit=500)}
    assert chain[plan.number].hash == sample["event"]["hash"]
    assert chain[plan.number].body["population_digest"] == sample["population"]["digest"]
    assert [chain[filing["event"]].hash for filing in sample["filings"]] == [filing["event_hash"] for filing in sample["filings"]]
    weights = [(part["population"] / sample["population"]["size"], part["wrong"] / part["judged"]) for part in sample["strata"]]
    assert sample["error_rate"]["rate"] == pytest.approx(sum(weight * share for weight, share in weights), abs=1e-6)
    assert memory.audit.verify(json.loads(made.json)["head"]["hash"]).ok
    assert "Looked at by me." in made.html
    rows = list(csv.DictReader(io.StringIO(made.csv or "")))
    assert [row["key"] for row in rows] == expected


def test_words_of_people_in_a_report_are_text(memory: Memory):
    plan = memory.review.draw_sample(size=1, words="<script>alert(1)</script>")
    assert "<script>" not in memory.reports.sample(plan.number).html


def test_an_erased_source_leaves_numbers_and_no_word(memory: Memory):
    plan = memory.review.draw_sample(size=7, words="Does the harbour festival belong here?")
    judged(memory, plan.number)
    memory.review.sign_off_sample(plan.number, "Yes.")
    harbour = memory.sources.by_name("harbour.txt")[0]
    memory.sources.erase(harbour.id, "asked for")
    found = memory.review.sampling_plan(plan.number)
    assert (found.size, found.judged, found.sign_offs[0].state) == (7, 7, "void")
    assert "harbour" not in memory.reports.sample(plan.number).json
    assert memory.audit.verify().ok


def test_what_leaves_the_tree_before_it_is_judged_is_gone_and_keeps_nobody_from_signing(memory: Memory):
    plan = memory.review.draw_sample(size=7)
    memory.sources.withdraw(memory.sources.by_name("harbour.txt")[0].id)
    judged(memory, plan.number)
    found = memory.review.sampling_plan(plan.number)
    assert (found.judged + found.gone, found.waiting) == (7, 0)
    assert found.gone > 0
    memory.review.sign_off_sample(plan.number, "What was left.")
    nothing = memory.review.draw_sample(size=1)
    memory.sources.withdraw(nothing.filings[0].source_id)
    with pytest.raises(InvalidSetting, match="nothing was judged"):
        memory.review.sign_off_sample(nothing.number, "Of nothing.")


def test_plans_go_along_with_an_export(memory: Memory, tmp_path: Path):
    plan = memory.review.draw_sample(size=3, words="The quarter.")
    judged(memory, plan.number, wrong=1)
    memory.review.sign_off_sample(plan.number, "Yes.")
    memory.export(tmp_path / "all.zip")
    with Memory.import_(tmp_path / "all.zip", model="offline", data_dir=tmp_path / "other") as other:
        assert other.review.sampling_plan(plan.number) == memory.review.sampling_plan(plan.number)
        assert other.audit.verify().ok


def test_bad_input_is_refused_in_words(memory: Memory):
    viewer = memory.acting_as("Vi")
    with pytest.raises(NotAllowed):
        viewer.review.draw_sample(size=3)
    assert viewer.review.preview_sample(size=3).size == 3
    for wrong in ({}, {"share": 5, "size": 3}, {"share": 0}, {"share": 101}, {"size": 0}, {"size": 3, "seed": " "}):
        with pytest.raises(InvalidSetting):
            memory.review.draw_sample(**wrong)
    with pytest.raises(InvalidSetting, match="unknown name"):
        memory.review.draw_sample(size=3, method="all")  # type: ignore[arg-type]
    with pytest.raises(SourceNotFound):
        memory.review.draw_sample(size=3, source=99)
    for number in (1, 0, -1, 10**30):
        with pytest.raises(SamplingPlanNotFound):
            memory.review.sampled(number)


def _place(key: str, lots: list[str], strata: dict[str, str]) -> int:
    """Return how many of the same stratum come before it."""
    return sum(strata[other] == strata[key] for other in lots[: lots.index(key)])
