"""A plain transcript: lines like `Name: text`, each message going on until the next such line.

Pure. Source: SESSION 6.3; `text/transcripts.py`.
"""

from __future__ import annotations

from typing import Any

from memoir_engine.sessions.reading import Incoming, Told, incoming
from memoir_engine.text.transcripts import read_transcript

FORMAT = "transcript"
_KINDS = {"user": "human", "assistant": "ai", "system": "system"}
_NAMELESS = frozenset("user human me assistant ai system".split())


def read(text: str) -> tuple[Incoming, ...]:
    """Raises FormatUnknown where it is none."""
    told = []
    for number, one in enumerate(read_transcript(text)):
        name = None if one.name is None or one.name.casefold() in _NAMELESS else one.name
        record: dict[str, Any] = {"type": _KINDS.get(one.role, "human"), "data": {"content": one.text, "name": name}}
        told.append(Told(f"message {number + 1}", {**record, **({"at": one.at.isoformat()} if one.at else {})}))
    return (incoming(FORMAT, told),)
