"""Guarantees of the checkpointer beyond LangGraph's suite: little is written, nothing is lost, users are isolated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.base import CheckpointTuple, empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.graph import END, START, MessagesState, StateGraph
from sqlalchemy import func, select

import warm
from machine import REPOSITORY
from memoir_engine import Memory
from memoir_engine.core.errors import InvalidSetting
from memoir_engine.langgraph import MemoirCheckpointSaver
from memoir_engine.store import tables

MB = 1_000_000


def config(thread: str = "t", ns: str = "") -> Any:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns}}


def put(saver: MemoirCheckpointSaver, parent: Any, values: dict[str, Any], version: int, **meta: Any) -> Any:
    checkpoint = empty_checkpoint()
    checkpoint |= {"id": str(uuid6()), "channel_values": values, "channel_versions": dict.fromkeys(values, version)}
    return saver.put(
        parent, checkpoint, {"source": "loop", "step": version, "parents": {}, **meta}, dict.fromkeys(values, version)
    )


def read(saver: MemoirCheckpointSaver, at: Any) -> CheckpointTuple:
    found = saver.get_tuple(at)
    assert found is not None
    return found


def values(saver: MemoirCheckpointSaver, at: Any) -> dict[str, Any]:
    return read(saver, at).checkpoint["channel_values"]


def rows(memory: Memory, table: Any, column: Any = None) -> tuple[int, int]:
    """Return the number of rows and their bytes."""
    size = func.coalesce(func.sum(func.length(table.c.bytes if column is None else column)), 0)
    return memory._async._engine.db.read(lambda tx: tuple(tx.execute(select(func.count(), size).select_from(table)).one()))


def talk(saver: MemoirCheckpointSaver, count: int, text: str = "words " * 40) -> tuple[list[Any], list[Any]]:
    """Store a conversation of this many messages, a checkpoint after each; return (messages, places)."""
    messages: list[Any] = []
    places = [config()]
    for number in range(count):
        kind = HumanMessage if number % 2 == 0 else AIMessage
        messages = [*messages, kind(f"{number} {text}", id=f"m{number}")]
        places.append(put(saver, places[-1], {"messages": messages}, number + 1))
    return messages, places[1:]


def test_a_thousand_messages_take_little_and_each_is_written_once(memory: Memory, saver: MemoirCheckpointSaver) -> None:
    messages, places = talk(saver, 1000)
    count, size = rows(memory, tables.checkpoint_value)
    assert count == 1000
    assert size + rows(memory, tables.checkpoint, tables.checkpoint.c.body)[1] < 3 * MB
    assert values(MemoirCheckpointSaver(memory), places[-1])["messages"] == messages
    assert len(values(saver, places[499])["messages"]) == 500


def test_what_is_removed_and_rewritten_reads_as_it_was_at_each_checkpoint(memory: Memory, saver: MemoirCheckpointSaver) -> None:
    messages, places = talk(saver, 8)
    shorter = put(saver, places[-1], {"messages": messages[3:]}, 9)
    fork = put(saver, places[3], {"messages": [*messages[:4], AIMessage("another way")]}, 5)
    fresh = MemoirCheckpointSaver(memory)
    assert values(fresh, shorter)["messages"] == messages[3:]
    assert [one.content for one in values(fresh, fork)["messages"]][-1] == "another way"
    assert values(fresh, places[-1])["messages"] == messages
    assert rows(memory, tables.checkpoint_value)[0] == 9


def replying(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage(f"reply {len(state['messages'])}")]}


def graph(saver: MemoirCheckpointSaver, **compiled: Any) -> Any:
    built = StateGraph(MessagesState)
    built.add_node("reply", replying)
    built.add_edge(START, "reply")
    built.add_edge("reply", END)
    return built.compile(checkpointer=saver, **compiled)


@pytest.mark.req("SESSION 4.3")
def test_a_graph_goes_on_branches_and_forgets_as_with_any_saver(memory: Memory, saver: MemoirCheckpointSaver) -> None:
    app = graph(saver)
    for number in range(3):
        app.invoke({"messages": [HumanMessage(f"question {number}")]}, config())
    history = list(app.get_state_history(config()))
    assert len(app.get_state(config()).values["messages"]) == 6
    earlier = next(one for one in history if len(one.values.get("messages", ())) == 2)
    branch = app.update_state(earlier.config, {"messages": [HumanMessage("elsewhere")]})
    assert [one.content for one in app.get_state(branch).values["messages"]][-1] == "elsewhere"
    gone = app.get_state(config()).values["messages"][0].id
    app.update_state(config(), {"messages": [RemoveMessage(id=gone)]})
    again = graph(MemoirCheckpointSaver(memory))
    assert gone not in [one.id for one in again.get_state(config()).values["messages"]]
    assert [len(one.values.get("messages", ())) for one in again.get_state_history(history[0].config)][:1] == [6]


SCRIPT = """
import sys
from typing import TypedDict
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from memoir_engine import Memory
from memoir_engine.langgraph import MemoirCheckpointSaver

class State(TypedDict):
    done: list[str]

def first(state):
    return {"done": [*state["done"], "first"]}

def second(state):
    return {"done": [*state["done"], interrupt("may I?")]}

built = StateGraph(State)
built.add_node("first", first)
built.add_node("second", second)
built.add_edge(START, "first")
built.add_edge("first", "second")
built.add_edge("second", END)
with Memory(db_path=sys.argv[1], model="offline") as memory:
    app = built.compile(checkpointer=MemoirCheckpointSaver(memory))
    place = {"configurable": {"thread_id": "t"}}
    given = {"done": []} if sys.argv[2] == "begin" else Command(resume=sys.argv[2])
    print(app.invoke(given, place)["done"])
"""


@pytest.mark.req("SESSION 4.3")
def test_a_graph_that_was_interrupted_goes_on_in_another_process(tmp_path: Path) -> None:
    def run(word: str) -> str:
        asked = ["-c", SCRIPT, str(tmp_path / "graph.db"), word]
        process = warm.start(asked, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        said, _ = process.communicate()
        assert process.returncode == 0
        return str(said).strip()

    assert run("begin") == "['first']"
    assert run("yes") == "['first', 'yes']"


def test_pruning_says_first_what_it_then_takes(memory: Memory, saver: MemoirCheckpointSaver) -> None:
    messages, places = talk(saver, 10)
    said = saver.prune(["t"], dry_run=True)
    assert len(list(saver.list(config()))) == 10
    done = saver.prune(["t"])
    assert (said.checkpoints, said.values, said.bytes, said.dry_run) == (done.checkpoints, done.values, done.bytes, True)
    assert (done.threads, done.checkpoints) == (1, 9)
    assert values(MemoirCheckpointSaver(memory), config())["messages"] == messages
    assert put(saver, places[-1], {"messages": [*messages, HumanMessage("on")]}, 11)


def test_a_checkpoint_on_a_parent_that_was_pruned_holds_everything(memory: Memory, saver: MemoirCheckpointSaver) -> None:
    messages, places = talk(saver, 4)
    MemoirCheckpointSaver(memory).prune(["t"], strategy="delete")
    after = put(saver, places[-1], {"messages": [*messages, HumanMessage("on")]}, 5)
    assert len(values(MemoirCheckpointSaver(memory), after)["messages"]) == 5


def test_a_graph_with_delta_channels_survives_pruning(memory: Memory, saver: MemoirCheckpointSaver) -> None:
    counted = {"counters_since_delta_snapshot": {"log": [1, 1]}}
    first = put(saver, config(), {"log": "snapshot"}, 1)
    second = put(saver, first, {"other": 1}, 2, **counted)
    saver.put_writes(second, [("log", "more")], "task")
    third = put(saver, second, {"other": 2}, 3, **counted)
    put(saver, config("elsewhere"), {"log": "x"}, 1)
    saver.prune(None)
    history = saver.get_delta_channel_history(config=third, channels=["log"])["log"]
    assert (history["seed"], [value for _, _, value in history["writes"]]) == ("snapshot", ["more"])


def test_threads_of_others_are_not_there(memory: Memory) -> None:
    mine, yours = (MemoirCheckpointSaver(memory.acting_as(name, user=name)) for name in ("Ada", "Eve"))
    at = put(mine, config(), {"secret": "mine"}, 1)
    assert yours.get_tuple(at) is None
    assert list(yours.list(None)) == []
    yours.delete_thread("t")
    yours.copy_thread("t", "stolen")
    assert yours.prune(None, strategy="delete").checkpoints == 0
    assert values(mine, at) == {"secret": "mine"}
    put(yours, config(), {"secret": "yours"}, 1)
    assert values(mine, config()) == {"secret": "mine"}


def test_what_cannot_be_a_place_is_refused(saver: MemoirCheckpointSaver) -> None:
    with pytest.raises(InvalidSetting, match="thread_id"):
        saver.get_tuple({"configurable": {}})
    with pytest.raises(InvalidSetting, match="strategy"):
        saver.prune(["t"], strategy="sometimes")


@pytest.mark.parametrize("thread", [None, True, 1.5, [], {"a": 1}, b"t"])
def test_none_is_no_thread_called_none(memory: Memory, saver: MemoirCheckpointSaver, thread: Any) -> None:
    asks: list[Any] = [
        lambda: put(saver, config(thread), {"a": 1}, 1),
        lambda: saver.get_tuple(config(thread)),
        lambda: saver.put_writes({"configurable": {"thread_id": thread, "checkpoint_id": "1"}}, [("a", 1)], "task"),
        lambda: saver.delete_thread(thread),
        lambda: saver.copy_thread("t", thread),
        lambda: saver.prune([thread]),
    ]
    for ask in asks:
        with pytest.raises(InvalidSetting, match="thread_id"):
            ask()
    assert rows(memory, tables.checkpoint_thread, tables.checkpoint_thread.c.thread_id) == (0, 0)


def test_what_names_no_checkpoint_is_refused(saver: MemoirCheckpointSaver) -> None:
    for given in (None, {}, {"configurable": None}, 5):
        with pytest.raises(InvalidSetting, match="config"):
            saver.get_tuple(given)  # type: ignore[arg-type]
    with pytest.raises(InvalidSetting, match="checkpoint_id"):
        saver.put_writes(config(), [("a", 1)], "task")
    with pytest.raises(InvalidSetting, match="thread_ids"):
        saver.prune("t")
    with pytest.raises(InvalidSetting, match="memory"):
        MemoirCheckpointSaver("memory")  # type: ignore[arg-type]


def test_a_number_names_a_thread(saver: MemoirCheckpointSaver) -> None:
    put(saver, config(7), {"a": 1}, 1)  # type: ignore[arg-type]
    assert values(saver, config("7")) == {"a": 1}


def test_without_the_extra_it_says_how_to_install_it() -> None:
    blocked = "import sys; sys.modules['langgraph.checkpoint.base'] = None; import memoir_engine.langgraph"
    ran = subprocess.run([sys.executable, "-c", blocked], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert "[mem][E112]" in ran.stderr
    assert "pip install 'memoir-engine[langgraph]'" in ran.stderr
