"""Feedback on answers: said, resolved, told, taken back and erased; who may do what, and who sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from memoir_engine import (
    ActionNotFound,
    CitationNotRead,
    FeedbackNotFound,
    InvalidSetting,
    Memory,
    NoAnswerThere,
    NotAllowed,
    NothingChanges,
    PersonNotFound,
    ReviewOvertaken,
    RunNotFound,
)

TEXT = "The lease of the office may be ended by either side with three months' notice. Rent is due on the third day. " * 12
OTHER = "The harbour festival earned a surplus of 8,450 euros, and the board decided to repair the quay. " * 12


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(model="offline", data_dir=tmp_path / "memory") as memory:
        memory.ingest_text(TEXT, name="lease.txt").raise_for_error()
        memory.ingest_text(OTHER, name="harbour.txt").raise_for_error()
        yield memory


@pytest.fixture
def run_id(memory: Memory) -> str:
    return memory.query("How much notice does ending the lease need?").raise_for_error().run_id


@pytest.fixture
def vi(memory: Memory) -> Memory:
    return memory.acting_as("Vi")


@pytest.fixture
def ada(memory: Memory) -> Memory:
    return memory.acting_as("Ada", roles=("auditor",))


def cited(memory: Memory, run_id: str) -> int:
    return memory.runs.query(run_id).used_chunks[0].chunk_id


def reported(vi: Memory, run_id: str, words: str = "It is two months.") -> str:
    vi.feedback.wrong(run_id, words)
    return vi.feedback.reports().items[0].key


def test_a_viewer_reports_a_wrong_answer_with_the_citation_meant(vi: Memory, run_id: str):
    vi.feedback.wrong(run_id, " It is two months. ", chunk_id=cited(vi, run_id))
    (report,) = vi.feedback.of(run_id)
    assert (report.verdict, report.by, report.words, report.state) == ("wrong", "Vi", "It is two months.", "open")
    assert report.chunk_id == cited(vi, run_id)
    assert report.question == "How much notice does ending the lease need?"
    assert vi.audit.action(report.action_id).says == "Reported a wrong answer"


def test_what_is_said_next_takes_the_place_of_what_one_said_before(vi: Memory, ada: Memory, run_id: str):
    vi.feedback.wrong(run_id, "It is two months.")
    ada.feedback.wrong(run_id)
    vi.feedback.helped(run_id)
    assert [(one.by, one.verdict) for one in vi.feedback.of(run_id)] == [("Ada", "wrong"), ("Vi", "helped")]
    with pytest.raises(NothingChanges, match="said so already"):
        vi.feedback.helped(run_id)


def test_a_report_is_resolved_by_the_action_that_mended_it_and_its_author_is_told(vi: Memory, ada: Memory, run_id: str):
    key = reported(vi, run_id)
    mended = ada.review.approve(ada.review.of_chunk(cited(ada, run_id)).key)
    assert [one.action_id for one in ada.feedback.mending(key)] == [mended.action_id]
    ada.feedback.resolve(key, "Looked at again.", mended_by=mended.action_id)
    report = vi.feedback.get(key)
    assert report.state == "mended"
    assert report.settlement is not None and report.settlement.mended_by is not None
    assert report.settlement.mended_by.action_id == mended.action_id
    (notice,) = vi.notices.list()
    assert (notice.kind, notice.by, notice.words, notice.key) == ("mended", "Ada", "Looked at again.", key)
    assert ada.notices.list() == ()
    vi.notices.read(notice.seq)
    assert vi.notices.list() == ()


def test_a_report_whose_mending_was_undone_is_open_again(vi: Memory, ada: Memory, run_id: str):
    key = reported(vi, run_id)
    mended = ada.review.approve(ada.review.of_chunk(cited(ada, run_id)).key)
    ada.feedback.resolve(key, mended_by=mended.action_id)
    ada.review.undo(mended.action_id)
    assert vi.feedback.get(key).state == "open"
    ada.feedback.resolve(key, "The text says three.")
    assert vi.feedback.get(key).state == "explained"


def test_who_resolves_second_is_told_who_was_first(vi: Memory, ada: Memory, memory: Memory, run_id: str):
    key = reported(vi, run_id)
    ada.feedback.resolve(key, "The text says three.")
    with pytest.raises(ReviewOvertaken, match="Ada decided first"):
        memory.acting_as("Ben", roles=("auditor",)).feedback.resolve(key, "No.")
    settlement = vi.feedback.get(key).settlement
    assert settlement is not None and settlement.words == "The text says three."


def test_a_resolution_and_a_report_are_taken_back_in_their_order(vi: Memory, ada: Memory, run_id: str):
    key = reported(vi, run_id)
    said, settled = vi.feedback.get(key).action_id, ada.feedback.resolve(key, "No.").action_id
    assert ada.review.preview_undo(said).blocked_by == (settled,)
    ada.review.undo(settled)
    assert vi.feedback.get(key).state == "open"
    assert vi.notices.list() == ()
    ada.review.undo(said)
    assert vi.feedback.reports(state=None).items == ()
    assert vi.audit.verify().ok


def test_what_an_undo_brings_back_has_the_same_key(vi: Memory, ada: Memory, run_id: str):
    key = reported(vi, run_id)
    undone = ada.review.undo(vi.feedback.get(key).action_id)
    ada.review.undo(undone.action_id)
    assert vi.feedback.get(key).words == "It is two months."
    assert vi.audit.verify().ok


def test_a_viewer_resolves_nothing(vi: Memory, run_id: str):
    key = reported(vi, run_id)
    with pytest.raises(NotAllowed, match="resolve a report"):
        vi.feedback.resolve(key, "It is mended.")


def test_what_is_said_of_somebodys_answer_is_theirs_and_of_who_checks_the_memory(memory: Memory, ada: Memory, vi: Memory):
    ana = memory.acting_as("Ana", user="ana", roles=("viewer",))
    run_id = ana.query("How much notice does ending the lease need?").raise_for_error().run_id
    key = reported(ana, run_id)
    with pytest.raises(RunNotFound):
        vi.feedback.wrong(run_id)
    with pytest.raises(RunNotFound):
        vi.feedback.of(run_id)
    with pytest.raises(FeedbackNotFound):
        vi.feedback.get(key)
    for_ben = memory.acting_as("Bo", user="ben", roles=("auditor",))
    with pytest.raises(FeedbackNotFound):
        for_ben.feedback.resolve(key, "No.")
    with pytest.raises(ActionNotFound):
        for_ben.review.undo(ana.feedback.get(key).action_id)
    assert vi.feedback.reports().items == ()
    assert [one.key for one in ada.feedback.reports().items] == [key]
    assert "two months" not in repr(vi.audit.events())
    ada.feedback.resolve(key, "The text says three.")
    assert [one.words for one in ana.notices.list()] == ["The text says three."]


def test_why_somebody_s_fact_was_changed_is_told_to_nobody_who_may_not_read_it(
    vi: Memory, ada: Memory, memory: Memory, run_id: str
):
    key = reported(vi, run_id)
    hers = memory.facts.add("Lives in Lyon", user_id="mia").fact_ids[0]
    mended = memory.facts.retire(hers, reason="after the divorce").action_id
    assert [done.reason for done in ada.feedback.mending(key) if done.action_id == mended] == [None]
    ada.feedback.resolve(key, mended_by=mended)
    listed = (vi.feedback.get(key), *vi.feedback.of(run_id), *vi.feedback.reports(state=None).items)
    assert [one.settlement.mended_by.reason for one in listed if one.settlement and one.settlement.mended_by] == [None] * 3
    whole = memory.feedback.get(key).settlement
    assert whole is not None and whole.mended_by is not None and whole.mended_by.reason == "after the divorce"


def test_a_reader_who_acts_for_somebody_says_nothing_in_their_name(memory: Memory, run_id: str):
    reader = memory.acting_as("Rea", user="ana", roles=("viewer", "reader"))
    with pytest.raises(NotAllowed):
        reader.feedback.wrong(run_id)


def test_bad_input_is_refused_in_plain_words(vi: Memory, ada: Memory, memory: Memory, run_id: str):
    filed = next(run.id for run in memory.runs.list() if run.verb == "ingest_text")
    with pytest.raises(NoAnswerThere, match="it is a run of ingest_text"):
        vi.feedback.wrong(filed)
    with pytest.raises(CitationNotRead):
        vi.feedback.wrong(run_id, chunk_id=999)
    with pytest.raises(InvalidSetting, match="characters long"):
        vi.feedback.wrong(run_id, "x" * 4_001)
    for key in ("answer-", "answer-x", "answer-99", "answer-" + "9" * 30, "nothing"):
        with pytest.raises(FeedbackNotFound):
            vi.feedback.get(key)
    key = reported(vi, run_id)
    with pytest.raises(InvalidSetting, match="neither a word nor an action"):
        ada.feedback.resolve(key, "  ")
    with pytest.raises(ActionNotFound):
        ada.feedback.resolve(key, mended_by="nothing")
    with pytest.raises(InvalidSetting, match="before the report"):
        ada.feedback.resolve(key, mended_by=memory.audit.actions(but=("say_wrong",))[0].action_id)
    assert vi.feedback.get(key).state == "open"


def test_reports_are_listed_as_they_stood_then(vi: Memory, ada: Memory, run_id: str):
    key = reported(vi, run_id)
    then = vi.audit.head().seq
    ada.feedback.resolve(key, "The text says three.")
    assert [one.state for one in vi.feedback.reports(as_of=then).items] == ["open"]
    assert vi.feedback.reports(as_of=then - 1).items == ()


def test_reports_come_page_by_page(memory: Memory, run_id: str):
    for name in ("Ana", "Ben", "Cid"):
        memory.acting_as(name).feedback.wrong(run_id, f"{name} says so.")
    first = memory.feedback.reports(limit=2)
    assert ([one.by for one in first.items], first.total) == (["Cid", "Ben"], 3)
    assert [one.by for one in memory.feedback.reports(limit=2, after=first.after).items] == ["Ana"]


def test_an_erasure_takes_the_words_of_a_source_out_of_what_was_said(vi: Memory, memory: Memory, run_id: str):
    key = reported(vi, run_id, "The harbour festival earned a surplus, not the lease.")
    number = next(source.id for source in memory.sources.list() if source.name == "harbour.txt")
    memory.sources.erase(number, reason="asked for")
    words = vi.feedback.get(key).words or ""
    assert "surplus" not in words
    assert memory.audit.verify().ok


def test_a_persons_erasure_takes_what_they_said_and_what_was_said_of_their_answers(memory: Memory, ada: Memory, run_id: str):
    ana = memory.acting_as("ana", user="ana", roles=("viewer",))
    own = ana.query("How much notice does ending the lease need?").raise_for_error().run_id
    key = reported(ana, own, "Private and wrong.")
    memory.acting_as("ana").feedback.wrong(run_id, "Said of another's answer.")
    memory.feedback.resolve(key, "Told in private.")
    ana.notices.read(ana.notices.list()[0].seq)
    places = {place.place: place.count for place in memory.people.preview_erase("ana").places}
    assert places["remark"] == 3
    memory.people.erase("ana", reason="asked for")
    assert [one.words for one in memory.feedback.of(run_id)] == [None]
    assert memory.audit.verify().ok


def test_who_only_decides_with_others_takes_their_words_along_and_is_erased_with_them(memory: Memory, tmp_path: Path):
    bea = memory.acting_as("Bea", user="Bea", roles=("viewer", "auditor"))
    item = memory.review.queue().items[0].key
    bea.review.comment(item, "I was ill that week.")
    bea.people.export("Bea", tmp_path / "bea.zip")
    with ZipFile(tmp_path / "bea.zip") as archive:
        (said,) = map(json.loads, archive.read("remarks.jsonl").splitlines())
    assert (said["kind"], said["item"], said["stands"], said["said"]["words"]) == ("comment", item, True, "I was ill that week.")
    memory.review.assign(item, "Bea")
    memory.people.erase("Bea", reason="asked for")
    left = memory.review.remarks(item)
    assert ([comment.words for comment in left.comments], left.assigned_to, memory.review.assignments()) == ([None], None, ())
    with pytest.raises(PersonNotFound):
        memory.people.get("Bea")
    assert memory.audit.verify().ok


def test_who_was_only_called_is_erased_too(memory: Memory):
    item = memory.review.queue().items[0].key
    memory.review.ask_second(item, to="Bea", words="Look at this.")
    memory.people.erase("Bea", reason="asked for")
    assert memory.review.second_looks()[0].to is None
    assert memory.audit.verify().ok


def test_feedback_goes_with_an_export(vi: Memory, ada: Memory, memory: Memory, run_id: str, tmp_path: Path):
    key = reported(vi, run_id)
    ada.feedback.resolve(key, "The text says three.")
    memory.export(tmp_path / "all.zip")
    with Memory.import_(tmp_path / "all.zip", model="offline", data_dir=tmp_path / "copy") as copy:
        assert copy.feedback.get(key) == memory.feedback.get(key)
        assert copy.audit.verify().ok
