"""ChatGPT's export (conversations.json): each conversation is a tree of messages, of which one line of descent was last seen.

Invariant: what is read is the line that ends in `current_node`; how many messages of other lines were left out is said.
Pure. Source: SESSION 6.3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memoir_engine.sessions.reading import Incoming, Told, incoming, iso

FORMAT = "chatgpt"
_KINDS = {"user": "human", "assistant": "ai", "system": "system"}


def is_it(data: object) -> bool:
    """One conversation, or a list of them."""
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and isinstance(first.get("mapping"), dict)


def read(data: Any) -> tuple[Incoming, ...]:
    listed = data if isinstance(data, list) else [data]
    return tuple(_conversation(one, f"[{at}]" if isinstance(data, list) else "") for at, one in enumerate(listed))


def _conversation(data: Any, where: str) -> Incoming:
    if not isinstance(data, dict) or not isinstance(data.get("mapping"), dict):
        return incoming(FORMAT, [Told(where or "conversation", None, "it has no mapping of messages")])
    mapping = data["mapping"]
    line = _line(mapping, data.get("current_node"))
    told = [_message(mapping[key], f"{where}.mapping[{key!r}]".lstrip(".")) for key in line]
    shown = [one for one in told if one is not None]
    others = sum(_is_said(node) for key, node in mapping.items() if key not in line)
    notes = (f"{others} messages of other branches were left out",) if others else ()
    named = data.get("conversation_id") or data.get("id")
    return incoming(FORMAT, shown, session_id=named, title=data.get("title"), notes=notes)


def _line(mapping: Mapping[str, Any], last: object) -> list[str]:
    """From the root to the node last seen; where none is named, to the deepest that was said last."""
    key = last if isinstance(last, str) and last in mapping else next(reversed(list(mapping)), None)
    line: list[str] = []
    while isinstance(key, str) and key in mapping and key not in line:
        line.append(key)
        key = mapping[key].get("parent") if isinstance(mapping[key], dict) else None
    return line[::-1]


def _is_said(node: object) -> bool:
    return _message(node, "") is not None


def _message(node: object, where: str) -> Told | None:
    """None for what was never shown: roots, hidden instructions, empty ones."""
    message = node.get("message") if isinstance(node, dict) else None
    if message is None:
        return None
    if not isinstance(message, dict):
        return Told(where, None, "its message is no record")
    author, metadata = message.get("author"), message.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    role = author.get("role") if isinstance(author, dict) else None
    if not isinstance(role, str):
        return Told(where, None, "it has no author")
    content = _content(message.get("content"))
    if content in ("", []) or metadata.get("is_visually_hidden_from_conversation"):
        return None
    kind = _KINDS.get(role, "chat")
    data: dict[str, Any] = {"content": content, "id": message.get("id")}
    if kind == "chat":
        data |= {"role": role, "name": author.get("name") if isinstance(author, dict) else None}
    if isinstance(metadata.get("model_slug"), str):
        data["response_metadata"] = {"model_name": metadata["model_slug"]}
    return Told(where, {"type": kind, "data": data, **iso(message.get("create_time"))})


def _content(content: object) -> str | list[Any]:
    if not isinstance(content, dict):
        return content if isinstance(content, str) else ""
    parts = content.get("parts")
    if isinstance(parts, list):
        kept = [part for part in parts if part not in ("", None)]
        if all(isinstance(part, str) for part in kept):
            return "\n".join(kept)
        return [{"type": "text", "text": part} if isinstance(part, str) else _other(part) for part in kept]
    for name in ("text", "result", "content"):
        if isinstance(content.get(name), str):
            return str(content[name])
    return ""


def _other(part: object) -> dict[str, Any]:
    """A picture or sound, which an export names and does not hold."""
    told = dict(part) if isinstance(part, dict) else {"text": json.dumps(part, default=str)}
    return {**told, "type": str(told.get("content_type") or "other")}
