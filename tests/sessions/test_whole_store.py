"""Conversations in the memory's export and import, undo and activity."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from memoir_engine import Memory
from memoir_engine.core.errors import UndoBlocked


@pytest.fixture
def memory(tmp_path: Path):
    with Memory(db_path=tmp_path / "own.db", model="offline") as opened:
        yield opened


@pytest.mark.req("SESSION 2.3", "SESSION 2.4")
def test_a_sqlite_file_keeps_conversations_over_a_restart(tmp_path: Path):
    with Memory(db_path=tmp_path / "kept.db", model="offline") as memory:
        said = memory.add_conversation("s", "user", "Remember me.")
    with Memory(db_path=tmp_path / "kept.db", model="offline") as memory:
        assert memory.sessions.get_session_history("s") == (said,)


@pytest.mark.req("SESSION 2.2")
def test_the_backend_in_memory_ends_with_the_process_that_has_it(tmp_path: Path):
    with Memory(db_path=":memory:", data_dir=tmp_path, model="offline") as one:
        one.add_conversation("s", "user", "Forget me.")
        with Memory(db_path=":memory:", data_dir=tmp_path / "other", model="offline") as other:
            assert (one.sessions.list_sessions(), other.sessions.list_sessions()) == (("s",), ())


def test_a_turn_has_an_action_without_a_reason_and_keeps_nothing_for_it(memory: Memory, tmp_path: Path):
    memory.add_conversation("s", "user", "Remember me.")
    with sqlite3.connect(tmp_path / "own.db") as raw:
        assert raw.execute("SELECT count(*) FROM payload").fetchone() == (0,)
    (action,) = memory.audit.actions()
    assert (action.verb, action.reason) == ("converse", None)
    assert memory.audit.verify().ok
    with sqlite3.connect(tmp_path / "own.db") as raw:
        raw.execute("UPDATE action SET payload = 'f00'")
    assert not memory.audit.verify().ok


def test_an_exported_memory_comes_back_with_its_conversations(memory: Memory, tmp_path: Path):
    mia = memory.acting_as("Mia", user="mia@example.org")
    mia.sessions.create("s", max_messages=2, metadata={"topic": "tea"})
    for text in ("one", "two", "three"):
        mia.add_conversation("s", "user", text)
    mia.add_conversation("t", "user", "cleared")
    mia.sessions.clear_session("t")
    memory.export(tmp_path / "all.zip")
    with Memory.import_(tmp_path / "all.zip", db_path=tmp_path / "back.db", model="offline") as back:
        hers = back.acting_as("Mia", user="mia@example.org")
        assert hers.sessions.get_session_history("s") == mia.sessions.get_session_history("s")
        assert hers.sessions.list() == mia.sessions.list()
        hers.add_conversation("new", "user", "goes on")
        assert back.audit.verify().problem is None


def test_what_was_said_cannot_be_undone(memory: Memory):
    memory.add_conversation("s", "user", "one")
    (action,) = memory.audit.actions(limit=1)
    assert action.verb == "converse"
    with pytest.raises(UndoBlocked):
        memory.review.undo(action.action_id)


def test_no_word_of_a_cleared_session_is_left_in_the_file(memory: Memory, tmp_path: Path):
    for n in range(40):
        memory.add_conversation("s", "user", f"chrysanthemum {n} " * 20)
    memory.sessions.clear_session("s")
    left = b"".join(path.read_bytes() for path in tmp_path.glob("own.db*"))
    assert b"chrysanthemum" not in left
