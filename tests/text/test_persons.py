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
        ("", ""),
    ],
)
def test_the_speaker_becomes_somebody_spoken_of(said: str, told: str) -> None:
    assert about_them(said) == told
