"""Any sequence of statements, decisions and undos keeps the rules, whatever order of undo the previews allow.

A longer search, with other numbers each time: MEMOIR_TEST_SEQUENCES=200 pytest tests/facts/test_any_sequence.py
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fact_sequences import VERBS, Play
from memoir_engine import Memory
from scripted_model import Script

ASKED = int(os.environ.get("MEMOIR_TEST_SEQUENCES", "0"))
EXAMPLES = {"sqlite": 10}

numbers = st.integers(0, 99)
first = st.lists(st.tuples(st.just("say"), numbers, numbers), min_size=2, max_size=4)


def turns(*more: str) -> st.SearchStrategy[list[tuple[str, int, int]]]:
    return st.lists(st.tuples(st.sampled_from([*VERBS, *more]), numbers, numbers), min_size=4, max_size=12)


def examples(kind: str) -> settings:
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    count = ASKED or EXAMPLES.get(kind, 2)
    return settings(max_examples=count, deadline=None, derandomize=not ASKED, database=None, suppress_health_check=slow)


@pytest.mark.slow  # many stores, one after the other
@pytest.mark.timeout(600 + 20 * ASKED)
@pytest.mark.req("TIMEM consolidation.2", "TIMEM forgetting")
def test_any_sequence_is_undone_to_the_state_before(new_database: Callable[[], str], tmp_path: Path, script: Script) -> None:
    @examples(new_database().partition(":")[0])
    @given(begin=first, steps=turns(), order=st.lists(numbers, max_size=15))
    def play(begin: list[tuple[str, int, int]], steps: list[tuple[str, int, int]], order: list[int]) -> None:
        with Memory(database_url=new_database(), data_dir=tmp_path / "data", model="offline", vector_store="exact") as memory:
            player = Play(memory, script)
            before = player.state()
            for step in (*begin, *steps):
                player.step(*step)
                assert player.problems() == []
            player.undo_all(order)
            assert player.problems() == []
            assert player.state() == before

    play()


@pytest.mark.slow  # many stores, one after the other
@pytest.mark.timeout(600 + 20 * ASKED)
def test_whatever_is_forgotten_in_between_the_record_holds(tmp_path: Path, script: Script) -> None:
    @examples("sqlite")
    @given(begin=first, steps=turns("forget", "forget", "forget"))
    def play(begin: list[tuple[str, int, int]], steps: list[tuple[str, int, int]]) -> None:
        with Memory(db_path=":memory:", model="offline", vector_store="exact") as memory:
            player = Play(memory, script)
            for step in (*begin, *steps):
                player.step(*step)
                assert player.problems() == []

    play()


@pytest.mark.slow  # many stores, one after the other
@pytest.mark.timeout(600 + 20 * ASKED)
def test_whoever_is_erased_in_between_the_record_holds(new_database: Callable[[], str], tmp_path: Path, script: Script) -> None:
    @examples(new_database().partition(":")[0])
    @given(begin=first, steps=turns("forget", "erase", "erase", "erase"))
    def play(begin: list[tuple[str, int, int]], steps: list[tuple[str, int, int]]) -> None:
        with Memory(database_url=new_database(), data_dir=tmp_path / "data", model="offline", vector_store="exact") as memory:
            player = Play(memory, script)
            for step in (*begin, *steps):
                player.step(*step)
                assert player.problems() == []

    play()
