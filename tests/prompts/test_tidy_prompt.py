from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_texts import Golden, prompt_text
from memoir_engine.prompts.tidy import (
    NearSibling,
    ProposedMerge,
    ProposedRename,
    TidyAnswer,
    TidyItem,
    TidyRequest,
    build,
    parse,
    read,
)

TEXTS = st.one_of(st.text(), st.text(alphabet='"\\\n- ›=[]'))
NAMES = st.lists(TEXTS, max_size=3).map(tuple)
NEAR = st.lists(st.builds(NearSibling, st.integers(1, 99), st.sampled_from([0.05, 0.25, 1.0]), NAMES), max_size=2).map(tuple)
ITEMS = st.lists(st.builds(TidyItem, st.integers(1, 99), TEXTS, st.integers(0, 999), NAMES, NAMES, NEAR), max_size=3).map(tuple)
BRANCH = TidyRequest(
    2,
    3,
    ("Work",),
    (
        TidyItem(4, "Onboarding bot", 3, ("Concept", "Future"), ("bot", "slack"), (NearSibling(7, 0.31, ("bot", "slack")),)),
        TidyItem(7, "Slack bot", 1, ("Messages",), ("slack",), (NearSibling(4, 0.31, ("bot", "slack")),)),
        TidyItem(9, "Work travel", 5),
    ),
    ("Payroll",),
)


def reply(merges: list[object] | None = None, renames: list[object] | None = None) -> dict[str, object]:
    return {"merges": merges or [], "renames": renames or []}


def merge(name: str, *ids: object) -> dict[str, object]:
    return {"ids": list(ids), "name": name, "why": "The same\nbot."}


def rename(number: object, name: str) -> dict[str, object]:
    return {"id": number, "name": name, "why": "Shorter."}


def test_the_prompt_shows_the_branch_with_what_is_in_it(golden: Golden) -> None:
    golden("tidy-2", prompt_text(build(BRANCH)))


@given(st.builds(TidyRequest, st.integers(1, 100), st.integers(1, 100), st.lists(TEXTS.filter(bool)).map(tuple), ITEMS, NAMES))
def test_the_prompt_reads_back_whatever_it_holds(branch: TidyRequest) -> None:
    assert read(build(branch).text) == branch


def test_what_build_did_not_write_is_refused() -> None:
    with pytest.raises(ValueError, match="not the text of a tidy prompt"):
        read("Categories: 3")


def test_a_merge_names_what_its_categories_become_and_a_rename_a_free_one() -> None:
    assert parse(reply([merge("Slack  bot", 4, 7)], [rename(9, "Travel")]), BRANCH) == TidyAnswer(
        (ProposedMerge((4, 7), "Slack bot", "The same bot."),), (ProposedRename(9, "Travel", "Shorter."),)
    )


@pytest.mark.parametrize(
    ("given", "note"),
    [
        (reply([merge("Bots", 4, 8)]), "a merge was left out: fewer than two of its categories are free"),
        (reply([merge("Bots", 4, "seven")]), "a merge was left out: fewer than two of its categories are free"),
        (reply([merge("payroll", 4, 7)]), "a merge was left out: the name 'payroll' is taken"),
        (reply([merge("Work travel", 4, 7)]), "a merge was left out: the name 'Work travel' is taken"),
        (
            reply(renames=[rename(4, "A › B")]),
            "a rename was left out: the name contains '›', which separates the parts of a path",
        ),
        (reply(renames=[rename(5, "Travel")]), "a rename was left out: its category is not free"),
        (reply(renames=[rename(4, "Slack bot")]), "a rename was left out: the name 'Slack bot' is taken"),
        (reply(renames=[rename(4, "Slack-Bot.")]), "a rename was left out: the name 'Slack-Bot.' is taken"),
        (reply(renames=[rename(4, "onboarding  Bot!")]), "a rename was left out: 'onboarding Bot!' is the name it has"),
        (reply(renames=[rename(4, "work")]), "a rename was left out: the name 'work' is that of a category above it"),
        (reply([merge("Work", 4, 7)]), "a merge was left out: the name 'Work' is that of a category above it"),
        (
            reply([merge("Bots. They chat.", 4, 7)]),
            "a merge was left out: the name 'Bots. They chat.' is more than one sentence",
        ),
        ({"answer": "fine"}, "a reply was left out: it has no list of proposals"),
    ],
    ids=[
        "unknown",
        "id in words",
        "taken",
        "of another",
        "name",
        "nobody",
        "sibling",
        "spelled",
        "same",
        "above",
        "above all",
        "sentences",
        "no list",
    ],
)
def test_what_cannot_be_is_left_out_and_said(given: object, note: str) -> None:
    assert parse(given, BRANCH) == TidyAnswer((), (), (note,))


def test_a_category_is_in_one_proposal_only() -> None:
    found = parse(reply([merge("Bots", 4, 7), merge("Work", 7, 9)], [rename(4, "Bot")]), BRANCH)
    assert [one.ids for one in found.merges] == [(4, 7)]
    assert len(found.notes) == 2


@pytest.mark.parametrize("data", [None, {}, {"merges": None, "renames": 3}, {"merges": [None]}], ids=str)
def test_a_reply_of_another_shape_proposes_nothing(data: object) -> None:
    assert parse(data, BRANCH).merges == ()


def test_one_wrong_proposal_costs_only_itself() -> None:
    found = parse(reply([None, merge("Bots", 4, "7"), {"ids": 9}], ["x", rename("9", "Travel")]), BRANCH)
    assert ([one.ids for one in found.merges], [one.id for one in found.renames]) == ([(4, 7)], [9])
    assert len(found.notes) == 3
    assert not found.is_unusable


def test_what_is_asked_again_says_what_was_wrong_and_reads_back_the_same() -> None:
    again = build(BRANCH, ["the name 'Bots' is taken"])
    assert read(again.text) == BRANCH
    assert again.text.endswith("Problems: 1\n- \"the name 'Bots' is taken\"\n")
    assert again.instructions.startswith(build(BRANCH).instructions)
