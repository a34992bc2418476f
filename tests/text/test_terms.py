from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir_engine.text.terms import stem, terms, tokens


def test_words_are_folded_stemmed_and_counted():
    found = terms("Taxes rose. The tax on TAXES rose again.")
    assert found.counts == {"tax": 3, "rose": 2}


def test_each_stem_keeps_its_commonest_surface_form():
    assert terms("policies policy policies").surfaces == {"polici": "policies"}


def test_a_tie_between_surface_forms_goes_to_the_shorter():
    assert terms("policies policy").surfaces == {"polici": "policy"}


@pytest.mark.parametrize("text", ["the of and", "42 1999", "x", "a" * 50], ids=["function words", "numbers", "letter", "key"])
def test_what_carries_no_subject_is_left_out(text):
    assert terms(text).counts == {}


def test_japanese_gives_single_characters_and_pairs():
    assert tokens("東京都") == ["東", "京", "都", "東京", "京都"]


def test_wide_and_narrow_letters_are_the_same_word():
    assert tokens("Ｔａｘ") == tokens("tax")


def test_tokens_stand_in_the_order_of_the_text():
    assert tokens("Cats chase small mice") == ["cat", "chase", "small", "mice"]


def test_a_function_word_has_no_stem():
    assert (stem("Running"), stem("the")) == ("run", "")


@given(st.text())
def test_counts_are_those_of_the_tokens_whatever_the_text(text):
    found = terms(text)
    assert sum(found.counts.values()) == len(tokens(text))
    assert found.counts.keys() == found.surfaces.keys()
