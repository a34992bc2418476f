from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir_engine.text.terms import stem, terms, tokens, words


def test_words_are_folded_stemmed_and_counted():
    assert Counter(tokens("Taxes rose. The tax on TAXES rose again.")) == {"tax": 3, "rose": 2}
    assert terms("Taxes rose. TAXES: tax!").counts == {"tax": 3, "rose": 1}


def test_each_stem_keeps_its_commonest_surface_form():
    assert terms("policies policy policies").surfaces == {"polici": "policies"}


def test_a_tie_between_surface_forms_goes_to_the_shorter():
    assert terms("policies policy").surfaces == {"polici": "policy"}


@pytest.mark.parametrize("text", ["42 1999", "x", "a" * 50], ids=["numbers", "letter", "key"])
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
def test_counts_are_those_of_the_tokens_but_hiragana_and_the_function_words_of_short_texts(text):
    found, counted = terms(text), Counter(tokens(text))
    assert found.counts.keys() == found.surfaces.keys()
    assert all(found.counts.get(stem, 0) in (count, 0) for stem, count in counted.items())


def test_a_short_text_keeps_its_function_words_and_a_long_one_does_not():
    assert set(terms("what is up").counts) == {"what", "is", "up"}
    long = terms("What is up in the harbour: ferries, cranes, pilots, anchors, tides and nets.")
    assert "what" not in long.counts
    assert tokens("what is up") == []


def test_hiragana_alone_count_only_where_there_is_nothing_else():
    assert set(terms("東京の夏は").counts) == {"東", "京", "夏", "東京", "京の", "の夏", "夏は"}
    assert "これ" in terms("これは").counts


@given(st.text(alphabet=st.one_of(st.characters(max_codepoint=127), st.characters()), max_size=80))
def test_signs_beside_a_text_change_none_of_its_words(text):
    assert words(f"{text} \u56f3\u66f8") == [*words(text), "\u56f3\u66f8"]
