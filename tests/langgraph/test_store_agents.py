"""The store under LangGraph's prebuilt agent, and under tools such as langmem's."""

from __future__ import annotations

import asyncio
import uuid
from typing import Annotated, Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import InjectedStore, create_react_agent
from langgraph.store.base import BaseStore

from memoir_engine import Memory
from memoir_engine.langgraph import MemoirCheckpointSaver, MemoirStore

MINE = ("memories", "ana")


class ScriptedChat(FakeMessagesListChatModel):
    """A chat model that says what it is told to, whatever tools it is given."""

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[Any, Any]:
        return self


@tool
def manage_memory(
    content: str, store: Annotated[BaseStore, InjectedStore()], action: str = "create", id: str | None = None
) -> str:
    """Create, update or delete a memory, as langmem's tool of that name does."""
    if action == "delete":
        store.delete(MINE, str(id))
        return f"Deleted memory {id}"
    key = id or str(uuid.uuid4())
    store.put(MINE, key=key, value={"content": content})
    return f"{action}d memory {key}"


@tool
async def search_memory(query: str, store: Annotated[BaseStore, InjectedStore()], limit: int = 10) -> str:
    """Search memories, as langmem's tool of that name does."""
    items = await store.asearch(MINE, query=query, limit=limit)
    return "; ".join(f"{item.key}: {item.value['content']}" for item in items)


def asking(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{uuid.uuid4()}", "type": "tool_call"}])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::langgraph.warnings.LangGraphDeprecatedSinceV10")
def test_the_prebuilt_agent_remembers_searches_updates_and_deletes(memory: Memory) -> None:
    store = MemoirStore(memory)

    def turn(*said: AIMessage) -> list[str]:
        model = ScriptedChat(responses=[*said, AIMessage("Done.")])
        tools, saver = [manage_memory, search_memory], MemoirCheckpointSaver(memory)
        agent = create_react_agent(model, tools, store=store, checkpointer=saver)
        config: Any = {"configurable": {"thread_id": str(uuid.uuid4())}}
        state = asyncio.run(agent.ainvoke({"messages": [("user", "Please.")]}, config))
        return [str(message.content) for message in state["messages"] if isinstance(message, ToolMessage)]

    turn(asking("manage_memory", content="Prefers Go for backends"), asking("manage_memory", content="Has a cat"))
    (found,) = turn(asking("search_memory", query="Go for backends", limit=1))
    key, content = found.split(": ")
    assert content == "Prefers Go for backends"
    turn(asking("manage_memory", content="Prefers Rust for backends", action="update", id=key))
    kept = store.get(MINE, key)
    assert kept is not None and kept.value == {"content": "Prefers Rust for backends"}
    assert [fact.content for fact in memory.facts.list(status="active")] == ["Prefers Rust for backends", "Has a cat"]
    turn(asking("manage_memory", content="", action="delete", id=key))
    assert [item.value["content"] for item in store.search(MINE)] == ["Has a cat"]
    assert memory.audit.verify().ok


def test_a_graph_hands_the_store_to_its_nodes(memory: Memory) -> None:
    def note(state: dict[str, Any], *, store: BaseStore) -> dict[str, Any]:
        store.put(MINE, "seen", {"count": state["count"]})
        return {"count": state["count"] + len(store.search(MINE))}

    graph = StateGraph(dict).add_node("note", note).add_edge(START, "note").add_edge("note", END)
    assert graph.compile(store=MemoirStore(memory)).invoke({"count": 1}) == {"count": 2}
