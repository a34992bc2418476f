"""A session as LangChain's history of messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, messages_from_dict

from memoir_engine import Memory, chunk_conversation
from memoir_engine.langgraph import MemoirChatMessageHistory

CALL = {"name": "weather", "args": {"town": "Oslo"}, "id": "c1", "type": "tool_call"}
TURN = [
    HumanMessage("Weather?", id="h", additional_kwargs={"at": "noon"}),
    AIMessage("", id="a", tool_calls=[CALL], usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}),
    ToolMessage("12 C", tool_call_id="c1", name="weather", artifact={"raw": [1]}, id="t"),
    HumanMessage(["And ", {"type": "image_url", "image_url": {"url": "x"}}], id="h2", name="Zoë"),
]


@pytest.mark.req("SESSION 3.5", "SESSION 1.5")
def test_messages_come_back_as_they_were_added(memory: Memory) -> None:
    history = MemoirChatMessageHistory(memory, "s")
    assert isinstance(history, BaseChatMessageHistory)
    assert history.messages == []
    history.add_messages(TURN)
    history.add_user_message("Thanks")
    assert history.messages[:-1] == TURN
    assert history.messages[-1].content == "Thanks"
    assert [one.n for one in memory.sessions.get_session_history("s")] == [1, 2, 3, 4, 5]


@pytest.mark.req("SESSION 3.3")
def test_clearing_one_history_leaves_the_others(memory: Memory) -> None:
    mine, yours = (MemoirChatMessageHistory(memory.acting_as(name, user=name), "s") for name in ("Ada", "Eve"))
    for history in (mine, yours):
        history.add_ai_message("Hello.")
    mine.clear()
    assert mine.messages == []
    assert [one.content for one in yours.messages] == ["Hello."]


@pytest.mark.req("SESSION 3.5", "SESSION 6.5")
def test_messages_of_langchain_are_taken_as_they_are(tmp_path: Path) -> None:
    call = {"name": "add", "args": {"a": 2}, "id": "call-1", "type": "tool_call"}
    said = [
        SystemMessage("Be kind."),
        HumanMessage("I live in Lyon.", id="m-1"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("2", tool_call_id="call-1"),
        AIMessage([{"type": "text", "text": "Noted."}]),
    ]
    assert chunk_conversation(said).cuts[0].message_ids == ("0", "m-1", "2", "3", "4")
    with Memory(data_dir=tmp_path, model="offline") as memory:
        memory.sessions.import_session(said, "s")
        kept = json.loads(memory.sessions.export_session("s"))
        assert [one.content for one in memory.remember(said, user_id="mia").facts] == ["Lives in Lyon"]
    back = messages_from_dict(kept["messages"])
    assert [type(one) for one in back] == [type(one) for one in said]
    assert [(one.content, getattr(one, "tool_calls", None)) for one in back] == [
        (one.content, getattr(one, "tool_calls", None)) for one in said
    ]
