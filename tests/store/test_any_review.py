"""Any order of decisions, refilings, edits and undos keeps the record consistent, and undone it is as before.

A longer search, with other numbers each time: MEMOIR_TEST_SEQUENCES=500 pytest tests/store/test_any_review.py
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoir_engine.store.db.database import Database
from review_play import ALL_VERBS, REVIEWS, ReviewPlay
from small_plans import SteadyClock
from small_stores import Store

EXAMPLES = {"sqlite": 12}  # a server's database takes longer to make
ASKED = int(os.environ.get("MEMOIR_TEST_SEQUENCES", "0"))

numbers = st.integers(0, 99)
first = st.lists(st.tuples(st.just("ingest"), numbers, numbers), min_size=1, max_size=2)
turns = st.lists(
    st.tuples(st.one_of(st.sampled_from(REVIEWS), st.sampled_from(ALL_VERBS)), numbers, numbers), min_size=5, max_size=14
)


def played(url: str, steps: list[tuple[str, int, int]], order: list[int]) -> None:
    clock = SteadyClock()
    db = Database.open(url, clock=clock, depth=3)
    try:
        store = Store(db, clock, url, limit=3)
        play, before = ReviewPlay(store), store.state()
        for step in steps:
            play.step(*step)
            assert play.problems() == []
        play.undo_all(order)
        assert play.problems() == []
        assert store.state() == before
    finally:
        db.close()


@pytest.mark.slow  # many stores, one after the other
@pytest.mark.timeout(600 + 20 * ASKED)
def test_any_review_keeps_the_record_and_is_undone_to_the_state_before(new_database: Callable[[], str]) -> None:
    kind = new_database().partition(":")[0]
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    examples = ASKED or EXAMPLES.get(kind, 3)

    @settings(max_examples=examples, deadline=None, derandomize=not ASKED, database=None, suppress_health_check=slow)
    @given(begin=first, steps=turns, order=st.lists(numbers, max_size=15))
    def play(begin: list[tuple[str, int, int]], steps: list[tuple[str, int, int]], order: list[int]) -> None:
        played(new_database(), [*begin, *steps], order)

    play()
