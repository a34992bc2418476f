"""Positions of quoted words in a text."""

from __future__ import annotations

import pytest

from memoir_engine.text.spans import find_quote


@pytest.mark.req("CHUNK 7.3")
@pytest.mark.parametrize(
    ("quote", "text", "before"),
    [
        ("I live in Rome", "I live in Romeville. I live in Rome", "I live in Romeville. "),
        ("I like art", "I like artichokes and I like art.", "I like artichokes and "),
        ("art", "A cart of art", "A cart of "),
        ("I LIVE in rome", "I live  in Romeville. I live  in Rome", "I live  in Romeville. "),
        ("I live in Rome.", "I live in Romeville. I live in Rome", "I live in Romeville. "),
        ("I live in Rome", "I live in Romeville.", ""),
        ("年です", "去年です。今年です", "去"),
        ("東京に住んで", "東京に住んでいます。東京に住んで", ""),
        ("ฉันรัก", "ฉันรักแมว", ""),
        ("я живу в Риме", "я живу в Римену, я живу в Риме", "я живу в Римену, "),
    ],
)
def test_words_are_found_as_whole_words_where_they_stand_so(quote: str, text: str, before: str) -> None:
    found = find_quote(quote, text)
    assert found is not None and text[: found[0]] == before


def test_what_is_not_there_is_not_found() -> None:
    assert find_quote("I live in Oslo", "I live in Rome") is None
