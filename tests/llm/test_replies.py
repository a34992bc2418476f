"""Replies of real models: what is put right here, what is asked again, and what is said of the rest."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import BaseModel

from memoir_engine.models.output_mode import Undecodable, decode, refuses


class Word(BaseModel):
    word: str


class Item(BaseModel):
    id: int
    category: Literal["Art", "Music", "2024"]
    sure: bool
    share: float
    note: str | None


class Batch(BaseModel):
    chunks: list[Item]


ITEM = {"id": 1, "category": "Art", "sure": True, "share": 0.5, "note": None}


@pytest.mark.parametrize(
    "reply",
    [
        '{"word": "memoir"}',
        '```json\n{"word": "memoir"}\n```',
        'I fill {the form}, as {"id": 1} shows: {"word": "memoir"} {as told}.',
        'Given {"category": …} I answer\n{"word": "memoir"}',
        '<think>Maybe {"word": "other"}?</think>\n{"word": "memoir"}',
        '<thinking>\nlong\n</thinking> ```{"word": "memoir",}```',
        '{"word": "memoir",}',
        '{"word": "memoir", "extra": [1, 2, ],\n}',
        '{"response": {"word": "memoir"}}',
        '{"word": "memoir"}\nOnce more: {"word": "memoir"}',
    ],
)
def test_a_reply_with_one_reading_is_put_right(reply: str):
    assert decode(reply, Word)["word"] == "memoir"


def test_a_comma_or_a_bracket_inside_a_text_is_left_alone():
    assert decode('{"word": "a,] b,} \\" c,]",}', Word) == {"word": 'a,] b,} " c,]'}


def test_a_line_break_inside_a_text_is_taken_as_it_is():
    assert decode('{"word": "two\nlines"}', Word) == {"word": "two\nlines"}


@pytest.mark.parametrize(
    "item",
    [
        '{"id": "1", "category": " art", "sure": "True", "share": "0.5", "note": null}',
        '{"id": "1.0", "category": "ART", "sure": true, "share": 0.5, "note": null}',
    ],
)
def test_numbers_truth_values_and_names_are_read_as_the_schema_says(item: str):
    assert decode(f'{{"chunks": [{item}]}}', Batch) == {"chunks": [ITEM]}


def test_a_number_is_a_text_only_where_it_is_an_allowed_name():
    item = '{"id": 1, "category": 2024, "sure": true, "share": 0.5, "note": null}'
    assert decode(f'{{"chunks": [{item}]}}', Batch)["chunks"][0]["category"] == "2024"
    assert decode('{"word": 2024}', Word) == {"word": 2024}


@pytest.mark.parametrize("form", ["[{}]", '{{"chunks": {}}}', '{{"chunks": [{}]}}'])
def test_a_list_without_its_object_and_an_item_without_its_list_are_taken(form: str):
    item = '{"id": 1, "category": "Art", "sure": true, "share": 0.5, "note": null}'
    assert decode(form.format(item), Batch) == {"chunks": [ITEM]}


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "it is empty"),
        ("<think>only this</think>", "it is empty"),
        ("I would rather not", "it holds no JSON object"),
        ('{"word": "mem', "it is not JSON"),
        ('{"word": NaN}', "it is not JSON"),
        ('{"chunks": [{"id": 1, "category": "Art"}, {"id', "it is not JSON"),
        ('{"word": "a"} or {"word": "b"}', "it holds more than one JSON value"),
        ("{" * 100_000, "it is not JSON|no JSON object"),
        ('{"a":' * 20_000, "it is not JSON"),
        ('{"' * 50_000, "it is not JSON"),
    ],
)
def test_what_has_no_single_reading_is_refused(reply: str, problem: str):
    with pytest.raises(Undecodable, match=problem):
        decode(reply, Word)


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot assist with this request.",
        "<think>hm</think>I’m unable to do that",
        "As an AI, I do not",
        "Es tut mir leid, dabei kann ich nicht helfen.",
        "申し訳ありませんが、お答えできません。",
    ],
)
def test_a_refusal_in_words_is_known_as_one(reply: str):
    assert refuses(reply)


@pytest.mark.parametrize("reply", ['{"word": "I cannot"}', "Here you are", 'Sorry, here it is: {"word": "x"}'])
def test_what_is_no_refusal_is_not_taken_for_one(reply: str):
    assert not refuses(reply)
