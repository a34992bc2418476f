"""Any sequence of statements, decisions and undos keeps the rules, whatever order of undo the previews allow.

A longer search, with other numbers each time: MEMOIR_TEST_SEQUENCES=200 pytest tests/facts/test_any_sequence.py
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fact_rules
from fact_sequences import USERS, VERBS, Play
from memoir_engine import Memory
from memoir_engine.core.run import SystemClock
from scripted_model import Script
from set_clock import SetClock

ASKED = int(os.environ.get("MEMOIR_TEST_SEQUENCES", "0"))
EXAMPLES = {"sqlite": 8}

numbers = st.integers(0, 99)
first = st.lists(st.tuples(st.just("say"), numbers, numbers), min_size=2, max_size=4)


def turns(*more: str) -> st.SearchStrategy[list[tuple[str, int, int]]]:
    return st.lists(st.tuples(st.sampled_from([*VERBS, *more]), numbers, numbers), min_size=4, max_size=12)


def examples(kind: str) -> settings:
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    count = ASKED or EXAMPLES.get(kind, 2)
    return settings(max_examples=count, deadline=None, derandomize=not ASKED, database=None, suppress_health_check=slow)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """A clock that stands still until a play moves it."""
    told = SetClock(datetime(2026, 5, 4, 12, 0, tzinfo=UTC))
    monkeypatch.setattr(SystemClock, "now", lambda _: told.now())
    return told


@pytest.mark.slow  # many stores, one after the other
@pytest.mark.timeout(600 + 20 * ASKED)
@pytest.mark.req("TIMEM consolidation.2", "TIMEM forgetting")
def test_any_sequence_is_undone_to_the_state_before(
    new_database: Callable[[], str], tmp_path: Path, script: Script, clock: SetClock
) -> None:
    @examples(new_database().partition(":")[0])
    @given(begin=first, steps=turns(), order=st.lists(numbers, max_size=15))
    def play(begin: list[tuple[str, int, int]], steps: list[tuple[str, int, int]], order: list[int]) -> None:
        clock.moved = timedelta()
        with Memory(database_url=new_database(), data_dir=tmp_path / "data", model="offline", vector_store="exact") as memory:
            player = Play(memory, script, clock)
            before = player.state()
            for step in (*begin, *steps):
                player.step(*step)
                assert player.problems() == []
            assert fact_rules.copied(memory, USERS, tmp_path) == []
            player.undo_all(order)
            assert player.problems() == []
            assert player.moments.differing() == []
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
            assert player.moments.differing() == []

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
            assert player.moments.differing() == []
            assert fact_rules.copied(memory, USERS, tmp_path) == []

    play()
