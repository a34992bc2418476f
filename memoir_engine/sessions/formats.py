"""Which form a conversation has, found out by what it holds, and what it says.

Whoever registers a reader here has its form imported: `is_it` looks at parsed JSON, `read` gives the conversations in it.
Pure. Source: SESSION 6.3, 6.4.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from memoir_engine.errors import FormatUnknown, MessageRefused
from memoir_engine.sessions import chatgpt, claude, locomo, told, transcript
from memoir_engine.sessions.told import Incoming

_NONE = object()


class Reader(NamedTuple):
    is_it: Callable[[object], bool]
    read: Callable[[Any], tuple[Incoming, ...]]


# the narrow forms first: a list of messages may be any list
READERS: dict[str, Reader] = {
    chatgpt.FORMAT: Reader(chatgpt.is_it, chatgpt.read),
    claude.FORMAT: Reader(claude.is_it, claude.read),
    locomo.FORMAT: Reader(locomo.is_it, locomo.read),
    "messages": Reader(told.is_ours, lambda data: (told.read(data),)),
}


def read(data: object) -> Incoming:
    """The one conversation in it. data: text, or JSON parsed already. Raises FormatUnknown."""
    found = read_all(data)
    if len(found) > 1:
        raise FormatUnknown(problem=f"it holds {len(found)} conversations; import_sessions takes each into a session of its own")
    return found[0]


def read_all(data: object) -> tuple[Incoming, ...]:
    """Every conversation in it. Raises FormatUnknown."""
    if isinstance(data, str):
        parsed = _json(data)
        if parsed is _NONE:
            return _transcript(data)
        data = parsed
    reader = next((one for one in READERS.values() if one.is_it(data)), None)
    if reader is None:
        raise FormatUnknown(problem="it holds no list of messages")
    found = reader.read(data)
    if not found:
        raise FormatUnknown(problem="it holds no conversation")
    return found


def _json(text: str) -> Any:
    """_NONE for what is no JSON: `null` is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NONE


def _transcript(text: str) -> tuple[Incoming, ...]:
    try:
        return transcript.read(text)
    except (FormatUnknown, MessageRefused):
        raise FormatUnknown(problem="it is no JSON, and no two lines of it begin with a name and a colon") from None
