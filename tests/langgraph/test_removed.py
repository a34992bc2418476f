"""Deleted graph states: an action like any other, with its counts; on each database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6

from memoir_engine import MemoirError, Memory
from memoir_engine.core.errors import NotAllowed
from memoir_engine.langgraph import MemoirCheckpointSaver


@pytest.fixture
def everywhere(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    with Memory(database_url=database_url, data_dir=tmp_path / "data", model="offline") as memory:
        yield memory


def put(saver: MemoirCheckpointSaver, thread: str, count: int) -> None:
    at: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    for number in range(1, count + 1):
        checkpoint = empty_checkpoint()
        checkpoint |= {"id": str(uuid6()), "channel_values": {"a": f"a secret {number}"}, "channel_versions": {"a": number}}
        meta: Any = {"source": "loop", "step": number, "parents": {}, "run_id": f"run {number}"}
        at = saver.put(at, checkpoint, meta, {"a": number})


def removed(memory: Memory) -> list[tuple[str, int, int]]:
    """Return (actor, threads, checkpoints) of each deletion, oldest first."""
    found = [memory.audit.action(one.action_id) for one in memory.audit.actions(kind="checkpoints.removed")]
    bodies = [(one.actor, event.body) for one in found[::-1] for event in one.events if event.kind == "checkpoints.removed"]
    return [(actor, body["threads"], body["checkpoints"]) for actor, body in bodies]


def test_what_is_deleted_or_pruned_is_an_action_of_somebody(everywhere: Memory) -> None:
    saver = MemoirCheckpointSaver(everywhere.acting_as("Mia", user="mia"))
    for thread in ("one", "two", "three"):
        put(saver, thread, 3)
    saver.prune(["one"], dry_run=True)
    saver.prune(["one"])
    saver.prune(["one"])
    saver.delete_for_runs(["run 3"])
    saver.delete_thread("two")
    saver.delete_thread("two")
    assert removed(everywhere) == [("Mia", 1, 2), ("Mia", 3, 3), ("Mia", 1, 2)]
    action = everywhere.audit.actions(kind="checkpoints.removed")[0]
    assert (action.verb, action.says) == ("remove_graph_states", "Deleted agent checkpoints")
    assert "secret" not in repr(everywhere.audit.events())
    assert everywhere.audit.verify().ok
    with pytest.raises(MemoirError, match=r"E703"):
        everywhere.review.undo(action.action_id)


@pytest.mark.req("SESSION 3.4")
def test_clearing_all_sessions_takes_the_states_of_the_user_s_graphs_and_nobody_else_s(everywhere: Memory) -> None:
    mia, ben = everywhere.acting_as("Mia", user="mia"), everywhere.acting_as("Ben", user="ben")
    for view in (mia, ben):
        view.add_conversation("s", "user", "Hello.")
        put(MemoirCheckpointSaver(view), "t", 2)
    put(MemoirCheckpointSaver(mia), "u", 2)
    cleared = mia.sessions.clear_all_sessions()
    assert (cleared.sessions, cleared.messages, cleared.threads) == (1, 1, 2)
    assert [event.kind for event in everywhere.audit.action(cleared.action_id or "").events] == [
        "session.cleared",
        "checkpoints.removed",
    ]
    assert list(MemoirCheckpointSaver(mia).list(None)) == []
    assert len(list(MemoirCheckpointSaver(ben).list(None))) == 2
    assert mia.sessions.clear_all_sessions().action_id is None
    put(MemoirCheckpointSaver(mia), "t", 1)
    assert mia.sessions.clear_all_sessions().threads == 1
    assert everywhere.audit.verify().ok


def test_of_nobody_s_graphs_only_an_admin_removes_states(everywhere: Memory) -> None:
    put(MemoirCheckpointSaver(everywhere), "t", 2)
    vera = MemoirCheckpointSaver(everywhere.acting_as("Vera", roles=("auditor",)))
    for ask in (lambda: vera.delete_thread("t"), lambda: vera.prune(None), lambda: vera.delete_for_runs(["run 1"])):
        with pytest.raises(NotAllowed):
            ask()
    assert len(list(MemoirCheckpointSaver(everywhere).list(None))) == 2
