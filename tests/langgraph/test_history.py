"""A session as LangChain's history of messages."""

from __future__ import annotations

import pytest
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from memoir_engine import Memory
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
