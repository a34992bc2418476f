"""Ownership of facts by speaker, through the memory itself, without a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoir_engine import Memory, read_transcript
from memoir_engine.text.transcripts import is_label_of


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Memory]:
    with Memory(db_path=tmp_path / "facts.db", data_dir=tmp_path / "data", model="offline") as memory:
        yield memory


def pasted(text: str) -> list[dict[str, Any]]:
    return [{"role": one.role, "name": one.name, "content": one.text} for one in read_transcript(text)]


@pytest.mark.req("TIMEM consolidation.2")
def test_a_person_is_one_subject_whatever_label_stands_before_what_they_say(plain: Memory) -> None:
    user = "mia@example.org"
    plain.remember(pasted("User: I live in Berlin.\nAssistant: Nice."), user_id=user)
    plain.remember(pasted("Mia: I moved to Paris.\nAssistant: Nice."), user_id=user)
    plain.remember([{"role": "user", "content": "I moved to Rome."}], user_id=user)

    assert {one.subject for one in plain.facts.list(user)} == {user}
    assert [one.content for one in plain.facts.list(user, "active")] == ["Moved to Rome"]


@pytest.mark.parametrize(("label", "person"), [("Human", "x"), ("ME", "x"), ("mia", "Mia@example.org"), ("Ana ", "ana")])
def test_such_labels_are_of_the_person(label: str, person: str) -> None:
    assert is_label_of(person, label)


@pytest.mark.parametrize(
    ("label", "person"), [("Mia", "mia.smith"), ("Ben", "ana"), ("example.org", "mia@example.org"), ("", "a")]
)
def test_names_of_others_stay_theirs(label: str, person: str) -> None:
    assert not is_label_of(person, label)


@pytest.mark.req("CHUNK 2.1")
def test_what_a_tool_says_needs_no_call_and_is_nobodys_fact(plain: Memory) -> None:
    messages = [
        {"role": "user", "content": "I live in Lyon with my sister."},
        {"role": "tool", "content": "I live in a server room in Oslo."},
    ]
    plain.remember(messages, user_id="ana")

    assert [one.content for one in plain.facts.list("ana")] == ["Lives in Lyon with their sister"]
