"""Synonymous new names of one wave become one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from memoir_engine.ingest.filing import ProposedName, settle
from memoir_engine.prompts import Prompt, classify
from memoir_engine.text.terms import Terms, terms

OPTIONS = classify.LevelOptions(level=2, depth=3, path=("Food",), names=("Soup", "Road works"), room=9)
BREAD = terms("The baker kneads dough, proves the loaf and bakes bread with yeast in a hot oven.")
BAKING = terms("Bread dough with yeast is kneaded by the baker; a loaf proves before the hot oven.")
TAXES = terms("An income declaration lists wages, deductions and dues for the revenue office.")


@dataclass
class Reply:
    data: Any
    call_id: int = 7
    latency_ms: float = 1.0


def settled(
    names: dict[str, list[Terms]], *replies: dict[str, str], one_reply: bool = False, near: dict[str, float] | None = None
) -> tuple[dict[str, str], list[classify.SettleRequest]]:
    asked: list[classify.SettleRequest] = []
    waiting = list(replies)

    async def ask(built: Prompt, *, reuse: bool = True) -> Reply:
        asked.append(classify.read_settle(built.text))
        return Reply({"names": [{"name": name, "stands_for_it": other} for name, other in waiting.pop(0).items()]})

    proposed = [
        ProposedName(name, text, 1 if one_reply else call, near or {})
        for call, (name, texts) in enumerate(names.items())
        for text in texts
    ]
    return asyncio.run(settle(proposed, OPTIONS, ask, lambda name: classify.NewName(name, 5, ("broth",)))), asked


def test_names_with_close_texts_are_settled_by_one_call():
    same, asked = settled({"Bread": [BREAD], "Baking": [BAKING], "Taxes": [TAXES]}, {"Bread": "Baking", "Baking": "Baking"})
    assert [same.get(name, name) for name in ("Bread", "Baking", "Taxes")] == ["Baking", "Baking", "Taxes"]
    assert [(close.level, close.path, [new.name for new in close.names]) for close in asked] == [
        (2, ("Food",), ["Bread", "Baking"])
    ]


def test_names_with_texts_far_apart_are_not_asked_about():
    same, asked = settled({"Bread": [BREAD], "Taxes": [TAXES]})
    assert asked == []
    assert [same.get(name, name) for name in ("Bread", "Taxes")] == ["Bread", "Taxes"]


def test_spellings_of_one_name_are_one_without_a_call():
    same, asked = settled({"Bread": [BREAD], "bread": [BREAD], "ＢＲＥＡＤ": [BREAD]})
    assert asked == []
    assert set(same.values()) == {"Bread"}


def test_a_spelling_goes_where_its_name_goes():
    same, _ = settled({"Bread": [BREAD], "BREAD": [BREAD], "Baking": [BAKING]}, {"Bread": "Baking", "Baking": "Baking"})
    assert same["BREAD"] == "Baking"


def test_the_model_is_shown_what_the_names_stand_for():
    _, asked = settled({"Bread": [BREAD, BREAD], "Baking": [BAKING]}, {"Bread": "Bread", "Baking": "Baking"})
    shown = asked[0].names[0]
    assert shown.chunks == 2
    assert "dough" in shown.terms or "bread" in shown.terms


def test_names_that_one_reply_told_apart_are_not_asked_about():
    _, asked = settled({"Bread": [BREAD], "Baking": [BAKING]}, one_reply=True)
    assert asked == []


def test_a_new_name_that_says_an_existing_one_is_asked_about_beside_it():
    same, asked = settled({"Soups": [BREAD], "Taxes": [TAXES]}, {"Soups": "Soup"})
    assert [(close.names[0].name, close.existing) for close in asked] == [("Soups", (classify.NewName("Soup", 5, ("broth",)),))]
    assert same["Soups"] == "Soup"


def test_half_a_name_in_common_is_a_reason_to_ask_only_where_the_texts_are_near_too():
    _, far = settled({"Road taxes": [TAXES]})
    _, near = settled({"Road taxes": [TAXES]}, {}, near={"Road works": 0.2})
    assert far == []
    assert [close.existing[0].name for close in near] == ["Road works"]


def test_the_model_is_told_how_many_names_may_stay_where_not_all_may():
    _, asked = settled({"Soups": [BREAD], "Bread": [BREAD], "Baking": [BAKING]}, {})
    assert [close.room for close in asked] == [classify.AMPLE]
