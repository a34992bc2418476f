"""Category tree: walk it, read what is filed under a category, and see why a chunk is where it is."""

from __future__ import annotations

import streamlit as st

from memoir_engine import Category, Chunk, Memory
from ui import engine, filing, frame, problems, state, tree_view, wording
from ui.components.tree import category_tree

TREE_WIDTH = 370  # px; where what stands beside it would get too narrow, it moves below


def asked(memory: Memory) -> tuple[Category | None, Chunk | None]:
    """The category and the chunk that the URL names."""
    chunk_id, category_id = state.asked_id("chunk"), state.asked_id("cat")
    chunk = memory.tree.chunk(chunk_id) if chunk_id is not None else None
    if chunk is not None and chunk.category_id is not None:
        category_id = chunk.category_id
    return (memory.tree.node(category_id) if category_id is not None else None), chunk


def draw(memory: Memory) -> None:
    overview = memory.overview()
    if not overview.categories:
        frame.empty(wording.TREE_EMPTY, wording.TREE_EMPTY_TEXT, ":material/account_tree:")
        frame.first_buttons(memory)
        return
    filing.follow(memory, key="tree-filed")
    with st.container(horizontal=True, gap="medium"):
        left, right = st.container(width=TREE_WIDTH), st.container()
    found: tuple[Category | None, Chunk | None] = (None, None)
    with right, problems.noted():
        found = asked(memory)
    category, chunk = found
    with left:
        category_tree(memory, key="tree", total=overview.categories, version=memory.audit.head().seq, shown=category)
    with right:
        if chunk is not None:
            tree_view.chunk(memory, chunk)
        elif category is not None:
            tree_view.category(memory, category)
        else:
            tree_view.root(memory, overview)


memory = engine.memory()
with frame.head("tree", "Category tree"):
    pass
with problems.shown():
    draw(memory)
