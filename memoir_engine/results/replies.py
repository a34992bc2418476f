"""What an agent's turn came to."""

from __future__ import annotations

from dataclasses import dataclass

from memoir_engine.results.conversations import MessageRecord


@dataclass(frozen=True)
class Shown:
    """Something of the memory that stood before the model when it replied. number: by which the reply cites it.

    kind: passage, fact or chunk; id: of its row. run_id: of the question, where a tool asked one.
    """

    number: int
    kind: str
    id: int | str
    source_id: int | None = None
    start: int | None = None
    end: int | None = None
    run_id: str | None = None


@dataclass(frozen=True)
class Reply:
    """text: what was answered. messages: those of this turn, the person's first, as they are kept in the session.

    tool_calls: how many were made. limited: more were asked for than the limit allows. shown: what the model saw of the memory.
    warnings: what the memory could not do; the reply came all the same.
    """

    text: str
    session_id: str
    messages: tuple[MessageRecord, ...]
    run_id: str
    tool_calls: int = 0
    limited: bool = False
    shown: tuple[Shown, ...] = ()
    warnings: tuple[str, ...] = ()
    model: str = ""
    latency_ms: float = 0.0
