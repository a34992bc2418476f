"""The contextual helper on a source's page: versions, differences, editing, regenerating, undo."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from app_pages import component, ended, opened, table, words
from memoir_engine import Helper, Memory

OWN = "Minutes of a harbour festival."


def helper_tab(source_id: int = 2) -> AppTest:
    page = opened("sources", src=source_id)
    page.session_state[f"src-tabs-{source_id}"] = "Description of the source"
    return page.run()


def current(memory: Memory) -> Helper:
    helper = memory.helpers.current(2)
    assert helper is not None
    return helper


def test_every_version_is_listed_with_its_origin_time_and_tokens(filled: Memory):
    filled.helpers.set(2, OWN)
    shown = table(helper_tab(), "Active")
    assert list(shown["Version"]) == [2, 1]
    assert list(shown["Active"]) == [True, False]
    assert list(shown["Written by"]) == ["written by a person", "written by the model"]
    assert list(shown["Tokens"]) == [one.tokens for one in filled.helpers.history(2)]


@pytest.mark.req("MEMOIR 2B.8")
def test_a_person_writes_one_with_a_reason_and_it_is_in_force(filled: Memory):
    page = helper_tab()
    page.button(key="helper-write").click().run()
    page.text_area(key="own-text-2").set_value(OWN)
    page.text_input(key="own-reason-2").set_value("it was wrong")
    page.button(key="own-save").click().run()
    assert not page.error
    assert (current(filled).text, current(filled).origin) == (OWN, "user")
    assert filled.audit.actions(limit=1)[0].reason == "it was wrong"
    assert [block["text"] for block in component(page, "helper-text-2")["blocks"]] == [OWN]


def test_the_difference_of_two_versions_is_shown_word_by_word_beside_both_texts(filled: Memory):
    first = current(filled).text
    filled.helpers.set(2, first.replace("festival", "regatta") + " So it was.")
    page = helper_tab()
    block = component(page, "difference-2-1-2")["blocks"][0]
    marked = {kind: block["text"][start:end] for start, end, kind in block["marks"]}
    assert "festival" in marked["removed"]
    assert "So it was." in marked["added"]
    assert " ".join(first.split()) == " ".join(without(block, "added").split())
    shown = {component(page, key)["blocks"][0]["text"] for key in ("before-2-1", "after-2-2")}
    assert shown == {first, filled.helpers.history(2)[0].text}


def without(block: dict, kind: str) -> str:
    """Return the block's text without the words of this kind."""
    text = block["text"]
    for start, end, marked in reversed(block["marks"]):
        if marked == kind:
            text = text[:start] + text[end:]
    return text


def test_a_helper_above_300_tokens_is_refused_with_what_to_do(filled: Memory):
    before = current(filled)
    page = helper_tab()
    page.button(key="helper-write").click().run()
    page.text_area(key="own-text-2").set_value("word " * 310)
    page.button(key="own-save").click().run()
    assert "310 of 300 tokens" in words(page)
    assert "Code E210" in page.error[0].value
    assert current(filled) == before


def test_the_last_change_is_taken_back_and_that_again(filled: Memory):
    before = current(filled).text
    filled.helpers.set(2, OWN, "it was wrong")
    page = helper_tab()
    assert "it was wrong" in words(page)
    page.button(key="helper-undo").click().run()
    assert current(filled).text == before
    page.button(key="helper-undo").click().run()
    assert current(filled).text == OWN


def test_a_helper_only_its_ingestion_made_has_nothing_to_take_back(filled: Memory):
    page = helper_tab()
    assert "helper-undo" not in [button.key for button in page.button]


@pytest.mark.req("MEMOIR 2B.9")
@pytest.mark.parametrize(("force", "origin"), [(False, "user"), (True, "generated")], ids=["kept", "forced"])
def test_regenerated_a_persons_stays_in_force_unless_somebody_says_otherwise(filled: Memory, force: bool, origin: str):
    filled.helpers.set(2, OWN)
    page = helper_tab()
    page.button(key="helper-regenerate").click().run()
    assert "It stays in use unless" in words(page)
    page.toggle(key="again-force-2").set_value(force)
    page.button(key="again-go").click().run()
    run = filled.jobs.list(verbs=("regenerate_helper",))[0]
    assert ended(filled, run.id).status == "done"
    assert len(filled.helpers.history(2)) == 3
    assert current(filled).origin == origin


def test_leaving_the_form_changes_nothing(filled: Memory):
    page = helper_tab()
    page.button(key="helper-write").click().run()
    page.button(key="own-leave").click().run()
    page.button(key="helper-regenerate").click().run()
    page.button(key="again-leave").click().run()
    assert len(filled.helpers.history(2)) == 1


def test_a_replaced_source_cannot_get_another_helper(filled: Memory):
    filled.ingest_text("The harbour festival is off this year. " * 60, name="accounts.md", replaces=2).raise_for_error()
    assert "helper-write" not in [button.key for button in helper_tab().button]
