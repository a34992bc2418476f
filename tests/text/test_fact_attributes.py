"""Attributes named from the words of a statement: common ones in English and Japanese, none where no word says so."""

from __future__ import annotations

import pytest

from memoir_engine import fact_attribute


@pytest.mark.parametrize(
    ("statement", "attribute"),
    [
        ("Lives in Lyon with their sister Ada", "home"),
        ("Works as a cook at the harbour inn", "employer"),
        ("No longer works at the theatre", "employer"),
        ("Is vegetarian", "diet"),
        ("Is allergic to hazelnuts", "allergy"),
        ("Is engaged to Tom", "relationship"),
        ("Adopted a puppy called Rex", "pet"),
        ("Drinks four cups of coffee a day", "drinks"),
        ("Mia runs the tool library", "project"),
        ("Wants to get better organised this year", "goal"),
        ("東京に住んでいる", "home"),
        ("出版社に勤めている", "employer"),
        ("先週、病院を辞めた", "employer"),
        ("犬を飼っている", "pet"),
        ("英語を勉強している", "language"),
        ("そばアレルギーがある", "allergy"),
        ("Is afraid of the dark", None),
        ("", None),
    ],
)
def test_the_attribute_is_named_by_common_words(statement: str, attribute: str | None):
    assert fact_attribute(statement) == attribute
