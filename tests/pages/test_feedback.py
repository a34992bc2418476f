"""Feedback in the app: said beside the answer, resolved on the Review page, told in a quiet line, marked as read."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from app_pages import opened, words
from memoir_engine import AgentClient, Memory, Reply

QUESTION = "What did the harbour festival earn?"


@pytest.fixture
def run_id(filled: Memory) -> str:
    return filled.query(QUESTION).raise_for_error().run_id


def test_an_answer_is_reported_as_wrong_with_a_reason_and_a_citation(filled: Memory, run_id: str) -> None:
    page = opened("ask", run=run_id)
    key = f"feedback-{run_id}"
    assert "Is this answer right?" in words(page)
    page.session_state[f"{key}-wrong"] = True
    page.run()
    cited = filled.runs.query(run_id).used_chunks[0].chunk_id
    page.selectbox(key=f"{key}-meant").select(cited)
    page.text_area(key=f"{key}-why").input("It earned more.")
    page = page.button(key=f"{key}-send").click().run()
    assert "You reported that this answer is wrong." in words(page)
    (report,) = filled.feedback.of(run_id)
    assert (report.words, report.chunk_id, report.by) == ("It earned more.", cited, "local")


def test_that_an_answer_helped_is_said_with_one_press(filled: Memory, run_id: str) -> None:
    page = opened("ask", run=run_id).button(key=f"feedback-{run_id}-helped").click().run()
    assert "You said that this answer helped." in words(page)
    assert [one.verdict for one in filled.feedback.of(run_id)] == ["helped"]


def test_a_report_is_refused_in_plain_words_and_what_was_typed_stays(filled: Memory, run_id: str) -> None:
    page, key = opened("ask", run=run_id), f"feedback-{run_id}"
    page.session_state[f"{key}-wrong"] = True
    page.run()
    filled.acting_as("local", roles=("auditor",)).feedback.wrong(run_id, "It earned more.")
    page.text_area(key=f"{key}-why").input("It earned more.")
    page = page.button(key=f"{key}-send").click().run()
    assert "you have said so already" in "\n".join(error.value for error in page.error)


def test_the_queue_shows_the_report_beside_the_answer_and_its_path_and_resolves_it(filled: Memory, run_id: str) -> None:
    filled.acting_as("Vi").feedback.wrong(run_id, "It earned more.")
    page = opened("review", of="answers")
    told = words(page)
    assert "Vi says that this answer is wrong" in told
    assert "It earned more." in told
    key = filled.feedback.reports().items[0].key
    page.text_area(key=f"fb-{key}-words").input("The accounts say 8,450.")
    page = page.button(key=f"fb-{key}-go").click().run()
    assert filled.feedback.get(key).state == "explained"
    assert "No open reports" in words(page)
    shown = opened("review", of="answers", item=key)
    assert "explained this on" in words(shown)


def test_a_report_is_resolved_by_what_was_done_since(filled: Memory, run_id: str) -> None:
    filled.acting_as("Vi").feedback.wrong(run_id)
    chunk = filled.runs.query(run_id).used_chunks[0].chunk_id
    local = filled.acting_as("local", roles=("auditor",))
    mended = local.review.approve(local.review.of_chunk(chunk).key)
    key = filled.feedback.reports().items[0].key
    page = opened("review", of="answers")
    assert page.selectbox(key=f"fb-{key}-by").value == mended.action_id
    page.button(key=f"fb-{key}-go").click().run()
    assert filled.feedback.get(key).state == "mended"


def test_a_report_without_a_word_or_an_action_is_not_resolved(filled: Memory, run_id: str) -> None:
    filled.acting_as("Vi").feedback.wrong(run_id)
    key = filled.feedback.reports().items[0].key
    page = opened("review", of="answers").button(key=f"fb-{key}-go").click().run()
    assert "write an explanation" in "\n".join(one.value for one in page.warning)
    assert filled.feedback.get(key).state == "open"


def test_a_link_to_a_report_that_is_gone_says_so(filled: Memory, run_id: str) -> None:
    page = opened("review", of="answers", item="answer-999")
    assert "This report is not there" in "\n".join(one.value for one in page.warning)


def test_whoever_reported_is_told_on_every_page_until_they_have_read_it(filled: Memory, run_id: str) -> None:
    local = filled.acting_as("local")
    local.feedback.wrong(run_id)
    assert "notice-read" not in keys(opened())
    key = filled.feedback.reports().items[0].key
    filled.acting_as("Ada", roles=("auditor",)).feedback.resolve(key, "The accounts say so.")
    page = opened()
    assert "Ada answered your report about" in words(page)
    page = page.button(key="notice-read").click().run()
    assert "notice-read" not in keys(page)
    assert local.notices.list() == ()


@pytest.fixture
def reply(filled: Memory) -> Reply:
    filled.facts.add("Lives in Lyon")
    with AgentClient(memory=filled) as agent:
        return agent.query("Where do I live?")


def test_a_reply_is_reported_below_it_and_waits_with_the_facts_it_was_given(filled: Memory, reply: Reply) -> None:
    key = f"feedback-{reply.run_id}"
    page = opened("conversations", session=reply.session_id)
    assert "Is the last reply right?" in words(page)
    page.session_state[f"{key}-wrong"] = True
    page.run()
    page.text_area(key=f"{key}-why").input("I moved to Bern.")
    page = page.button(key=f"{key}-send").click().run()
    assert "You reported that this answer is wrong." in words(page)
    queue = words(opened("review", of="answers"))
    assert "Where do I live?" in queue and reply.text in queue and "Lives in Lyon" in queue


def test_the_correction_of_a_fact_that_a_reply_was_given_is_offered_first(filled: Memory, reply: Reply) -> None:
    filled.acting_as("Vi").feedback.wrong(reply.run_id)
    mended = filled.facts.correct(filled.facts.list()[0].id, "Lives in Bern")
    filled.facts.add("Plays the harp")
    key = filled.feedback.reports().items[0].key
    assert filled.feedback.mending(key)[0].action_id == mended.action_id


def test_a_message_that_no_run_made_is_not_judged(filled: Memory) -> None:
    filled.sessions.append("talk", [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}])
    assert "right?" not in words(opened("conversations", session="talk"))


def keys(page: AppTest) -> set[str]:
    return {str(button.key) for button in page.button}
