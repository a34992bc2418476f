"""Conversations: messages, retention, export and clearing."""

from __future__ import annotations

from ui import conversations_view, problems, state, transcript_view, who

session_id = state.asked("session")
memory = who.mine() if session_id is None else who.theirs()
with problems.shown():
    if session_id is None:
        conversations_view.everything(memory)
    else:
        transcript_view.detail(memory, session_id)
