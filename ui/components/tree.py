"""The category tree as a component: lazy, keyboard-driven, drawn only where it can be seen.

Invariant: up to WHOLE categories travel at once, more only branch by branch as they are opened; an id from the browser
is looked up before it is used.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import streamlit as st

from memoir_engine import Category, MemoirError, Memory
from ui import state, wording, wording_tree

WHOLE = 2_000
HEIGHT = 660
_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "memoir_tree",
    html=(_HERE / "tree.html").read_text(),
    css=(_HERE / "tree.css").read_text(),
    js=(_HERE / "tree.js").read_text(),
)

Row = tuple[int, str, int, int]


def category_tree(memory: Memory, *, key: str, total: int, version: int, shown: Category | None) -> None:
    """Draw the tree with `shown` revealed; choosing a category puts it into the URL as `cat`.

    total: categories there are; version: the seq the tree was read at, so that old branches are forgotten.
    """
    way = [] if shown is None else [category.id for category in memory.tree.path(shown.id) if not category.is_leaf]
    rows = _all_rows(memory.tree.all()) if total <= WHOLE else _some_rows(memory, state.ids(f"{key}_open") | set(way))
    _component(
        key=key,
        data={
            "rows": rows,
            "way": way,
            "chosen": shown.id if shown else 0,
            "version": version,
            "lazy": total > WHOLE,
            "height": HEIGHT,
            "words": wording.TREE_WORDS | wording_tree.ORDER,
        },
        height=HEIGHT,
        on_chosen_change=lambda: _choose(key),
        on_expand_change=lambda: _open(key, "expand", memory),
        on_find_change=lambda: _open(key, "find", memory),
    )


def _all_rows(categories: tuple[Category, ...]) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = defaultdict(list)
    for category in categories:
        rows[str(category.parent_id or 0)].append(_row(category))
    return dict(rows)


def _some_rows(memory: Memory, opened: set[int]) -> dict[str, list[Row]]:
    rows = {"0": [_row(category) for category in memory.tree.roots()]}
    for category_id in sorted(opened):
        rows[str(category_id)] = [_row(child) for child in memory.tree.children(category_id)]
    return rows


def _row(category: Category) -> Row:
    return (category.id, category.name, category.chunks, category.children)


def _choose(key: str) -> None:
    chosen = st.session_state[key].get("chosen")
    if isinstance(chosen, int):
        state.show(cat=chosen, chunk=None)


def _open(key: str, trigger: str, memory: Memory) -> None:
    asked = st.session_state[key].get(trigger)
    try:
        found = _ways(memory, str(asked)) if trigger == "find" else {memory.tree.node(int(asked)).id}
    except (MemoirError, TypeError, ValueError):
        return
    state.keep_ids(f"{key}_open", state.ids(f"{key}_open") | found)


def _ways(memory: Memory, text: str) -> set[int]:
    hits = memory.tree.search(text, limit=20)
    return {category.id for hit in hits for category in memory.tree.path(hit.id) if not category.is_leaf}
