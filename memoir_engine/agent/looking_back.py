"""How much of a conversation stands before the next reply: the latest that fits, system messages in any case.

Invariant: in order; the newest message that does not fit ends it, so nothing in between is missing. Pure but for the counter.
Source: SESSION 1.2, 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memoir_engine.text.messages import Message, base_kind

OVERHEAD = 4  # tokens of a message's frame


def fitting(history: Sequence[Message], budget: int, count: Callable[[str], int]) -> tuple[tuple[Message, ...], int]:
    """(what fits, how many messages were left out). budget: tokens."""
    left = budget
    first = len(history)
    for at in range(len(history) - 1, -1, -1):
        message = history[at]
        left -= count(message.text) + OVERHEAD + sum(count(str(call)) for call in message.rest.get("tool_calls", ()))
        if left < 0:
            break
        first = at
    kept = [one for at, one in enumerate(history) if at >= first or base_kind(one.kind) == "system"]
    return tuple(kept), len(history) - len(kept)
