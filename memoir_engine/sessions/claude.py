"""Claude's export: conversations with `chat_messages`, each with its sender, time and parts.

Pure. Source: SESSION 6.3.
"""

from __future__ import annotations

from typing import Any

from memoir_engine.sessions.reading import Incoming, Told, incoming, iso

FORMAT = "claude"
_KINDS = {"human": "human", "assistant": "ai"}


def is_it(data: object) -> bool:
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and isinstance(first.get("chat_messages"), list)


def read(data: Any) -> tuple[Incoming, ...]:
    listed = data if isinstance(data, list) else [data]
    return tuple(_conversation(one, f"[{at}]." if isinstance(data, list) else "") for at, one in enumerate(listed))


def _conversation(data: Any, where: str) -> Incoming:
    if not isinstance(data, dict) or not isinstance(data.get("chat_messages"), list):
        return incoming(FORMAT, [Told(where.strip(".") or "conversation", None, "it has no chat_messages")])
    told = [_message(one, f"{where}chat_messages[{at}]") for at, one in enumerate(data["chat_messages"])]
    held = sum("attachments" in one.record["data"].get("additional_kwargs", {}) for one in told if one.record)
    notes = (f"text of attachments is kept beside {held} of the messages, not in them",) if held else ()
    return incoming(FORMAT, told, session_id=data.get("uuid"), title=data.get("name"), notes=notes)


def _message(message: object, where: str) -> Told:
    if not isinstance(message, dict):
        return Told(where, None, "it is no record")
    kind = _KINDS.get(str(message.get("sender")))
    if kind is None:
        return Told(where, None, f"its sender {message.get('sender')!r:.60} is unknown")
    data: dict[str, Any] = {"content": _content(message), "id": message.get("uuid")}
    held = [one for name in ("attachments", "files") if isinstance(message.get(name), list) for one in message[name]]
    named = [one.get("file_name") for one in held if isinstance(one, dict)]
    files = [name for name in named if isinstance(name, str) and name]
    texts = [{"file_name": str(one.get("file_name") or ""), "text": text} for one in held if (text := _extracted(one))]
    if files or texts:
        data["additional_kwargs"] = {**({"files": files} if files else {}), **({"attachments": texts} if texts else {})}
    return Told(where, {"type": kind, "data": data, **iso(message.get("created_at"))})


def _extracted(attachment: object) -> str:
    """What the export holds of its text."""
    text = attachment.get("extracted_content") if isinstance(attachment, dict) else None
    return text if isinstance(text, str) else ""


def _content(message: dict[str, Any]) -> str | list[Any]:
    """The parts where any is more than text, else the text."""
    parts = message.get("content")
    if isinstance(parts, list) and parts and all(isinstance(part, dict) for part in parts):
        if all(part.get("type") == "text" and isinstance(part.get("text"), str) for part in parts):
            return "\n".join(part["text"] for part in parts)
        return parts
    text = message.get("text")
    return text if isinstance(text, str) else ""
