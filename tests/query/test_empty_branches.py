"""Branches without chunks: withdrawn, refiled, or emptied during the question."""

from __future__ import annotations

from typing import Any

import pytest

from memoir_engine import Memory
from memoir_engine.core.errors import MemoryEmpty, PathsEmpty, SourcesNotFiled
from scripted_model import Asked, Script, events, paper, selected

TWICE = paper("Music/Strings/Violin", "Art/Oil/Dutch", "Music/Strings/Cello", "Art/Oil/Dutch")
EMPTY = "empty"


@pytest.fixture
def stocked(memory: Memory, script: Script) -> Memory:
    memory.ingest_text(TWICE, name="first").raise_for_error()
    script.requests.clear()
    return memory


def refile(memory: Memory, *leaves: str) -> None:
    """Refile the chunks of these leaves to Dutch; the leaves remain."""
    (dutch,) = [category.id for category in memory.tree.all() if category.name == "Dutch"]
    for chunk in memory.sources.chunks(1):
        if chunk.category_path[-1] in leaves:
            memory.review.refile(chunk.id, dutch, reason="wrong shelf")


def dropped(result: Any) -> list[tuple[str, str]]:
    return [("/".join(drop.category_path), drop.reason) for drop in result.dropped_paths]


@pytest.mark.req("MEMOIR 4.3.4", "MEMOIR 4.5.3")
def test_an_empty_leaf_is_an_error_of_its_path_and_the_others_go_on(stocked: Memory, script: Script):
    refile(stocked, "Violin")
    result = stocked.query("where?").raise_for_error()
    assert dropped(result) == [("Music/Strings/Violin", EMPTY)]
    assert {chunk.category_path[-1] for chunk in result.chunks} == {"Cello", "Dutch"}
    assert events(stocked, result.run_id, "PathDropped") == [{"path": ["Music", "Strings", "Violin"], "reason": EMPTY}]
    assert stocked.runs.query(result.run_id).dropped_paths == result.dropped_paths


def test_an_empty_branch_is_not_offered_and_takes_no_ones_place(stocked: Memory, script: Script):
    refile(stocked, "Violin", "Cello")
    result = stocked.query("where?", strategy="one_shot").raise_for_error()
    assert script.asked("select") == []  # what is left has one option per level
    assert dropped(result) == [("Music", EMPTY)]
    assert [[option.name for option in decision.options] for decision in result.decisions] == [["Art"], ["Oil"], ["Dutch"]]


@pytest.mark.req("MEMOIR 4.3.4", "MEMOIR 4.6")
def test_a_leaf_that_is_emptied_during_the_walk_is_an_error_of_its_path(stocked: Memory, script: Script):
    def emptied(_: Asked) -> dict[str, Any]:
        refile(stocked, "Violin")
        return selected("Violin", "Cello", most=3)

    script.on("select", selected("Music", most=2), emptied)
    result = stocked.query("where?").raise_for_error()
    assert dropped(result) == [("Music/Strings/Violin", EMPTY)]
    assert {chunk.category_path[-1] for chunk in result.chunks} == {"Cello"}


@pytest.mark.req("MEMOIR 4.6")
def test_when_every_selected_leaf_is_emptied_the_error_lists_them_and_shows_the_net(stocked: Memory, script: Script):
    def emptied(_: Asked) -> dict[str, Any]:
        refile(stocked, "Violin")
        return selected("Violin", most=1)

    script.on("select", selected("Music", most=1), emptied)
    result = stocked.query("violin paragraph", strategy="one_shot", safety_net=2)
    assert dropped(result) == [("Music/Strings/Violin", EMPTY)]
    assert len(result.net) == 2
    assert script.asked("answer") == []
    with pytest.raises(PathsEmpty, match="E304"):
        result.raise_for_error()


@pytest.mark.req("MEMOIR 4.6")
def test_with_every_source_withdrawn_there_is_nothing_to_ask(stocked: Memory, script: Script):
    stocked.sources.withdraw(1)
    result = stocked.query("where?")
    assert dropped(result) == [("Music", EMPTY), ("Art", EMPTY)]
    assert script.requests == []
    with pytest.raises(MemoryEmpty, match="E302"):
        result.raise_for_error()


def test_with_one_source_withdrawn_the_question_goes_where_chunks_are(stocked: Memory, script: Script):
    stocked.ingest_text(paper("Law/Court/Appeal"), name="second").raise_for_error()
    stocked.sources.withdraw(1)
    result = stocked.query("where?", strategy="one_shot").raise_for_error()
    assert [chunk.source_name for chunk in result.chunks] == ["second"]


def test_a_question_to_sources_that_are_not_in_the_tree_says_so(stocked: Memory, script: Script):
    stocked.ingest_text(paper("Law/Court/Appeal"), name="second").raise_for_error()
    stocked.sources.withdraw(1)
    script.requests.clear()
    result = stocked.query("where?", sources=[1])
    assert script.requests == []
    with pytest.raises(SourcesNotFiled, match=r"E311.*1 source"):
        result.raise_for_error()
