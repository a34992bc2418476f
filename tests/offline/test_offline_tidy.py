from __future__ import annotations

from memoir_engine.prompts.tidy import TidyAnswer, TidyItem, TidyRequest, build, parse
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
        TidyItem(1, "Bread", 6, (), ("oven", "dough"), ((2, 0.2),)),
        TidyItem(2, "Rolls", 1, (), ("oven", "tray"), ((1, 0.2), (3, 0.06))),
        TidyItem(3, "Garden", 5, (), ("beds",), ((2, 0.06),)),
    )
    assert [(merge.ids, merge.name, merge.why) for merge in found.merges] == [((1, 2), "Bread", "They speak of oven.")]


def test_a_thin_leaf_without_a_word_in_common_stays() -> None:
    assert proposed(TidyItem(1, "Bread", 6), TidyItem(2, "Stars", 1)).merges == ()


def test_two_names_of_one_meaning_become_one_however_much_they_hold() -> None:
    found = proposed(
        TidyItem(1, "Taxes", 6, (), ("income",), ((2, 0.1),)), TidyItem(2, "Taxes and dues", 4, (), ("income",), ((1, 0.1),))
    )
    assert [merge.ids for merge in found.merges] == [(1, 2)]


def test_a_broad_category_with_one_child_stays_where_it_holds_something() -> None:
    found = proposed(
        TidyItem(1, "Music", 4, ("Songs",), (), ((2, 0.2),)), TidyItem(2, "Community", 17, ("Clubs",), (), ((1, 0.2),)), level=1
    )
    assert found.merges == ()


def test_nothing_is_renamed_by_words_alone() -> None:
    assert proposed(TidyItem(1, "Bread", 1), TidyItem(2, "Bread rolls", 1, (), (), ((1, 0.4),))).renames == ()


def test_a_thin_field_of_level_1_stays_for_itself() -> None:
    found = proposed(
        TidyItem(1, "Work", 1, ("Pay",), (), ((2, 0.2),)), TidyItem(2, "Environment", 9, ("Lakes",), (), ((1, 0.2),)), level=1
    )
    assert found.merges == ()
