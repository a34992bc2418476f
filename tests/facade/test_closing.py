"""Closing, and an opening that fails, leave nothing open, whatever else goes wrong."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoir_engine import Memory
from memoir_engine.core.errors import MemoryClosed, ReadFailed, WrongThread
from memoir_engine.core.events import RunStarted, Stamped
from memoir_engine.runtime.loop import LOOP
from memoir_engine.runtime.passages import Collections
from memoir_engine.runtime.refresher import CacheRefresher
from scripted_model import SMALL, Script, paper

TRADES = paper("Music/Strings/Violin", "Art/Oil/Dutch")


def test_closing_on_the_thread_that_would_end_it_is_refused_and_it_can_still_be_closed(memory: Memory):
    others, refused = LOOP._users, list[WrongThread]()

    def close(stamped: Stamped) -> None:
        if isinstance(stamped.event, RunStarted):
            try:
                memory.close()
            except WrongThread as wrong:
                refused.append(wrong)

    memory.ingest_text(TRADES, on_event=close).raise_for_error()
    assert "close() cannot wait here" in refused[0].message
    assert len(memory.sources.list()) == 1
    memory.close()
    assert LOOP._users == others - 1
    with pytest.raises(MemoryClosed):
        memory.sources.list()


def test_a_part_that_cannot_be_closed_keeps_nothing_else_open(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    others, engine = LOOP._users, memory._async._engine

    async def broken() -> None:
        raise OSError("the connection is gone")

    monkeypatch.setattr(engine.client, "close", broken)
    with pytest.raises(OSError, match="gone"):
        memory.close()
    assert LOOP._users == others - 1
    with pytest.raises(MemoryClosed):
        memory.sources.list()
    memory.close()


def test_two_threads_that_close_it_both_find_it_closed(memory: Memory):
    others = LOOP._users
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(memory.close) for _ in range(2)]:
            done.result(20)
    assert LOOP._users == others - 1


def test_an_opening_that_fails_leaves_nothing_open(script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    before, others = {thread.name for thread in threading.enumerate()}, LOOP._users

    def fail(_: object) -> None:
        raise ReadFailed(problem="the disk is gone")

    with monkeypatch.context() as broken, pytest.raises(ReadFailed):
        broken.setattr(CacheRefresher, "resume", fail)
        Memory(db_path=tmp_path / "one.db", **SMALL)
    assert (LOOP._users, {thread.name for thread in threading.enumerate()} - before) == (others, set())
    with monkeypatch.context() as broken, pytest.raises(ReadFailed):
        broken.setattr(Collections, "__init__", lambda *_: fail(None))
        Memory(db_path=tmp_path / "one.db", **SMALL)
    with Memory(db_path=tmp_path / "one.db", **SMALL) as memory:
        lock = memory._async._engine.lexical._lock
        assert lock is not None and lock.is_alone
