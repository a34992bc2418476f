"""Exact cosine in memory: against hand-checked numbers, brute force, and many threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoir_engine.core.ports import Near, VectorIndexUnavailable
from memoir_engine.index.exact import ExactVectors, Matrices

EAST, NORTH, WEST, BETWEEN = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.6, 0.8]
DIRECTIONS = st.integers(0, 7).map(lambda eighth: [np.cos(eighth * np.pi / 4), np.sin(eighth * np.pi / 4)])
CHANGES = st.lists(
    st.tuples(st.lists(st.tuples(st.integers(1, 12), DIRECTIONS), max_size=5), st.sets(st.integers(1, 12), max_size=3)),
    max_size=8,
)


def array(*rows: list[float]) -> np.ndarray:
    return np.array(rows, np.float32).reshape(-1, 2)


def filled(rows: dict[int, list[float]], seq: int = 1) -> ExactVectors:
    index = ExactVectors(2)
    index.apply_changes(list(rows), array(*rows.values()), (), seq)
    return index


def asked(index: ExactVectors, vector: list[float], k: int, **options) -> list[tuple[int, float]]:
    return [(key, round(cosine, 5)) for key, cosine in index.top(np.array(vector, np.float32), k, **options)]


def test_the_nearest_come_first_with_their_cosines():
    index = filled({1: NORTH, 2: EAST, 3: WEST, 4: BETWEEN})
    assert asked(index, EAST, 3) == [(2, 1.0), (4, 0.6), (1, 0.0)]


def test_equal_ones_fall_to_the_lower_key():
    assert [near.key for near in filled({9: EAST, 3: EAST, 5: EAST}).top(np.array(EAST), 2)] == [3, 5]


def test_only_those_asked_for_are_looked_at():
    index = filled({1: NORTH, 2: EAST, 3: WEST, 4: BETWEEN})
    assert asked(index, EAST, 5, within={1, 3, 77}) == [(1, 0.0), (3, -1.0)]
    assert asked(index, EAST, 5, within=()) == []


def test_lengths_do_not_matter_and_true_cosines_come_in_the_order_asked_for():
    index = filled({1: [0.0, 7.0], 2: [3.0, 0.0]})
    assert index.scores(np.array([2.0, 0.0], np.float32), [2, 1, 2]).tolist() == [1.0, 0.0, 1.0]
    assert np.isnan(index.scores(np.array(EAST), [5])).all()


def test_a_key_taken_in_again_is_replaced_and_a_removed_one_is_gone():
    index = filled({1: NORTH, 2: EAST, 3: WEST})
    assert index.apply_changes([1], array(EAST), [2], 2)
    assert (asked(index, EAST, 5), len(index), index.high_water) == ([(1, 1.0), (3, -1.0)], 2, 2)


def test_all_it_holds_is_given_in_portions_by_rising_keys():
    index = filled({9: WEST, 2: EAST, 5: NORTH})
    index.apply_changes([], array(), [5], 2)
    index.apply_changes([7], array(NORTH), [], 3)
    assert [(keys, rows.tolist()) for keys, rows in index.portions(2)] == [([2, 7], [EAST, NORTH]), ([9], [WEST])]
    assert index.keys() == [2, 7, 9]


def test_an_earlier_seq_changes_nothing_and_the_same_one_may_come_again():
    index = filled({1: NORTH}, seq=5)
    assert (index.apply_changes([2], array(EAST), (), 4), len(index)) == (False, 1)
    assert (index.apply_changes([2], array(EAST), (), 5), len(index)) == (True, 2)


@pytest.mark.parametrize(
    "row", [[np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0], [1.0, 0.0, 0.0]], ids=["nan", "infinite", "no length", "too long"]
)
def test_what_has_no_direction_is_refused_and_nothing_is_taken_in(row):
    index = filled({1: NORTH})
    with pytest.raises(ValueError, match="vector"):
        index.apply_changes([2, 3], np.array([[1.0] * len(row), row], np.float32), (), 2)
    with pytest.raises(ValueError, match="vector"):
        index.top(np.array(row, np.float32), 1)
    assert (len(index), index.high_water) == (1, 1)


def test_an_index_of_nothing_finds_nothing():
    index = ExactVectors(2)
    assert (index.top(np.array(EAST), 3), index.high_water, len(index)) == ([], 0, 0)
    assert np.isnan(index.scores(np.array(EAST), [1])).all()


def test_a_closed_one_says_so():
    index = filled({1: NORTH})
    index.close()
    assert not index.health.ok
    with pytest.raises(VectorIndexUnavailable):
        index.top(np.array(EAST), 1)


@settings(deadline=None, max_examples=200)
@given(changes=CHANGES, vector=DIRECTIONS, within=st.none() | st.sets(st.integers(1, 12)))
def test_after_any_changes_it_answers_as_a_search_through_all_would(changes, vector, within):
    index, held = ExactVectors(2), {}
    for seq, (added, removed) in enumerate(changes, start=1):
        index.apply_changes([key for key, _ in added], array(*(row for _, row in added)), removed, seq)
        held = {key: row for key, row in held.items() if key not in removed} | dict(added)
    wanted = {key: row for key, row in held.items() if within is None or key in within}
    cosines = {key: round(float(np.dot(row, vector)), 4) + 0.0 for key, row in wanted.items()}
    expected = sorted(cosines, key=lambda key: (-cosines[key], key))
    assert [near.key for near in index.top(np.array(vector), 20, within=within)] == expected
    assert len(index) == len(held)
    scores = dict(zip(range(1, 13), index.scores(np.array(vector), range(1, 13)).tolist(), strict=True))
    assert {key: score for key, score in scores.items() if not np.isnan(score)} == pytest.approx(
        {key: float(np.dot(row, vector)) for key, row in held.items()}, abs=1e-5
    )


def test_readers_see_whole_states_while_a_writer_works():
    index, done, seen = filled({1: EAST}), threading.Event(), []

    def read() -> None:
        while not done.is_set():
            seen.append(len(index.top(np.array(EAST), 1000)))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for seq in range(2, 200):
        removed = [seq * 2 - 4, seq * 2 - 3] if seq % 3 == 0 else []
        index.apply_changes([seq * 2, seq * 2 + 1], array(EAST, EAST), removed, seq)
    done.set()
    for reader in readers:
        reader.join()
    assert all(count % 2 == 1 for count in seen)  # one vector first, then they come and go by two


def test_the_matrices_used_last_are_kept():
    matrices = Matrices(most_bytes=3 * (2 * 4 + 8) * 10)
    for owner in ("ana", "ben", "cleo"):
        matrices.of(owner, "words", 2).apply_changes(range(10), array(*[EAST] * 10), (), 7)
    assert matrices.of("ana", "words", 2).high_water == 7
    matrices.of("dora", "words", 2).apply_changes(range(10), array(*[EAST] * 10), (), 7)
    assert [matrices.of(owner, "words", 2).high_water for owner in ("dora", "ana", "cleo")] == [7, 7, 7]
    assert matrices.of("ben", "words", 2).high_water == 0


def test_two_embedders_and_two_owners_never_share_a_matrix():
    matrices = Matrices()
    matrices.of("ana", "words", 2).apply_changes([1], array(EAST), (), 1)
    assert [len(matrices.of(*key)) for key in (("ana", "words", 2), ("ana", "other", 2), ("ben", "words", 2))] == [1, 0, 0]
    matrices.forget(lambda owner: owner == "ana")
    assert len(matrices.of("ana", "words", 2)) == 0


def test_what_it_returns_is_a_value_with_names():
    assert filled({1: NORTH}).top(np.array(NORTH), 1) == [Near(1, 1.0)]
