"""The Category tree page at an earlier moment."""

from __future__ import annotations

import pytest

from app_pages import component, numbers, opened, words
from memoir_engine import Category, Chunk, Memory


def leaf(memory: Memory, chunk: Chunk) -> Category:
    return memory.tree.node(chunk.category_id or 0)


@pytest.fixture
def changed(filled: Memory) -> tuple[Memory, int, Chunk]:
    """Rename, move and add; return the memory, the seq before that, and the refiled chunk."""
    then = filled.audit.head().seq
    chunk, other = filled.sources.chunks(1)[0], filled.sources.chunks(2)[0]
    filled.review.refile(chunk.id, other.category_id or 0, reason="it is about money")
    filled.review.rename(filled.tree.path(leaf(filled, other).id)[0].id, "Money matters", reason="clearer")
    filled.review.create(None, "Weather", reason="soon needed")
    return filled, then, chunk


def test_where_nothing_was_ever_filed_there_is_nothing_to_look_back_at(memory: Memory):
    assert "past-open" not in {one.key for one in opened("tree").button}


def test_looking_back_begins_at_the_last_moment(filled: Memory):
    page = opened("tree").button(key="past-open").click().run()
    assert page.query_params["seq"] == str(filled.tree.moments()[0].seq)
    assert page.select_slider(key="past-moment").value == filled.tree.moments()[0].seq
    assert "Nothing in the tree has changed since." in words(page)


def test_the_tree_is_drawn_as_it_stood_and_says_what_is_different_now(changed: tuple[Memory, int, Chunk]):
    memory, then, _ = changed
    rows = [row for some in component(opened("tree", seq=then), "tree-then")["rows"].values() for row in some]
    stood = {one.name for one in memory.tree.as_of(then).all()}
    assert {row[1] for row in rows if row[6] != "later"} == stood
    marks = {row[1]: row[4] for row in rows}
    assert marks["Weather"] == "added"
    assert "renamed" in marks.values()
    assert {"1 added", "1 removed"} <= set(marks.values())
    assert "Money matters" not in marks


def test_what_is_different_now_is_told_in_a_table(changed: tuple[Memory, int, Chunk]):
    _, then, _ = changed
    table = opened("tree", seq=then).dataframe(key="past-since").value
    told = dict(zip(table["Category"], table["Change"], strict=True))
    assert told["Weather"] == "added"
    assert "renamed" in told.values()
    assert list(told.values()).count("chunks changed") == 2


def test_moving_the_slider_moves_the_address(changed: tuple[Memory, int, Chunk]):
    memory, then, _ = changed
    page = opened("tree", seq=then)
    earlier = memory.tree.moments()[-1].seq
    page.select_slider(key="past-moment").set_value(earlier).run()
    assert page.query_params["seq"] == str(earlier)
    assert numbers(page)["Chunks"] == str(len(memory.sources.chunks(1)))


def test_the_slider_begins_before_everything(filled: Memory):
    page = opened("tree", seq=0)
    assert page.select_slider(key="past-moment").value == 0
    assert "Nothing had been added yet" in words(page)
    assert not page.exception


def test_a_number_that_is_ahead_is_now(filled: Memory):
    page = opened("tree", seq=10**12)
    assert not page.exception
    assert f"event {filled.audit.head().seq}" in words(page)


def test_back_to_now_leaves_the_category_where_it_is(changed: tuple[Memory, int, Chunk]):
    memory, then, chunk = changed
    page = opened("tree", seq=then, cat=chunk.category_id or 0).button(key="past-now").click().run()
    assert not page.select_slider
    assert component(page, "tree")["chosen"] == chunk.category_id


def test_a_leaf_of_the_past_lists_what_was_filed_then(changed: tuple[Memory, int, Chunk]):
    memory, then, chunk = changed
    table = opened("tree", seq=then, cat=chunk.category_id or 0).dataframe(key=f"filed-{chunk.category_id}").value
    assert chunk.position + 1 in list(table["Chunk"])
    assert chunk.id not in {one.id for one in memory.tree.chunks(chunk.category_id or 0).chunks}


def test_a_chunk_of_the_past_says_where_it_is_now(changed: tuple[Memory, int, Chunk]):
    memory, then, chunk = changed
    page = opened("tree", seq=then, chunk=chunk.id)
    now = memory.tree.chunk(chunk.id)
    assert component(page, "tree-then")["chosen"] == chunk.category_id
    assert now.category_path[-1] in page.info[0].value
    assert page.info[0].value.startswith("Moved")


def test_a_category_that_came_later_was_not_there_yet_and_has_a_history(changed: tuple[Memory, int, Chunk]):
    memory, then, _ = changed
    weather = next(one for one in memory.tree.all() if one.name == "Weather")
    page = opened("tree", seq=then, cat=weather.id)
    assert not page.exception
    assert "It did not exist at this moment." in page.info[0].value
    assert list(page.dataframe(key=f"history-{weather.id}").value["What"]) == ["created"]


def test_in_the_past_nothing_can_be_changed(changed: tuple[Memory, int, Chunk]):
    _, then, chunk = changed
    page = opened("tree", seq=then, cat=chunk.category_id or 0)
    assert "nothing can be changed here" in words(page)
    assert not page.text_input
    assert not page.text_area


def test_links_of_the_past_stay_in_the_past(changed: tuple[Memory, int, Chunk]):
    _, then, chunk = changed
    page = opened("tree", seq=then, chunk=chunk.id)
    page.button(key="crumb-root").click().run()
    assert dict(page.query_params) == {"seq": str(then)}


def test_a_category_tells_who_changed_its_name_and_why(changed: tuple[Memory, int, Chunk]):
    memory, _, _ = changed
    money = next(one for one in memory.tree.roots() if one.name == "Money matters")
    table = opened("tree", cat=money.id).dataframe(key=f"history-{money.id}").value
    assert list(table["Why"]) == ["clearer", ""]
    assert table["What"][0].startswith("renamed from ")
    assert table["What"][1] == "created"


def test_a_chunk_tells_where_it_has_been(changed: tuple[Memory, int, Chunk]):
    memory, _, chunk = changed
    table = opened("tree", chunk=chunk.id).dataframe(key=f"places-{chunk.id}").value
    assert list(table["Why"]) == ["it is about money", ""]
    assert table["Where"][1] == " › ".join(chunk.category_path)
