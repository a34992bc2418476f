"""Wishes, irony, quotations and statements about strangers are no facts of the speaker; what stands beside them is."""

from __future__ import annotations

import pytest

from memoir_offline.rules.statements import LEAST_TOLD, statements


def contents(text: str) -> list[str]:
    return [statement.content for statement in statements(text, least=LEAST_TOLD)]


@pytest.mark.parametrize(
    "text",
    [
        "I wish I had a sailing boat.",
        "I wish we lived by the sea.",
        "If only I had bought that house.",
        "Oh sure, I love waiting in a queue for two hours.",
        "I'm basically the queen of punctuality.",
        "Next door have bought a hot tub.",
        "A woman at the station had three parrots.",
        "Some bloke on the bus has climbed Everest.",
        'Grandpa keeps shouting "I have seen the kraken in Trondheim harbour!"',
        "If I won the lottery, I would buy a vineyard.",
    ],
)
def test_what_is_not_so_is_no_fact(text: str) -> None:
    said = " ".join(contents(text)).casefold()

    words = ("boat", "sea", "house", "queue", "queen", "tub", "parrot", "everest", "kraken", "vineyard")
    assert [word for word in words if word in said] == []


def test_the_part_of_a_sentence_that_is_so_stays() -> None:
    assert contents("I'm a beekeeper, but if I had the money I would buy a vineyard.") == ["Is a beekeeper"]


def test_a_neighbour_who_does_something_with_the_speaker_counts() -> None:
    assert contents("My neighbour Ida teaches me the cello on Mondays.") != []


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I'm pescatarian.", "Is pescatarian"),
        ("I can't abide marzipan.", "Cannot abide marzipan"),
        ("We keep three hens.", "Keeps three hens"),
    ],
)
def test_a_short_statement_to_an_assistant_is_worth_remembering(text: str, content: str) -> None:
    assert contents(text) == [content]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Because of my knee I swim instead of running.", "Because of their knee they swim instead of running"),
        ("My favourite show is My Little Pony.", "Favourite show is My Little Pony"),
    ],
)
def test_a_sentence_stays_whole_and_a_name_keeps_its_my(text: str, content: str) -> None:
    assert contents(text) == [content]
