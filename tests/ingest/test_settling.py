"""Synonymous new names of one wave become one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from memoir_engine.ingest.filing import settle as filing_settle
from memoir_engine.prompts import Prompt, classify
from memoir_engine.text.terms import Terms, terms

OPTIONS = classify.LevelOptions(level=2, depth=3, path=("Food",), names=("Soup",), room=9)
BREAD = terms("The baker kneads dough, proves the loaf and bakes bread with yeast in a hot oven.")
BAKING = terms("Bread dough with yeast is kneaded by the baker; a loaf proves before the hot oven.")
TAXES = terms("An income declaration lists wages, deductions and dues for the revenue office.")


@dataclass
class Reply:
    data: Any
    call_id: int = 7
    latency_ms: float = 1.0


def settled(names: dict[str, list[Terms]], *replies: dict[str, str]) -> tuple[dict[str, str], list[classify.SettleRequest]]:
    asked: list[classify.SettleRequest] = []
    waiting = list(replies)

    async def ask(built: Prompt, *, reuse: bool = True) -> Reply:
        asked.append(classify.read_settle(built.text))
        return Reply({"names": [{"name": name, "stands_for_it": other} for name, other in waiting.pop(0).items()]})

    return asyncio.run(filing_settle(names, OPTIONS, ask)), asked


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
