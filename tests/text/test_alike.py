"""Equality of two statements in meaning."""

from __future__ import annotations

import pytest

from memoir_engine.text.attributes import is_same


@pytest.mark.req("CHUNK 8.2")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Is 30 years old", "Is 31 years old"),
        ("妹は25歳です。", "妹は26歳です。"),
        ("会議は3月5日です。", "会議は3月6日です。"),
        ("我有2只猫。", "我有3只猫。"),
        ("나는 2마리 개가 있다", "나는 3마리 개가 있다"),
        ("Owns 3 cats and 2 dogs", "Owns 3 cats and 3 dogs"),
    ],
)
def test_statements_that_differ_in_a_number_are_two(one: str, other: str):
    assert not is_same(one, other)


@pytest.mark.req("CHUNK 8.2")
@pytest.mark.parametrize(
    ("one", "other"), [("Lives in Lyon", "lives in Lyon."), ("妹は２５歳です", "妹は25歳です。"), ("Owns 2 cats", "Owns 2 cats!")]
)
def test_ways_to_write_one_statement_are_one(one: str, other: str):
    assert is_same(one, other)


@pytest.mark.req("CHUNK 8.2")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Is a member of the club", "Was a member of the club"),
        ("Does yoga", "Did yoga"),
        ("Has a dog", "Had a dog"),
        ("Is allergic to nuts", "Might be allergic to nuts"),
        ("Takes vitamin D each and every single morning", "Takes vitamin each and every single morning"),
    ],
)
def test_what_holds_at_another_time_or_differs_in_a_letter_is_another(one: str, other: str):
    assert not is_same(one, other)
