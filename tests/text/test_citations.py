from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir_engine.text.spans import claims, renumber, usual_marks, without_marks


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It opens at nine [2]. It closes.", [("It opens at nine.", (2,)), ("It closes.", ())]),
        ("It opens at nine. [2] It closes at five. [1][3]", [("It opens at nine.", (2,)), ("It closes at five.", (1, 3))]),
        ("One [1, 3] and two [2-3].", [("One and two.", (1, 3, 2))]),
        ("Not there [7].", [("Not there.", ())]),
        ("[1] First of all.", [("First of all.", (1,))]),
        ("- an item [1]\n- another [2]", [("an item", (1,)), ("another", (2,))]),
        ("", []),
    ],
    ids=["before the stop", "behind the stop", "lists", "out of range", "leading", "items", "empty"],
)
def test_a_citation_belongs_to_the_statement_it_follows(answer, expected):
    assert [(claim.text, claim.numbers) for claim in claims(answer, 3)] == expected


@given(st.text(alphabet="aB. [1]\n,-"))
def test_claims_are_spans_of_the_answer_in_order(answer):
    found = claims(answer, 5)
    assert [without_marks(answer[claim.start : claim.end]) for claim in found] == [claim.text for claim in found]
    assert all(first.end <= second.start for first, second in zip(found, found[1:], strict=False))


@pytest.mark.parametrize(
    ("text", "renumbered"),
    [
        ("It opens at nine [1]. It closes at five [2][1].", "It opens at nine [11]. It closes at five [12][11]."),
        ("All of them [1-3].", "All of them [11][12][5]."),
        ("Both [1, 3] say 【2】.", "Both [11][5] say [12]."),
        ("Nobody's [4].", "Nobody's."),
        ("In [2019] and [1889–1890] [1].", "In [2019] and [1889–1890] [11]."),
    ],
    ids=["single", "range", "list", "without one", "years"],
)
def test_citations_are_renumbered(text: str, renumbered: str):
    assert renumber(text, {1: 11, 2: 12, 3: 5}, 4)[0] == renumbered


def test_a_number_without_another_is_named():
    assert renumber("Five [1, 12] [0] in [2019] [3].", {1: 11, 3: 5}, 5) == ("Five [11] in [2019] [5].", [12, 0])


@pytest.mark.parametrize(
    ("written", "usual"),
    [
        ("九時です［２］。", "九時です[2]。"),
        ("Nine 【2】.", "Nine [2]."),
        ("Nine 【2†source】.", "Nine [2]."),
        ("Nine [^2] or [#3].", "Nine [2] or [3]."),
        ("Nine [chunk 2], ten [Sources 1, 3].", "Nine [2], ten [1, 3]."),
        ("Nine [[2]] and \\[3\\].", "Nine [2] and [3]."),
        ("Nine [1 and 3], ten [1、3].", "Nine [1, 3], ten [1, 3]."),
        ("All [1-3] [4].", "All [1-3] [4]."),
        ("In [1889 and 1890], [page 3] (2) [a] [].", "In [1889 and 1890], [page 3] (2) [a] []."),
    ],
)
def test_citations_come_in_one_writing(written: str, usual: str):
    assert usual_marks(written) == usual
