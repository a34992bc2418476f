"""MemoirChatMessageHistory: a session of a memory, as LangChain takes a history of messages.

Source: SESSION 3.5; LangChain's BaseChatMessageHistory.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage, messages_from_dict, messages_to_dict

from memoir_engine.blocking import Memory
from memoir_engine.memory import AsyncMemory


class MemoirChatMessageHistory(BaseChatMessageHistory):
    """The session of that id, of the memory's user; it is opened when something is first said in it."""

    def __init__(self, memory: Memory | AsyncMemory, session_id: str) -> None:
        super().__init__()
        self._sessions = memory.sessions
        self.session_id = session_id

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the base has an attribute; theirs are properties, too
        """All that was said, in order."""
        records = self._sessions.get_session_history(self.session_id)
        return messages_from_dict([{"type": one.type, "data": one.data} for one in records])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """As one turn: all of them or none."""
        self._sessions.append(self.session_id, messages_to_dict(messages))

    def clear(self) -> None:
        """Remove all that was said in it, for good."""
        self._sessions.clear_session(self.session_id)
