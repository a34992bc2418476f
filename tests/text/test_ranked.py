from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoir_engine.text.terms import GRAMMAR, STOP, rank_tokens, tokens


def test_a_ranking_sees_all_words_but_those_of_grammar():
    assert rank_tokens("The first flood of 1953 was made to last") == ["first", "flood", "1953", "made", "last"]


def test_a_number_is_found_as_it_is_written():
    assert rank_tokens("２０２４年, 7 rooms") == ["2024", "年", "7", "room"]


@given(st.text(st.characters(), max_size=80))
def test_it_sees_whatever_statistics_see(text: str):
    assert set(tokens(text)) <= set(rank_tokens(text))


def test_words_of_grammar_say_nothing_to_statistics_either():
    assert GRAMMAR <= STOP
