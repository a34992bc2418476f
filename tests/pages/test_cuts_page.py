"""The Cuts page: one conversation, each strategy's cuts side by side."""

from __future__ import annotations

import pytest

from app_pages import component, opened, words
from memoir_engine import Memory

TALK = (
    "Ana: The roof leaks.\nBot: Since when?\nAna: Since Monday.\nBot: Call a roofer.\n"
    "Ana: By the way, what is for lunch?\nBot: Soup."
)


@pytest.fixture
def page(memory: Memory):
    return opened("cuts")


def test_the_sample_is_cut_by_each_strategy_side_by_side(page):
    drawn = component(page, "cuts-drawn")
    assert [lane["label"] for lane in drawn["lanes"]] == ["Sliding window", "Natural breaks", "Topic shifts"]
    assert all(len(lane["cuts"]) > 1 and not lane["fell"] for lane in drawn["lanes"])
    assert len(drawn["messages"]) == 44
    assert drawn["messages"][0]["who"] == "Nuria"
    assert "after a pause of 2 days" in {cut["reason"] for cut in drawn["lanes"][1]["cuts"]}
    assert "counted exactly" in words(page)
    assert "(6,553 tokens per part) it is read in one go" in words(page)


def test_a_strip_holds_the_whole_conversation_in_place(page):
    for lane in component(page, "cuts-drawn")["lanes"]:
        assert (lane["cuts"][0]["left"], lane["cuts"][0]["first"]) == (0.0, 0)
        assert lane["cuts"][-1]["left"] + lane["cuts"][-1]["width"] == pytest.approx(1.0)
        assert lane["cuts"][-1]["last"] == 43


def test_other_limits_cut_anew_and_stand_in_the_address(page):
    page.number_input[0].set_value(120).run()
    drawn = component(page, "cuts-drawn")
    assert page.query_params["most"] == "120"
    assert max(cut["tokens"] for lane in drawn["lanes"] for cut in lane["cuts"]) <= 120
    again = opened("cuts", most=120)
    assert component(again, "cuts-drawn") == drawn
    page.number_input(key="cuts-shared").set_value(0).run()
    assert {cut["overlap"] for cut in component(page, "cuts-drawn")["lanes"][0]["cuts"]} == {0}


def test_a_pasted_conversation_is_drawn_and_a_text_that_is_none_is_refused_kindly(page):
    page.get_by_key("cuts-from").set_value("Paste").run()
    assert "No conversation yet" in words(page)
    page.text_area(key="cuts-text").set_value(TALK).run()
    drawn = component(page, "cuts-drawn")
    assert [message["text"] for message in drawn["messages"]][4] == "By the way, what is for lunch?"
    page.text_area(key="cuts-text").set_value("Only a text.").run()
    assert "E802" in words(page)
    assert "a transcript with lines like" in words(page)


def test_limits_that_cannot_be_are_told_with_the_way_out(page):
    page.get_by_key("cuts-from").set_value("Paste").run()
    page.text_area(key="cuts-text").set_value("Ana: " + "word " * 400 + "\nBot: Fine.").run()
    drawn = component(page, "cuts-drawn")
    assert drawn["lanes"][0]["cuts"][0]["oversize"]
    assert "The message is longer than a cut may be" in words(page)


def test_a_conversation_kept_here_can_be_chosen_by_its_address(memory: Memory):
    for at, text in enumerate(["The roof leaks.", "Since when?", "Since Monday."]):
        memory.add_conversation("roof", "user" if at % 2 == 0 else "assistant", text)
    page = opened("cuts", session="roof")
    assert [message["text"] for message in component(page, "cuts-drawn")["messages"]] == [
        "The roof leaks.",
        "Since when?",
        "Since Monday.",
    ]
    assert page.selectbox(key="cuts-session").value == "roof"


def test_a_conversation_that_is_not_here_is_told(memory: Memory):
    assert "no conversation" in words(opened("cuts", session="nowhere")).lower()


def test_a_file_of_hostile_texts_is_data_for_the_component_and_never_markup(page):
    page.get_by_key("cuts-from").set_value("Paste").run()
    page.text_area(key="cuts-text").set_value("Ana: <script>alert(1)</script>\nBot: ![x](http://evil.example/x.png)").run()
    assert component(page, "cuts-drawn")["messages"][0]["text"] == "<script>alert(1)</script>"
    assert "evil" not in words(page)
