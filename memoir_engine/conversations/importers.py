"""Read conversations in the forms of others: ChatGPT, Claude, LoCoMo, plain transcripts; the form is found by content.

A form is an entry of READERS: `is_it` looks at parsed JSON, `read` returns its conversations.
ChatGPT exports each conversation as a tree: the branch that ends in `current_node` is read, and how many messages of other
branches were left out is noted. LoCoMo's times have no zone and hold for a session as a whole: they are taken as UTC.
Pure. Source: SESSION 6.3, 6.4; `text/transcripts.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from memoir_engine.conversations import transfer
from memoir_engine.conversations.transfer import ForeignRecord, ParsedConversation, parsed_conversation, time_field
from memoir_engine.core.errors import FormatUnknown, MessageRefused
from memoir_engine.text.transcripts import read_transcript

CHATGPT = "chatgpt"
_CHATGPT_KINDS = {"user": "human", "assistant": "ai", "system": "system"}


def is_chatgpt(data: object) -> bool:
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and isinstance(first.get("mapping"), dict)


def read_chatgpt(data: Any) -> tuple[ParsedConversation, ...]:
    listed = data if isinstance(data, list) else [data]
    return tuple(_chatgpt_conversation(one, f"[{at}]" if isinstance(data, list) else "") for at, one in enumerate(listed))


def _chatgpt_conversation(data: Any, where: str) -> ParsedConversation:
    if not isinstance(data, dict) or not isinstance(data.get("mapping"), dict):
        return parsed_conversation(CHATGPT, [ForeignRecord(where or "conversation", None, "it has no mapping of messages")])
    mapping = data["mapping"]
    line = _line(mapping, data.get("current_node"))
    told = [_chatgpt_message(mapping[key], f"{where}.mapping[{key!r}]".lstrip(".")) for key in line]
    shown = [one for one in told if one is not None]
    others = sum(_is_said(node) for key, node in mapping.items() if key not in line)
    notes = (f"{others} messages of other branches were left out",) if others else ()
    named = data.get("conversation_id") or data.get("id")
    return parsed_conversation(CHATGPT, shown, session_id=named, title=data.get("title"), notes=notes)


def _line(mapping: Mapping[str, Any], last: object) -> list[str]:
    """Return the keys from the root to the node last seen; if none is named, to the last one."""
    key = last if isinstance(last, str) and last in mapping else next(reversed(list(mapping)), None)
    line: list[str] = []
    while isinstance(key, str) and key in mapping and key not in line:
        line.append(key)
        key = mapping[key].get("parent") if isinstance(mapping[key], dict) else None
    return line[::-1]


def _is_said(node: object) -> bool:
    return _chatgpt_message(node, "") is not None


def _chatgpt_message(node: object, where: str) -> ForeignRecord | None:
    """Return None for nodes that were never shown: roots, hidden instructions, empty ones."""
    message = node.get("message") if isinstance(node, dict) else None
    if message is None:
        return None
    if not isinstance(message, dict):
        return ForeignRecord(where, None, "its message is not a record")
    author, metadata = message.get("author"), message.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    role = author.get("role") if isinstance(author, dict) else None
    if not isinstance(role, str):
        return ForeignRecord(where, None, "it has no author")
    content = _chatgpt_content(message.get("content"))
    if content in ("", []) or metadata.get("is_visually_hidden_from_conversation"):
        return None
    kind = _CHATGPT_KINDS.get(role, "chat")
    data: dict[str, Any] = {"content": content, "id": message.get("id")}
    if kind == "chat":
        data |= {"role": role, "name": author.get("name") if isinstance(author, dict) else None}
    if isinstance(metadata.get("model_slug"), str):
        data["response_metadata"] = {"model_name": metadata["model_slug"]}
    return ForeignRecord(where, {"type": kind, "data": data, **time_field(message.get("create_time"))})


def _chatgpt_content(content: object) -> str | list[Any]:
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
    """Keep the reference to a picture or sound, which the export does not contain."""
    told = dict(part) if isinstance(part, dict) else {"text": json.dumps(part, default=str)}
    return {**told, "type": str(told.get("content_type") or "other")}


CLAUDE = "claude"
_CLAUDE_KINDS = {"human": "human", "assistant": "ai"}


def is_claude(data: object) -> bool:
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and isinstance(first.get("chat_messages"), list)


def read_claude(data: Any) -> tuple[ParsedConversation, ...]:
    listed = data if isinstance(data, list) else [data]
    return tuple(_claude_conversation(one, f"[{at}]." if isinstance(data, list) else "") for at, one in enumerate(listed))


def _claude_conversation(data: Any, where: str) -> ParsedConversation:
    if not isinstance(data, dict) or not isinstance(data.get("chat_messages"), list):
        return parsed_conversation(CLAUDE, [ForeignRecord(where.strip(".") or "conversation", None, "it has no chat_messages")])
    told = [_claude_message(one, f"{where}chat_messages[{at}]") for at, one in enumerate(data["chat_messages"])]
    held = sum("attachments" in one.record["data"].get("additional_kwargs", {}) for one in told if one.record)
    notes = (f"text of attachments is kept beside {held} of the messages, not in them",) if held else ()
    return parsed_conversation(CLAUDE, told, session_id=data.get("uuid"), title=data.get("name"), notes=notes)


def _claude_message(message: object, where: str) -> ForeignRecord:
    if not isinstance(message, dict):
        return ForeignRecord(where, None, "not a record")
    kind = _CLAUDE_KINDS.get(str(message.get("sender")))
    if kind is None:
        return ForeignRecord(where, None, f"its sender {message.get('sender')!r:.60} is unknown")
    data: dict[str, Any] = {"content": _claude_content(message), "id": message.get("uuid")}
    held = [one for name in ("attachments", "files") if isinstance(message.get(name), list) for one in message[name]]
    named = [one.get("file_name") for one in held if isinstance(one, dict)]
    files = [name for name in named if isinstance(name, str) and name]
    texts = [{"file_name": str(one.get("file_name") or ""), "text": text} for one in held if (text := _extracted(one))]
    if files or texts:
        data["additional_kwargs"] = {**({"files": files} if files else {}), **({"attachments": texts} if texts else {})}
    return ForeignRecord(where, {"type": kind, "data": data, **time_field(message.get("created_at"))})


def _extracted(attachment: object) -> str:
    text = attachment.get("extracted_content") if isinstance(attachment, dict) else None
    return text if isinstance(text, str) else ""


def _claude_content(message: dict[str, Any]) -> str | list[Any]:
    """Return the parts if any is more than text, else the text."""
    parts = message.get("content")
    if isinstance(parts, list) and parts and all(isinstance(part, dict) for part in parts):
        if all(part.get("type") == "text" and isinstance(part.get("text"), str) for part in parts):
            return "\n".join(part["text"] for part in parts)
        return parts
    text = message.get("text")
    return text if isinstance(text, str) else ""


LOCOMO = "locomo"
NOTE = "its times have no zone and are taken as UTC; messages of one session are a second apart"

_SESSION = re.compile(r"session_(0|[1-9][0-9]{0,8})")


def is_locomo(data: object) -> bool:
    first = data[0] if isinstance(data, list) and data else data
    talk = first.get("conversation") if isinstance(first, dict) else None
    return isinstance(talk, dict) and "speaker_a" in talk and any(_SESSION.fullmatch(name) for name in talk)


def read_locomo(data: Any) -> tuple[ParsedConversation, ...]:
    listed = data if isinstance(data, list) else [data]
    return tuple(_sample(one, f"[{at}]." if isinstance(data, list) else "") for at, one in enumerate(listed))


def _sample(data: Any, where: str) -> ParsedConversation:
    talk = data.get("conversation") if isinstance(data, dict) else None
    if not isinstance(talk, dict):
        return parsed_conversation(LOCOMO, [ForeignRecord(where.strip(".") or "sample", None, "it has no conversation")])
    numbers = sorted(int(found[1]) for name in talk if (found := _SESSION.fullmatch(name)))
    told = [one for number in numbers for one in _session(talk, number, where)]
    return parsed_conversation(LOCOMO, told, session_id=data.get("sample_id"), title=_title(talk), notes=(NOTE,))


def _session(talk: dict[str, Any], number: int, where: str) -> list[ForeignRecord]:
    said = talk[f"session_{number}"]
    place = f"{where}conversation.session_{number}"
    if not isinstance(said, list):
        return [ForeignRecord(place, None, "not a list of messages")]
    began = _time(talk.get(f"session_{number}_date_time"))
    return [_locomo_message(one, f"{place}[{at}]", _later(began, at)) for at, one in enumerate(said)]


def _later(began: datetime | None, seconds: int) -> datetime | None:
    try:
        return began and began + timedelta(seconds=seconds)
    except OverflowError:  # the last day of the calendar
        return began


def _locomo_message(message: object, where: str, at: datetime | None) -> ForeignRecord:
    if not isinstance(message, dict) or not isinstance(message.get("speaker"), str):
        return ForeignRecord(where, None, "it has no speaker")
    data: dict[str, Any] = {"content": message.get("text"), "id": message.get("dia_id"), "name": message["speaker"]}
    if message.get("blip_caption"):
        data["additional_kwargs"] = {"picture": message["blip_caption"]}
    return ForeignRecord(where, {"type": "human", "data": data, **({"at": at.isoformat()} if at else {})})


def _title(talk: dict[str, Any]) -> str:
    return f"{talk.get('speaker_a')} and {talk.get('speaker_b')}"


def _time(value: object) -> datetime | None:
    """Parse a time such as `1:56 pm on 8 May, 2023`."""
    if not isinstance(value, str):
        return None
    try:
        return datetime.strptime(value.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None


TRANSCRIPT = "transcript"
_TRANSCRIPT_KINDS = {"user": "human", "assistant": "ai", "system": "system"}
_NAMELESS = frozenset("user human me assistant ai system".split())


def read_plain_transcript(text: str) -> tuple[ParsedConversation, ...]:
    """Read lines like `Name: text`; a message goes on until the next such line. Raises FormatUnknown."""
    told = []
    for number, one in enumerate(read_transcript(text)):
        name = None if one.name is None or one.name.casefold() in _NAMELESS else one.name
        record: dict[str, Any] = {"type": _TRANSCRIPT_KINDS.get(one.role, "human"), "data": {"content": one.text, "name": name}}
        told.append(ForeignRecord(f"message {number + 1}", {**record, **({"at": one.at.isoformat()} if one.at else {})}))
    return (parsed_conversation(TRANSCRIPT, told),)


_NONE = object()


class Reader(NamedTuple):
    is_it: Callable[[object], bool]
    read: Callable[[Any], tuple[ParsedConversation, ...]]


# the narrow forms first: a list of messages may be any list
READERS: dict[str, Reader] = {
    CHATGPT: Reader(is_chatgpt, read_chatgpt),
    CLAUDE: Reader(is_claude, read_claude),
    LOCOMO: Reader(is_locomo, read_locomo),
    "messages": Reader(transfer.is_ours, lambda data: (transfer.read(data),)),
}


def read(data: object) -> ParsedConversation:
    """Return the only conversation in the data, which is text or parsed JSON. Raises FormatUnknown."""
    found = read_all(data)
    if len(found) > 1:
        raise FormatUnknown(problem=f"it holds {len(found)} conversations; import_sessions takes each into a session of its own")
    return found[0]


def read_all(data: object) -> tuple[ParsedConversation, ...]:
    """Return every conversation in the data. Raises FormatUnknown."""
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
    """Parse JSON; return _NONE for invalid JSON, since `null` is valid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NONE


def _transcript(text: str) -> tuple[ParsedConversation, ...]:
    try:
        return read_plain_transcript(text)
    except (FormatUnknown, MessageRefused):
        raise FormatUnknown(problem="it is not JSON, and no two lines begin with a name and a colon") from None
