"""All four strategies at both scopes: N over a whole level, or for each open path (width_scope)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError

from memoir_engine import Memory
from memoir_engine.prompts import select
from scripted_model import Asked, Opened, Script, paper, selected

ROOTS, LEAVES = "ABCDEFG", "klmnopqrs"
WIDE = paper(*(f"{a}/{a}{b}x" for a in ROOTS for b in LEAVES))  # 7 roots of 9 leaves each, one chunk in each
SETTINGS: dict[str, Any] = {"hierarchy_depth": 2, "batch_size": 50, "max_token_budget": 60_000, "max_retries": 0}


@pytest.fixture
def per_path(opened: Opened) -> Memory:
    memory = opened(width_scope="path", output_mode="native", **SETTINGS)
    memory.ingest_text(WIDE).raise_for_error()
    return memory


def best_first(asked: Asked) -> dict[str, Any]:
    choice = asked.choice
    return selected(*select.labels(choice.groups)[: choice.most], most=choice.most)


@pytest.mark.req("MEMOIR 9.12")
@pytest.mark.parametrize(
    ("strategy", "over_level", "each_path"),
    [
        pytest.param("one_shot", [1, 1], [1, 1], marks=pytest.mark.req("MEMOIR 8.one_shot")),
        pytest.param("wide_branch", [3, 3], [3, 3, 3, 3], marks=pytest.mark.req("MEMOIR 8.wide_branch")),
        pytest.param("zoom_in", [6, 4], [6, *[4] * 6], marks=pytest.mark.req("MEMOIR 8.zoom_in")),
        pytest.param("branch_out", [6, 8], [6, *[8] * 6], marks=pytest.mark.req("MEMOIR 8.branch_out")),
    ],
)
@pytest.mark.parametrize("scope", ["level", "path"])
def test_each_strategy_has_its_exact_widths_at_each_scope(
    opened: Opened, script: Script, scope: str, strategy: str, over_level: list[int], each_path: list[int]
):
    memory = opened(width_scope=scope, **SETTINGS)
    memory.ingest_text(WIDE).raise_for_error()
    result = memory.query("where?", strategy=strategy).raise_for_error()
    widths = {"level": over_level, "path": each_path}[scope]
    asked = [one.choice for one in script.asked("select")]
    assert [choice.most for choice in asked] == widths
    assert len(result.paths) == {"level": over_level[1], "path": sum(each_path[1:])}[scope]
    assert len(result.responses) == len(widths) + 1
    assert {path.ranks[0] for path in result.paths} <= set(range(1, widths[0] + 1))


@pytest.mark.req("MEMOIR 8.branch_out")
def test_a_path_is_never_wider_than_its_options_or_the_cap(opened: Opened, script: Script):
    memory = opened(width_scope="path", max_width=5, **SETTINGS)
    memory.ingest_text(WIDE).raise_for_error()
    memory.query("where?", strategy="branch_out").raise_for_error()
    assert [one.choice.most for one in script.asked("select")] == [5] * 6


def test_each_open_path_is_asked_about_its_own_options_and_has_its_own_decision(per_path: Memory, script: Script):
    result = per_path.query("where?", strategy="wide_branch").raise_for_error()
    deeper = [one.choice for one in script.asked("select")][1:]
    assert sorted(group.path for choice in deeper for group in choice.groups) == [("A",), ("B",), ("C",)]
    decisions = [one for one in result.decisions if one.level == 2]
    assert [one.parent_path for one in decisions] == [("A",), ("B",), ("C",)]
    assert len({one.call_id for one in decisions}) == 3
    assert [len(one.options) for one in decisions] == [9, 9, 9]
    assert [len(one.rejected) for one in decisions] == [6, 6, 6]
    ranks = [[option.rank for option in one.options if option.rank is not None] for one in decisions]
    assert ranks == [[3, 2, 1]] * 3


@pytest.mark.req("MEMOIR 9.O1")
def test_paths_follow_the_ranks_from_the_root_down_whichever_call_came_back_first(per_path: Memory, script: Script):
    waiting: list[asyncio.Event] = []

    async def last_first(asked: Asked) -> dict[str, Any]:
        """Hold each call of level 2 until the next one has returned."""
        if asked.choice.level == 2:
            waiting.append(asyncio.Event())
            mine = len(waiting) - 1
            if mine < 2:
                await waiting[mine].wait()
            if mine > 0:
                waiting[mine - 1].set()
        return best_first(asked)

    straight = per_path.query("where?").raise_for_error()
    script.always("select", last_first)
    turned = per_path.query("where?").raise_for_error()
    assert [path.names for path in turned.paths] == [(a, f"{a}{b}x") for a in "ABC" for b in "klm"]
    assert (turned.paths, turned.chunks) == (straight.paths, straight.chunks)
    assert [[option.name for option in one.options] for one in turned.decisions] == [
        [option.name for option in one.options] for one in straight.decisions
    ]
    assert per_path.runs.query(turned.run_id) == turned


@pytest.mark.req("MEMOIR 4.4", "MEMOIR 4.5.1")
def test_attempts_of_calls_that_overlap_are_told_apart_when_the_run_is_read_again(per_path: Memory, script: Script):
    script.on("select", best_first, {"no": 1}, {"no": 2}, {"no": 3})  # below A, B and C, then as usual
    result = per_path.query("where?").raise_for_error()
    again = per_path.runs.query(result.run_id)
    assert (len(per_path.runs.get(result.run_id).calls), len(result.responses)) == (8, 5)
    assert again.responses == result.responses
    assert again == result


def test_when_one_path_is_not_understood_its_second_opinion_is_followed_and_the_others_stay(per_path: Memory, script: Script):
    def wrong_below_b(asked: Asked) -> dict[str, Any]:
        return selected("Law", most=2) if asked.choice.groups[0].path == ("B",) else best_first(asked)

    script.always("select", wrong_below_b)
    result = per_path.query("where?").raise_for_error()
    assert [response.purpose for response in result.responses][:5] == ["select"] * 5  # one, then A, B twice, C
    assert {(d.parent_path, d.decided_by) for d in result.decisions if d.level == 2} == {
        (("A",), "model"),
        (("B",), "opinion"),
        (("C",), "model"),
    }
    assert per_path.runs.query(result.run_id) == result


def test_when_one_path_fails_the_others_are_called_off(per_path: Memory, script: Script):
    all_there = asyncio.Event()

    async def fail_below_a(asked: Asked) -> dict[str, Any]:
        if asked.choice.level == 1:
            return best_first(asked)
        if len(script.asked("select")) == 4:
            all_there.set()
        if asked.choice.groups[0].path == ("A",):
            await all_there.wait()
            raise ModelHTTPError(400, "offline", {"error": {"message": "out of order"}})
        await asyncio.Event().wait()
        raise AssertionError("never")

    script.always("select", fail_below_a)
    result = per_path.query("where?")
    assert result.error is not None
    assert result.error.code == "E404"
    calls = per_path.runs.get(result.run_id).calls
    assert sorted(str(call.error)[:9] for call in calls) == ["None", "[mem][E40", "cancelled", "cancelled"]


@pytest.mark.parametrize("scope", ["level", "path"])
def test_what_n_was_counted_over_is_kept_with_the_run(opened: Opened, scope: str):
    memory = opened(width_scope=scope, **SETTINGS)
    memory.ingest_text(WIDE).raise_for_error()
    run = memory.query("where?", strategy="zoom_in").raise_for_error().run_id
    assert memory.runs.get(run).run.request["width_scope"] == scope


def test_two_scopes_of_one_question_are_told_apart_and_a_branch_keeps_its_own(opened: Opened):
    memory = opened(width_scope="path", **SETTINGS)
    memory.ingest_text(WIDE).raise_for_error()
    first = memory.query("where?").raise_for_error()
    memory.close()
    later = opened(**SETTINGS)
    settings = later.runs.compare(first.run_id, later.query("where?").run_id).settings
    assert [(each.name, each.one, each.other) for each in settings] == [("width_scope", "path", "level")]
    made = next(each for each in first.decisions if each.level == 1)
    other = next(option.category_id for option in made.rejected)
    branch = later.what_if(first.run_id, made.id, [other]).raise_for_error()
    assert later.runs.get(branch.run_id).run.request["width_scope"] == "path"
