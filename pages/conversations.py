"""Conversations: what was said, kept, taken along and cleared."""

from __future__ import annotations

from ui import conversations_view, problems, state, transcript_view, who

memory = who.mine()
session_id = state.asked("session")
with problems.shown():
    if session_id is None:
        conversations_view.everything(memory)
    else:
        transcript_view.detail(memory, session_id)
