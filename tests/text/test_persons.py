"""What somebody says of themselves, said about them."""

from __future__ import annotations

import pytest

from memoir_engine.text.persons import about_them


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I live in a small flat with my cat Biscuit.", "Lives in a small flat with their cat Biscuit"),
        ("I'm allergic to hazelnuts", "Is allergic to hazelnuts"),
        ("And I sing alto on Thursdays.", "Sings alto on Thursdays"),
        ("I've been there", "Has been there"),
        ("I'd love to visit", "Would love to visit"),
        ("I'd been there before", "Had been there before"),
        ("I don't eat meat.", "Does not eat meat"),
        ("I can't swim", "Cannot swim"),
        ("I never eat fish", "Never eats fish"),
        ("I study law", "Studies law"),
        ("I no longer like pizza", "No longer likes pizza"),
        ("No longer likes pizza", "No longer likes pizza"),
        ("Yeah, I painted that lake last year!", "Painted that lake last year"),
        ("Big news! I moved last weekend.", "Moved last weekend"),
        ("My sister lives in Canada", "Sister lives in Canada"),
        ("The group made me feel accepted and I was happy", "The group made them feel accepted and they were happy"),
        ("Gonna look for a job", "Going to look for a job"),
        ("Oslo is cold in winter", "Oslo is cold in winter"),
        ("Romania during World War I", "Romania during World War I"),
        ("I previously worked at Globex.", "Previously worked at Globex"),
        ("I seldom eat meat at home.", "Seldom eats meat at home"),
        ("I deeply love my garden.", "Deeply loves their garden"),
        ("I rely on my car", "Relies on their car"),
        ("Me and my wife Sue run a bakery.", "They and their wife Sue run a bakery"),
        ("i live in paris and i love it", "Lives in paris and they love it"),
        ("", ""),
    ],
)
def test_the_speaker_becomes_somebody_spoken_of(said: str, told: str) -> None:
    assert about_them(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "Vivo en Madrid y me gusta el fútbol",
        "Me llamo Carlos y trabajo en un banco",
        "Eu moro em Lisboa e me chamo Ana",
        "Mon frère me manque beaucoup ici à Lyon",
        "Ich wohne in Berlin und mag Tee",
        "私は東京に住んでいます",
    ],
)
def test_another_language_is_left_as_it_stands(said: str) -> None:
    assert about_them(said) == said


def test_names_of_another_language_make_no_sentence_of_it() -> None:
    assert about_them("I love El Camino de Santiago") == "Loves El Camino de Santiago"
    assert about_them("My brother gave me la Tour tickets") == "Brother gave them la Tour tickets"
