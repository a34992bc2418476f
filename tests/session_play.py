"""Messages and readings of sessions in tests."""

from __future__ import annotations

from memoir_engine import Memory

CALLING = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How warm is it in Oslo?"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "12 °C"},
    {"role": "assistant", "content": "12 °C."},
]


def texts(memory: Memory, session: str = "s") -> list[str]:
    return [one.text for one in memory.sessions.get_session_history(session)]


def say(memory: Memory, *said: str, session: str = "s") -> None:
    memory.sessions.append(
        session, [{"role": "user" if i % 2 == 0 else "assistant", "content": one} for i, one in enumerate(said)]
    )
