from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir_engine.text.spans import Support, support
from memoir_engine.text.terms import search_tokens

CHUNK = (
    "# Hours\n\nThe library opens at\nnine on weekdays. It closes at five in winter. "
    "Dogs wait outside. The café sells tea in 3 rooms."
)


def quoted(statement: str) -> list[str]:
    return [CHUNK[start:end] for start, end in support(statement, CHUNK, tokenise=search_tokens).spans]


def test_a_verbatim_statement_is_supported_by_that_very_span():
    assert quoted("The library opens at nine on weekdays. [1]") == ["The library opens at\nnine on weekdays."]
    assert support("It closes at five in winter", CHUNK, tokenise=search_tokens).share == 1.0


def test_another_wording_is_supported_by_the_sentence_that_shares_most_words():
    assert quoted("In winter the building closes already at five [1].") == ["It closes at five in winter."]


def test_a_statement_over_two_sentences_is_supported_by_both_in_order():
    assert quoted("Tea is sold in the café, and on weekdays the library opens at nine.") == [
        "The library opens at\nnine on weekdays.",
        "The café sells tea in 3 rooms.",
    ]


def test_a_number_alone_can_support():
    assert quoted("There are 3.") == ["The café sells tea in 3 rooms."]


@pytest.mark.parametrize("statement", ["Zebras graze.", "", "[1]"], ids=["other words", "empty", "mark only"])
def test_no_shared_word_is_no_support(statement):
    assert support(statement, CHUNK, tokenise=search_tokens) == Support((), 0.0)


def test_words_are_not_found_inside_other_words():
    assert support("art", "a party", tokenise=search_tokens) == Support((), 0.0)


@given(st.text(alphabet="abc .\n[1]"), st.text(alphabet="abc .\n[1]"))
def test_spans_lie_in_the_chunk_in_order_and_apart(statement, chunk):
    found = support(statement, chunk, tokenise=str.split)
    edges = [edge for span in found.spans for edge in span]
    assert edges == sorted(edges) and all(0 <= edge <= len(chunk) for edge in edges)
    assert 0 <= found.share <= 1
