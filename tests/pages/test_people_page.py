"""The People page: who there is, one person's data, and its erasure after a look at the effect."""

from __future__ import annotations

import pytest

from app_pages import numbers, opened, table, words
from memoir_engine import Memory


@pytest.fixture
def known(memory: Memory) -> Memory:
    """Open the app's memory with two people of whom something is kept."""
    memory.remember([{"role": "user", "content": "I live in Bern and I work as a baker."}], user_id="ana", session_id="a-1")
    memory.remember([{"role": "user", "content": "I live in Rome."}], user_id="ben", session_id="b-1")
    return memory


def test_an_empty_memory_says_how_people_come_in(memory: Memory) -> None:
    page = opened("people")
    assert "No personal data is stored" in words(page)
    assert page.button(key="people-import").label == "Import a conversation"


def test_everybody_is_listed_with_how_much_is_kept(known: Memory) -> None:
    listed = table(opened("people"), "Person")
    assert list(listed["Person"]) == ["ana", "ben"]
    assert list(listed["Facts"]) == [2, 1]


def test_a_person_has_an_address_and_shows_facts_and_conversations(known: Memory) -> None:
    page = opened("people", user="ana")
    assert (numbers(page)["Facts"], numbers(page)["Conversations"]) == ("2", "1")
    assert any("Bern" in fact for fact in table(page, "Fact")["Fact"])
    assert list(table(page, "Conversation")["Conversation"]) == ["a-1"]


def test_who_is_unknown_is_said_to_be_and_no_more(known: Memory) -> None:
    page = opened("people", user="zoe")
    assert "zoe" in words(page)
    assert not page.dataframe


def test_the_panel_says_what_goes_and_what_remains_and_asks_for_a_reason_and_the_name(known: Memory) -> None:
    page = opened("people", user="ana", erase=1)
    assert "This cannot be undone" in words(page)
    assert "Erasure records: " in words(page) and "without a word" in words(page)
    page.text_input(key="people-word").set_value("ben")
    page.text_input(key="people-why").set_value("she asked for it")
    page.button(key="people-go").click().run()
    assert "Nothing was erased" in words(page)
    assert known.people.get("ana").facts == 2


def test_a_person_is_erased_and_is_no_longer_listed(known: Memory) -> None:
    page = opened("people", user="ana")
    page.button(key="people-erase").click().run()
    page.text_input(key="people-word").set_value("ana")
    page.text_input(key="people-why").set_value("she asked for it")
    page.button(key="people-go").click().run()
    assert "All data about ana was erased" in words(page)
    assert [person.user_id for person in known.people.list()] == ["ben"]
    assert known.audit.verify().ok
