from __future__ import annotations

from memoir_engine.text.terms import search_tokens


def test_a_search_sees_stems_and_numbers():
    assert search_tokens("The floods of 1953 rose to 1.60 m") == ["flood", "rose", "1953", "1", "60"]


def test_full_width_numbers_are_the_same_numbers():
    assert search_tokens("２０２４年")[-1] == "2024"
