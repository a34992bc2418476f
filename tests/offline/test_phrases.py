from __future__ import annotations

import pytest

from memoir_offline.phrases import phrases

TEXT = """The tax policy of the council changed quickly. Members of the council read the tax policy twice, and Maria Brandlow
said that the tax policy would help. In January the council met HTTPS engineers in 3 rooms."""


def names(text: str, **options) -> list[str]:
    return [found.name for found in phrases(text, **options)]


def test_the_phrase_said_most_comes_first_as_a_reader_would_write_it():
    assert names(TEXT)[0] == "Tax policy"


@pytest.mark.parametrize("word", ["Quickly", "January", "The", "Would", "Twice", "3"])
def test_adverbs_months_numbers_and_function_words_are_no_names(word):
    assert word not in names(TEXT)


def test_a_word_always_with_a_capital_is_marked_as_a_name():
    assert [found.proper for found in phrases(TEXT) if found.name == "Maria Brandlow"] in ([True], [])
    assert not next(found for found in phrases(TEXT) if found.name == "Tax policy").proper


def test_favoured_words_come_forward():
    text = "The lantern stands near the kettle. The kettle stands near the lantern."
    assert names(text, favoured={"kettl"})[0] == "Kettle"
    assert names(text, favoured={"lantern"})[0] == "Lantern"


def test_singular_and_plural_are_one_phrase():
    found = names("A bridge and the bridges. The bridge of the bridges.")
    assert found == ["Bridge"]


def test_japanese_gives_runs_of_characters():
    assert names("東京の野球選手は野球選手と話した。")[0] == "野球選手"


@pytest.mark.parametrize("word", ["年金", "時計", "分子", "月面", "日程"])
def test_a_word_that_begins_with_a_sign_of_time_is_a_word(word):
    assert names(f"{word}は店で修理してもらう。{word}の話をした。")[0] == word


@pytest.mark.parametrize("text", ["", "   ", "!!! ???", "42"], ids=repr)
def test_nothing_gives_nothing(text):
    assert phrases(text) == []
