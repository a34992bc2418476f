"""Branches of a finished question: another option taken as a run of its own, and the two runs compared."""

from __future__ import annotations

import pytest

from memoir_engine import Decision, Memory, QueryResult
from memoir_engine.core.errors import ChoiceNotOffered, InvalidSetting, RunNotFound
from scripted_model import Opened, Script, paper, selected

WIDE = paper(*(f"{a}/{a}{b}x/{a}{b}{c}y" for a in "ABC" for b in "kl" for c in "mn"))


@pytest.fixture
def wide(opened: Opened) -> Memory:
    memory = opened(batch_size=50, max_token_budget=20_000)
    memory.ingest_text(WIDE).raise_for_error()
    return memory


@pytest.fixture
def asked(wide: Memory, script: Script) -> QueryResult:
    """Ask a question that walks A › Akx › Akmy, one category at each level."""
    script.on("select", selected("A", most=1), selected("Akx", most=1), selected("Akmy", most=1))
    return wide.query("where?", strategy="one_shot").raise_for_error()


def decision(result: QueryResult, level: int) -> Decision:
    return next(each for each in result.decisions if each.level == level)


def option(made: Decision, name: str) -> int:
    return next(each.category_id for each in made.options if each.name == name)


def test_another_option_is_followed_and_answered_in_a_run_of_its_own(wide: Memory, script: Script, asked: QueryResult):
    before = wide.runs.query(asked.run_id)
    second = decision(asked, 2)
    calls = len(script.asked("select"))
    branch = wide.what_if(asked.run_id, second.id, [option(second, "Alx")]).raise_for_error()
    assert [path.names for path in branch.paths] == [("A", "Alx", branch.paths[0].names[-1])]
    assert branch.run_id != asked.run_id
    assert wide.runs.query(asked.run_id) == before
    assert [one.choice.level for one in script.asked("select")[calls:]] == [3], "only below the choice is the model asked anew"
    assert [(each.level, each.decided_by) for each in branch.decisions] == [(1, "repeated"), (2, "reviewer"), (3, "model")]
    assert wide.runs.query(branch.run_id) == branch
    assert wide.runs.get(branch.run_id).run.request["what_if"] == {
        "run": asked.run_id,
        "decision": second.id,
        "take": [option(second, "Alx")],
    }


def test_a_branch_at_the_last_level_asks_for_nothing_but_the_answer(wide: Memory, script: Script, asked: QueryResult):
    last, calls = decision(asked, 3), len(script.asked("select"))
    branch = wide.what_if(asked.run_id, last.id, [option(last, "Akny")]).raise_for_error()
    assert [path.names for path in branch.paths] == [("A", "Akx", "Akny")]
    assert len(script.asked("select")) == calls
    assert {chunk.category_path[-1] for chunk in branch.chunks} == {"Akny"}


def test_a_branch_walks_the_tree_that_the_original_walked(wide: Memory, asked: QueryResult):
    second = decision(asked, 2)
    other = option(second, "Alx")
    wide.review.rename(other, "Renamed")
    for leaf in wide.tree.children(other):
        for chunk in wide.tree.chunks(leaf.id).chunks:
            wide.review.refile(chunk.id, option(decision(asked, 3), "Akny"))
    branch = wide.what_if(asked.run_id, second.id, [other]).raise_for_error()
    assert (branch.paths[0].names[:2], branch.as_of_seq) == (("A", "Alx"), wide.runs.get(asked.run_id).run.tree_seq)
    assert branch.chunks
    beside = wide.runs.compare(asked.run_id, branch.run_id)
    assert (beside.tree_changed, beside.settings, beside.first_difference) == (False, (), 2)


def test_more_than_was_chosen_may_be_taken_and_what_stood_beside_it_stays(wide: Memory, script: Script):
    script.on("select", selected("B", "A", most=2), selected("Bkx", "Akx", most=2), selected("Bkmy", "Akmy", most=2))
    asked = wide.query("where?", n=2).raise_for_error()
    under_b = next(each for each in asked.decisions if each.level == 2 and each.parent_path == ("B",))
    taken = [option(under_b, "Blx"), option(under_b, "Bkx")]
    script.on("select", selected("Blmy", "Bkmy", most=2))
    branch = wide.what_if(asked.run_id, under_b.id, taken).raise_for_error()
    level = [each for each in branch.decisions if each.level == 2]
    ranks = {o.name: o.rank for each in level for o in each.options if o.rank}
    assert ranks == {"Blx": 3, "Bkx": 2, "Akx": 1}
    assert {each.parent_path: each.decided_by for each in level} == {("B",): "reviewer", ("A",): "repeated"}


def test_two_runs_side_by_side_tell_where_they_part(wide: Memory, asked: QueryResult):
    second = decision(asked, 2)
    branch = wide.what_if(asked.run_id, second.id, [option(second, "Alx")]).raise_for_error()
    beside = wide.runs.compare(asked.run_id, branch.run_id)
    assert beside.first_difference == 2
    first, changed = beside.choices[0], beside.choices[1]
    assert not first.differs
    assert [(o.name, o.one, o.other, o.differs) for o in changed.options] == [("Akx", 1, None, True), ("Alx", None, 1, True)]
    assert [choice.made for choice in beside.choices[2:]] == [(True, False), (False, True)]
    assert ([p.names[-1] for p in beside.paths_one], beside.paths_both) == (["Akmy"], ())
    assert set(beside.only_one) == {chunk.id for chunk in asked.chunks}
    assert set(beside.only_other) == {chunk.id for chunk in branch.chunks}
    assert (beside.settings, beside.tree_changed) == ((), False)


def test_a_tree_that_changed_between_the_two_is_told(wide: Memory, asked: QueryResult):
    again = wide.query("where?", strategy="one_shot").raise_for_error()
    wide.review.refile(asked.chunks[0].id, option(decision(asked, 3), "Akny"))
    later = wide.query("where?", strategy="one_shot").raise_for_error()
    assert [wide.runs.compare(asked.run_id, run.run_id).tree_changed for run in (again, later)] == [False, True]


def test_two_strategies_side_by_side(wide: Memory, asked: QueryResult):
    wider = wide.query("where?", strategy="wide_branch", n=2).raise_for_error()
    beside = wide.runs.compare(asked.run_id, wider.run_id)
    assert {setting.name: (setting.one, setting.other) for setting in beside.settings} == {
        "strategy": ("one_shot", "wide_branch"),
        "n": ("–", "2"),
    }


def test_what_cannot_be_taken_is_refused_before_anything_is_asked(wide: Memory, asked: QueryResult, script: Script):
    first, calls, runs = decision(asked, 1), len(script.requests), len(wide.runs.list())
    below = decision(asked, 2)
    for take in ([], [option(first, "A")], [option(below, "Alx")], [10**6]):
        with pytest.raises(ChoiceNotOffered):
            wide.what_if(asked.run_id, first.id, take)
    with pytest.raises(ChoiceNotOffered):
        wide.what_if(asked.run_id, first.id + 1000, [option(first, "B")])
    with pytest.raises(RunNotFound):
        wide.what_if("nowhere", first.id, [option(first, "B")])
    with pytest.raises(InvalidSetting):
        wide.what_if(wide.runs.list(verb="ingest_text")[0].id, first.id, [1])
    with pytest.raises(InvalidSetting):
        wide.runs.compare(asked.run_id, wide.runs.list(verb="ingest_text")[0].id)
    assert (len(script.requests), len(wide.runs.list())) == (calls, runs)


def test_a_branch_may_be_started_and_watched(wide: Memory, asked: QueryResult):
    first = decision(asked, 1)
    run_id = wide.start("what_if", run_id=asked.run_id, decision_id=first.id, take=[option(first, "C")])
    wide.jobs.wait(run_id)
    assert wide.runs.query(run_id).paths[0].names[0] == "C"
