"""Scores kept as arrays behave like a dict of them."""

from __future__ import annotations

import numpy as np
import pytest

from memoir_engine.text.terms import ScoreMap

GIVEN = {7: 0.5, 2: 1.5, 9: 0.5, 4: 0.25}


@pytest.fixture
def scored() -> ScoreMap:
    return ScoreMap.of(GIVEN)


def test_it_is_the_mapping_it_was_made_of(scored: ScoreMap) -> None:
    assert dict(scored) == GIVEN
    assert list(scored) == [2, 4, 7, 9]
    assert (scored.get(3, 0.0), scored.get(9), len(scored)) == (0.0, 0.5, 4)
    assert ScoreMap.of(scored) is scored


def test_of_equal_scores_the_lower_key_is_higher(scored: ScoreMap) -> None:
    assert scored.highest(3, but=set()) == [2, 7, 9]
    assert scored.highest(2, but={2}) == [7, 9]
    assert scored.highest(9, but={7, 5}) == [2, 9, 4]
    assert scored.highest(0, but=set()) == []


def test_some_are_looked_up_together(scored: ScoreMap) -> None:
    assert scored.among([9, 1, 2, 10]) == {9: 0.5, 2: 1.5}
    assert scored.among([]) == {}


def test_nothing_was_found() -> None:
    none = ScoreMap(np.zeros(0, np.int64), np.zeros(0, np.float32))
    assert (dict(none), none.highest(3, but={1}), none.among([1]), none.get(1)) == ({}, [], {}, None)
