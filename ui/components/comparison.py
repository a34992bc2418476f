"""Choices of two runs in one drawing: a column per level, a card per category, in it each option's rank in both runs.

Invariant: differences are shown by words and a mark, never by colour alone.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from memoir_engine import ComparedChoice, RunComparison
from ui import figures
from ui.components.scripts import read, script
from ui.wording import texts as wording
from ui.wording_comparison import texts as wording_comparison

MOST = 8  # options of a card that neither chose
_component = st.components.v2.component(
    "memoir_beside",
    html='<div class="beside" role="group"></div>\n',
    css=read("comparison.css"),
    js=script("comparison.js"),
)


def show(comparison: RunComparison, *, key: str) -> None:
    levels: dict[int, list[dict[str, Any]]] = {}
    for choice in comparison.choices:
        levels.setdefault(choice.level, []).append(_card(choice))
    columns = [{"title": wording.LEVEL.format(level=level), "cards": cards} for level, cards in levels.items()]
    _component(key=key, data={"columns": columns, "words": wording_comparison.WORDS})


def _card(choice: ComparedChoice) -> dict[str, Any]:
    chosen = [option for option in choice.options if option.one or option.other]
    passed = [option for option in choice.options if not (option.one or option.other)]
    shown = [*chosen, *passed[:MOST]]
    return {
        "name": choice.parent_path[-1] if choice.parent_path else wording.ROOT,
        "title": figures.path(choice.parent_path) or wording.ROOT,
        "made": list(choice.made),
        "differs": choice.differs,
        "rest": len(passed) - len(passed[:MOST]),
        "options": [
            {
                "name": option.name,
                "one": _place(option.one, choice, 0),
                "other": _place(option.other, choice, 1),
                "differs": option.differs,
            }
            for option in shown
        ],
    }


def _place(rank: int | None, choice: ComparedChoice, side: int) -> int | None:
    """Convert a rank (larger is better) into a place, 1 being the best of this card."""
    ranks = [each for option in choice.options if (each := (option.one, option.other)[side]) is not None]
    return None if rank is None else sorted(ranks, reverse=True).index(rank) + 1
