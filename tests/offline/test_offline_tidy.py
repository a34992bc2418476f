from __future__ import annotations

import pytest

from memoir_engine.prompts.tidy import NearSibling, TidyAnswer, TidyItem, TidyRequest, build, parse
from memoir_offline.tidy import answer


def proposed(*items: TidyItem, level: int = 3) -> TidyAnswer:
    request = TidyRequest(level, 3, ("Home",), items)
    prompt = build(request)
    said = answer(prompt.text, prompt.schema.model_json_schema())
    prompt.schema.model_validate(said)
    assert answer(prompt.text, prompt.schema.model_json_schema()) == said
    return parse(said, request)


def test_a_thin_leaf_joins_the_sibling_whose_words_are_nearest_under_the_name_of_the_larger() -> None:
    found = proposed(
        TidyItem(1, "Bread", 6, (), ("oven", "dough"), (NearSibling(2, 0.2, ("baking", "bread", "really")),)),
        TidyItem(
            2,
            "Rolls",
            1,
            (),
            ("oven", "tray"),
            (NearSibling(1, 0.2, ("baking", "bread", "really")), NearSibling(3, 0.06, ("tray",))),
        ),
        TidyItem(3, "Garden", 5, (), ("beds",), (NearSibling(2, 0.06, ("tray",)),)),
    )
    assert [(merge.ids, merge.name, merge.why) for merge in found.merges] == [
        ((1, 2), "Bread", "Both speak of bread and baking; Rolls holds one text.")
    ]


def test_of_two_thin_ones_the_name_stays_that_says_what_they_share() -> None:
    shared = NearSibling(2, 0.2, ("irrigation", "water"))
    found = proposed(
        TidyItem(1, "Crops", 1, (), (), (shared,)), TidyItem(2, "Water", 1, (), (), (NearSibling(1, 0.2, shared.words),))
    )
    assert [(merge.name, merge.why) for merge in found.merges] == [
        ("Water", "Both speak of water and irrigation; each holds one text.")
    ]


@pytest.mark.parametrize(
    "words",
    [(), ("irrigation",), ("really", "looks", "moments"), ("recipe", "pottery")],
    ids=["no words", "one word", "words of no subject", "words that neither name says"],
)
def test_what_shares_no_subject_that_one_of_them_names_stays_for_itself(words: tuple[str, ...]) -> None:
    near = (
        TidyItem(1, "Crops", 1, (), (), (NearSibling(2, 0.3, words),)),
        TidyItem(2, "Water", 1, (), (), (NearSibling(1, 0.3, words),)),
    )
    assert proposed(*near).merges == ()


def test_a_large_category_is_not_called_by_a_small_one() -> None:
    words = ("beach", "painting", "holiday")
    large = TidyItem(1, "Feelings", 22, (), (), (NearSibling(2, 0.3, words),))
    assert proposed(large, TidyItem(2, "Beach", 1, (), (), (NearSibling(1, 0.3, words),))).merges == ()


def test_a_thin_leaf_without_a_word_in_common_stays() -> None:
    assert proposed(TidyItem(1, "Bread", 6), TidyItem(2, "Stars", 1)).merges == ()


def test_two_names_of_one_meaning_become_one_however_much_they_hold() -> None:
    found = proposed(
        TidyItem(1, "Taxes", 6, (), ("income",), (NearSibling(2, 0.1),)),
        TidyItem(2, "Taxes and dues", 4, (), ("income",), (NearSibling(1, 0.1),)),
    )
    assert [merge.ids for merge in found.merges] == [(1, 2)]


def test_a_broad_category_with_one_child_stays_where_it_holds_something() -> None:
    found = proposed(
        TidyItem(1, "Music", 4, ("Songs",), (), (NearSibling(2, 0.2),)),
        TidyItem(2, "Community", 17, ("Clubs",), (), (NearSibling(1, 0.2),)),
        level=1,
    )
    assert found.merges == ()


def test_nothing_is_renamed_by_words_alone() -> None:
    assert proposed(TidyItem(1, "Bread", 1), TidyItem(2, "Bread rolls", 1, (), (), (NearSibling(1, 0.4),))).renames == ()


def test_a_thin_field_of_level_1_stays_for_itself() -> None:
    words = ("work", "environment", "office")
    found = proposed(
        TidyItem(1, "Work", 1, ("Pay",), (), (NearSibling(2, 0.2, words),)),
        TidyItem(2, "Environment", 9, ("Lakes",), (), (NearSibling(1, 0.2, words),)),
        level=1,
    )
    assert found.merges == ()
