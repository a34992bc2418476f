"""Branches from the decision path, and two runs side by side."""

from __future__ import annotations

import pytest

from app_pages import component, ended, opened, words
from memoir_engine import Memory, QueryResult

QUESTION = "What did the harbour festival earn?"


@pytest.fixture
def answered(filled: Memory) -> QueryResult:
    return filled.query(QUESTION, strategy="one_shot").raise_for_error()


@pytest.fixture
def branch(filled: Memory, answered: QueryResult) -> QueryResult:
    first = answered.decisions[0]
    other = next(option.category_id for option in first.options if option.category_id not in first.chosen)
    return filled.what_if(answered.run_id, first.id, [other]).raise_for_error()


def test_a_branch_says_what_was_taken_and_leads_to_both_side_by_side(filled: Memory, answered: QueryResult, branch: QueryResult):
    taken = next(o.name for o in branch.decisions[0].options if o.category_id in branch.decisions[0].chosen)
    page = opened("ask", run=branch.run_id)
    assert f"at level 1, {taken} was chosen instead" in words(page)
    page.button(key="beside-original").click().run()
    assert (page.query_params["run"], page.query_params["beside"]) == (answered.run_id, branch.run_id)
    assert "They differ from level 1" in words(page)


def test_both_answers_and_every_choice_stand_side_by_side(filled: Memory, answered: QueryResult, branch: QueryResult):
    page = opened("ask", run=answered.run_id, beside=branch.run_id)
    for result, side in ((answered, "First"), (branch, "Second")):
        assert component(page, f"beside-answer-{side}-{result.run_id}")["text"] == result.answer
    drawn = component(page, f"beside-{answered.run_id}-{branch.run_id}")
    first = drawn["columns"][0]["cards"][0]
    assert [(option["one"], option["other"], option["differs"]) for option in first["options"]] == [
        (1, None, True),
        (None, 1, True),
    ]
    counts = len(answered.chunks), len(branch.chunks)
    labels = ["Read by both (0)", f"Only in the first ({counts[0]})", f"Only in the second ({counts[1]})"]
    assert [tab.label for tab in page.tabs] == labels
    page.button(key="beside-swap").click().run()
    assert (page.query_params["run"], page.query_params["beside"]) == (branch.run_id, answered.run_id)
    page.button(key="beside-alone").click().run()
    assert "beside" not in page.query_params


def test_any_two_questions_may_be_laid_side_by_side(filled: Memory, answered: QueryResult):
    other = filled.query("Who keeps the accounts?").raise_for_error()
    page = opened("ask", run=answered.run_id)
    page.selectbox(key=f"beside-with-{answered.run_id}").set_value(other.run_id).run()
    page.button(key="beside-go").click().run()
    assert page.query_params["beside"] == other.run_id
    assert "Different settings" in words(page)


def test_a_run_that_was_not_answered_says_so(filled: Memory, answered: QueryResult):
    lost = ended(filled, filled.start("query", question=" "))
    assert "has no answer" in words(opened("ask", run=answered.run_id, beside=lost.id))


def test_what_is_no_run_is_told(filled: Memory, answered: QueryResult):
    assert "E711" in words(opened("ask", run=answered.run_id, beside="nowhere"))
