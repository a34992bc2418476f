from __future__ import annotations

from memoir_engine.prompts.classify import NewName, SettleRequest, build_settle, parse_settle
from memoir_offline.classify import settle_names


def settled(*names: NewName) -> dict[str, str]:
    close = SettleRequest(2, ("Economy",), names)
    prompt = build_settle(close)
    reply = settle_names(prompt.text, prompt.schema.model_json_schema())
    prompt.schema.model_validate(reply)
    assert sorted(item["name"] for item in reply["names"]) == sorted(item.name for item in names)
    return parse_settle(reply, close)


def test_singular_and_plural_are_one_and_the_commoner_stays():
    assert settled(NewName("Tax", 1), NewName("Taxes", 3)) == {"Tax": "Taxes", "Taxes": "Taxes"}


def test_a_name_within_another_is_one_where_the_texts_share_words():
    found = settled(NewName("Income tax", 2, ("tax", "income")), NewName("Tax", 1, ("tax", "levy")))
    assert found == {"Income tax": "Income tax", "Tax": "Income tax"}


def test_different_subjects_stay_apart():
    found = settled(NewName("Roads", 2, ("road", "asphalt")), NewName("Taxes", 1, ("tax", "levy")))
    assert found == {"Roads": "Roads", "Taxes": "Taxes"}


def test_names_with_the_same_key_terms_are_one():
    found = settled(NewName("Ovens", 1, ("bread", "dough")), NewName("Baking", 2, ("dough", "bread", "flour")))
    assert set(found.values()) == {"Baking"}
