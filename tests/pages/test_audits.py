"""Audits and disagreements in the app, and the board of who looks at what."""

from __future__ import annotations

from app_pages import opened, words
from memoir_engine import Memory


def test_a_plan_is_drawn_by_the_form_and_opened(filled: Memory) -> None:
    page = opened("review", of="audits")
    assert "No sample has been drawn yet" in words(page)
    page.segmented_control(key="plan-method").set_value("risk").run()
    page = page.button(key="plan-draw").click().run()
    (plan,) = filled.review.sampling_plans()
    assert (plan.method, plan.by) == ("risk", "local")
    assert page.query_params["plan"] == str(plan.number)
    assert "Riskiest third" in page.dataframe[0].value["Part"].tolist()


def test_a_withdrawn_plan_is_said_to_be_gone(filled: Memory) -> None:
    plan = filled.review.draw_sample(size=1)
    filled.review.undo(plan.action_id)
    assert "was withdrawn" in opened("review", of="audits", plan=plan.number).warning[0].value


def test_a_sample_is_signed_on_the_page_once_it_is_judged(filled: Memory) -> None:
    plan = filled.review.draw_sample(size=1).number
    key = f"sign-plan-{plan}"
    assert "A sample is signed once all of it is judged." in words(opened("review", of="audits", plan=plan))
    filled.review.approve(filled.review.sampled(plan).items[0].key)
    page = opened("review", of="audits", plan=plan)
    page.text_area(key=f"{key}-words").input("I have read it.")
    page.button(key=f"{key}-go").click().run()
    assert filled.review.sign_offs(plan=plan)[0].statement == "I have read it."


def test_the_last_to_decide_cannot_settle_and_the_other_does(filled: Memory) -> None:
    key = filled.review.queue().items[0].key
    filled.acting_as("Ada", roles=("auditor",)).review.approve(key)
    done = filled.review.reject(key)
    page = opened("review", of="disagreements")
    assert "What you decided is in force." in words(page)
    filled.review.undo(done.action_id)
    assert "Nobody disagrees" in words(opened("review", of="disagreements"))
