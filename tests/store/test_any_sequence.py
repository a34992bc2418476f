"""Any order of edits and ingestions keeps the tree's rules, whatever order of undo the previews allow.

A longer search, with other numbers each time: MEMOIR_TEST_SEQUENCES=500 pytest tests/store/test_any_sequence.py
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edit_play import VERBS, Play
from memoir_engine.store.db.database import Database
from small_plans import SteadyClock
from small_stores import Store

LIMIT = 3  # so that it is met
EXAMPLES = {"sqlite": 12}  # a server's database takes longer to make
ASKED = int(os.environ.get("MEMOIR_TEST_SEQUENCES", "0"))

numbers = st.integers(0, 99)
turns = st.lists(st.tuples(st.sampled_from(VERBS), numbers, numbers), min_size=5, max_size=14)
first = st.lists(st.tuples(st.just("ingest"), numbers, numbers), min_size=1, max_size=3)


def played(url: str, steps: list[tuple[str, int, int]], order: list[int]) -> None:
    clock = SteadyClock()
    db = Database.open(url, clock=clock, depth=3)
    try:
        store = Store(db, clock, url, limit=LIMIT)
        play, before = Play(store), store.state()
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
@pytest.mark.req("MEMOIR 3.5", "MEMOIR 3.6")
def test_any_sequence_keeps_the_rules_and_is_undone_to_the_state_before(new_database: Callable[[], str]) -> None:
    kind = new_database().partition(":")[0]
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    examples = ASKED or EXAMPLES.get(kind, 3)

    @settings(max_examples=examples, deadline=None, derandomize=not ASKED, database=None, suppress_health_check=slow)
    @given(begin=first, steps=turns, order=st.lists(numbers, max_size=15))
    def play(begin: list[tuple[str, int, int]], steps: list[tuple[str, int, int]], order: list[int]) -> None:
        played(new_database(), [*begin, *steps], order)

    play()
