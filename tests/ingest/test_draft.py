"""The tree as one ingestion sees it: unique names, limits, levels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir_engine.ingest.draft import ROOT, DraftTree, Node

STORED = [Node(1, ROOT, 1, "Music"), Node(2, ROOT, 1, "Art"), Node(3, 1, 2, "Strings")]


def draft(limit: int = 10) -> DraftTree:
    return DraftTree(STORED, depth=3, limit=lambda level: limit)


@pytest.mark.req("MEMOIR 3.5")
@pytest.mark.parametrize("name", ["music", " MUSIC ", "Ｍｕｓｉｃ", "music\t"])
def test_a_name_is_the_same_whatever_its_case_width_or_spaces(name: str):
    assert draft().add(ROOT, name) == Node(1, ROOT, 1, "Music")


def test_the_same_name_below_another_parent_is_another_category():
    tree = draft()
    assert tree.add(2, "Strings").id == -1
    assert tree.find(1, "Strings") == Node(3, 1, 2, "Strings")


def test_drafts_are_numbered_as_they_come_and_stand_one_level_below_their_parent():
    tree = draft()
    oil = tree.add(2, "Oil")
    dutch = tree.add(oil.id, "Dutch")
    assert (oil, dutch) == (Node(-1, 2, 2, "Oil"), Node(-2, -1, 3, "Dutch"))
    assert tree.path(dutch.id) == ("Art", "Oil", "Dutch")
    assert tree.ancestors(dutch.id) == (2, -1, -2)
    assert tree.drafts == (oil, dutch)


@pytest.mark.req("MEMOIR 2.8")
def test_room_is_what_the_limit_of_the_level_leaves_below_one_parent():
    tree = DraftTree(STORED, depth=3, limit=lambda level: {1: 3, 2: 2}.get(level, 9))
    assert (tree.room(ROOT), tree.room(1), tree.room(2), tree.room(3)) == (1, 1, 2, 9)
    tree.add(ROOT, "Trade")
    assert tree.room(ROOT) == 0


@given(st.lists(st.text("abAB ", max_size=4).filter(str.strip), max_size=30))
def test_children_stand_in_the_order_they_came_each_folded_name_once(names: list[str]):
    tree = DraftTree([], depth=1, limit=lambda level: 100)
    for name in names:
        tree.add(ROOT, name)
    folded = [" ".join(name.casefold().split()) for name in names]
    assert [" ".join(node.name.casefold().split()) for node in tree.children(ROOT)] == list(dict.fromkeys(folded))
