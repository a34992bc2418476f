"""Conversations as files: our JSON, which LangChain reads as it is, and the exports of ChatGPT, Claude and LoCoMo; transcripts.

Invariants: what `session_json` writes is read as the very messages, with their times. Each record stands alone: an invalid one is
named, and the others are still read. The form is found by content. Pure.
ChatGPT exports each conversation as a tree: the branch that ends in `current_node` is read, and how many messages of other
branches were left out is noted. LoCoMo's times have no zone and hold for a session as a whole: they are taken as UTC.
Source: SESSION 6; `text/transcripts.py`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from memoir_engine.core import validation
from memoir_engine.core.errors import FormatUnknown, InvalidSetting, MessageRefused
from memoir_engine.core.number_words import counted
from memoir_engine.core.results import RefusedMessage, SessionView
from memoir_engine.text.messages import Message, parse_message, parse_time, to_record
from memoir_engine.text.transcripts import read_transcript

FORMAT = "memoir.session"
VERSION = 1
LOCOMO_NOTE = "its times have no zone and are taken as UTC; messages of one session are a second apart"
KINDS = {"user": "human", "assistant": "ai", "system": "system"}  # by the role in foreign forms
NAMELESS_SPEAKERS = frozenset(
    "user human me assistant ai system ユーザー 私 自分 アシスタント ボット システム nutzer assistent ki".split()
)
LOCOMO_SESSION = re.compile(r"session_(0|[1-9][0-9]{0,8})")


@dataclass(frozen=True)
class ParsedConversation:
    """Content of a file. refused: invalid records. session_id: of the session it was exported from, if it says so."""

    format: str
    messages: tuple[Message, ...]
    refused: tuple[RefusedMessage, ...] = ()
    session_id: str | None = None
    metadata: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        return len(self.messages) + len(self.refused)


@dataclass(frozen=True)
class ForeignRecord:
    """Message as LangChain writes it, or the problem with it. where: its place in the file."""

    where: str
    record: Any = None
    problem: str = ""


def session_json(view: SessionView, messages: Iterable[Message]) -> str:
    """Return JSON with the session's id, times, metadata and messages in order, each with its time under `at`."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "session_id": view.session_id,
        "user": view.user,
        "created_at": view.created_at.astimezone(UTC).isoformat(),
        "last_at": view.last_at.astimezone(UTC).isoformat(),
        "metadata": view.metadata,
        "messages": [to_record(message) for message in messages],
    }
    return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)


def read(data: object) -> ParsedConversation:
    """Return the only conversation in the data: bytes, text or parsed JSON. Raises FormatUnknown, InvalidSetting."""
    conversations = read_all(data)
    if len(conversations) > 1:
        problem = f"it holds {len(conversations)} conversations; import_sessions takes each into a session of its own"
        raise FormatUnknown(problem=problem)
    return conversations[0]


def read_all(data: object) -> tuple[ParsedConversation, ...]:
    """Return every conversation in the data, at least one. Raises FormatUnknown, InvalidSetting."""
    if isinstance(data, bytes | bytearray | memoryview):
        try:
            data = bytes(data).decode("utf-8-sig")
        except UnicodeDecodeError as wrong:
            problem, advice = f"byte {wrong.start} is not valid UTF-8", "Save the file as UTF-8 and try again."
            raise InvalidSetting(name="data", value="…", problem=problem, advice=advice) from None
    if not isinstance(data, str):
        return tuple(map(storable, _read_json(data)))
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError):
        return (storable(_read_plain_transcript(data)),)
    return tuple(map(storable, _read_json(parsed)))


def _read_json(data: object) -> tuple[ParsedConversation, ...]:
    """Return every conversation in parsed JSON. Raises FormatUnknown."""
    items = data if isinstance(data, list) else [data]
    for form in FORMS:
        if items and isinstance(items[0], dict) and form.is_it(items[0]):
            return tuple(form.read(item, f"[{n}]." if isinstance(data, list) else "") for n, item in enumerate(items))
    if isinstance(data, list) or (isinstance(data, dict) and isinstance(data.get("messages"), list)):
        return (_read_messages(data),)
    raise FormatUnknown(problem="it holds no list of messages")


def storable(conversation: ParsedConversation) -> ParsedConversation:
    """Refuse an id or metadata that no database can hold, like an invalid message."""
    refused = []
    for name, value in (("session_id", conversation.session_id), ("metadata", conversation.metadata)):
        try:
            if isinstance(value, str):
                validation.text(name, value)
            elif value is not None:
                validation.metadata(value)
        except InvalidSetting as wrong:
            refused.append(RefusedMessage(name, str(wrong.facts["problem"])))
    if not refused:
        return conversation
    return replace(conversation, refused=(*refused, *conversation.refused), session_id=None, metadata=None)


def missing_messages(messages: Sequence[Message], known: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages whose ids are not known; those without an id are compared, and counted, by content."""

    def key(message: Message) -> str:
        if message.id is not None:
            return f"id {message.id}"
        return json.dumps([message.kind, message.name, message.content, message.rest], sort_keys=True)

    counts = Counter(map(key, known))
    missing = []
    for message, name in zip(messages, map(key, messages), strict=True):
        if counts[name]:
            counts[name] -= 1
        else:
            missing.append(message)
    return tuple(missing)


def _parsed_conversation(
    form: str, records: Iterable[ForeignRecord], *, session_id: object = None, title: object = None, notes: tuple[str, ...] = ()
) -> ParsedConversation:
    messages, refused = [], []
    for foreign in records:
        if foreign.problem:
            refused.append(RefusedMessage(foreign.where, foreign.problem))
            continue
        try:
            messages.append(parse_message(foreign.record, foreign.where))
        except MessageRefused as wrong:
            refused.append(RefusedMessage(foreign.where, str(wrong.facts["problem"])))
    metadata = {"title": title.replace("\x00", "")} if isinstance(title, str) and title.strip() else None
    named = session_id if isinstance(session_id, str) and session_id.strip() else None
    return ParsedConversation(form, tuple(messages), tuple(refused), named, metadata, notes)


def _read_messages(data: Any) -> ParsedConversation:
    """Read the JSON of `session_json`, or a plain list of messages."""
    fields = {"messages": data} if isinstance(data, list) else data
    form, metadata = FORMAT if fields.get("format") == FORMAT else "messages", fields.get("metadata")
    records = [ForeignRecord(f"messages[{number}]", record) for number, record in enumerate(fields["messages"])]
    parsed = _parsed_conversation(form, records, session_id=fields.get("session_id"))
    return replace(parsed, metadata=metadata if isinstance(metadata, dict) else None)


def _read_plain_transcript(text: str) -> ParsedConversation:
    """Read lines like `Name: text`; a message goes on until the next such line. Raises FormatUnknown."""
    try:
        utterances = read_transcript(text)
    except (FormatUnknown, MessageRefused):
        raise FormatUnknown(problem="it is not JSON, and no two lines begin with a name and a colon") from None
    records = []
    for number, utterance in enumerate(utterances, 1):
        name = None if utterance.name is None or utterance.name.casefold() in NAMELESS_SPEAKERS else utterance.name
        record = {"type": KINDS.get(utterance.role, "human"), "data": {"content": utterance.text, "name": name}}
        records.append(ForeignRecord(f"message {number}", record | time_field(utterance.at)))
    return _parsed_conversation("transcript", records)


def time_field(value: object) -> dict[str, Any]:
    """Return the time as the field `at`, or nothing if it is missing or invalid."""
    at = parse_time(value)
    return {} if at is None else {"at": at.isoformat()}


def read_chatgpt(data: Any, where: str) -> ParsedConversation:
    """Read one conversation. where: its place in the file, with a dot behind, or nothing."""
    mapping = data.get("mapping") if isinstance(data, dict) else None
    if not isinstance(mapping, dict):
        return _parsed_conversation(
            "chatgpt", [ForeignRecord(where[:-1] or "conversation", None, "it has no mapping of messages")]
        )
    branch = _chatgpt_branch(mapping, data.get("current_node"))
    shown = [message for key in branch if (message := _chatgpt_message(mapping[key], f"{where}mapping[{key!r}]"))]
    others = sum(_chatgpt_message(node, "") is not None for key, node in mapping.items() if key not in branch)
    notes = (f"{counted(others, 'message of another branch was', 'messages of other branches were')} left out",) if others else ()
    session_id = data.get("conversation_id") or data.get("id")
    return _parsed_conversation("chatgpt", shown, session_id=session_id, title=data.get("title"), notes=notes)


def _chatgpt_branch(mapping: Mapping[str, Any], last: object) -> list[str]:
    """Return the keys from the root to the node last seen; if none is named, to the last one."""
    key = last if isinstance(last, str) and last in mapping else next(reversed(list(mapping)), None)
    branch: list[str] = []
    while isinstance(key, str) and key in mapping and key not in branch:
        branch.append(key)
        key = mapping[key].get("parent") if isinstance(mapping[key], dict) else None
    return branch[::-1]


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
    kind = KINDS.get(role, "chat")
    data: dict[str, Any] = {"content": content, "id": message.get("id")}
    if kind == "chat":
        data |= {"role": role, "name": author.get("name") if isinstance(author, dict) else None}
    if isinstance(metadata.get("model_slug"), str):
        data["response_metadata"] = {"model_name": metadata["model_slug"]}
    return ForeignRecord(where, {"type": kind, "data": data, **time_field(message.get("create_time"))})


def _chatgpt_content(content: object) -> str | list[Any]:
    """Return the text, or the parts if any is not text: a picture or sound is kept as its reference, the export lacks it."""
    if not isinstance(content, dict):
        return content if isinstance(content, str) else ""
    if not isinstance(content.get("parts"), list):
        texts = (content.get(name) for name in ("text", "result", "content"))
        return next((text for text in texts if isinstance(text, str)), "")
    parts = [part for part in content["parts"] if part not in ("", None)]
    if all(isinstance(part, str) for part in parts):
        return "\n".join(parts)
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, str):
            blocks.append({"type": "text", "text": part})
        else:
            block = part if isinstance(part, dict) else {"text": json.dumps(part, default=str)}
            blocks.append({**block, "type": str(block.get("content_type") or "other")})
    return blocks


def read_claude(data: Any, where: str) -> ParsedConversation:
    """Read one conversation. where: its place in the file, with a dot behind, or nothing."""
    messages = data.get("chat_messages") if isinstance(data, dict) else None
    if not isinstance(messages, list):
        return _parsed_conversation("claude", [ForeignRecord(where[:-1] or "conversation", None, "it has no chat_messages")])
    records = [_claude_message(message, f"{where}chat_messages[{number}]") for number, message in enumerate(messages)]
    attached = sum("attachments" in foreign.record["data"].get("additional_kwargs", {}) for foreign in records if foreign.record)
    notes = (f"text of attachments is kept beside {attached} of the messages, not in them",) if attached else ()
    return _parsed_conversation("claude", records, session_id=data.get("uuid"), title=data.get("name"), notes=notes)


def _claude_message(message: object, where: str) -> ForeignRecord:
    if not isinstance(message, dict):
        return ForeignRecord(where, None, "not a record")
    sender = message.get("sender")
    if sender not in ("human", "assistant"):
        return ForeignRecord(where, None, f"its sender {sender!r:.60} is unknown")
    data: dict[str, Any] = {"content": claude_content(message), "id": message.get("uuid")}
    lists = [message[name] for name in ("attachments", "files") if isinstance(message.get(name), list)]
    files, attachments = [], []
    for attached in (item for items in lists for item in items if isinstance(item, dict)):
        name, text = attached.get("file_name"), attached.get("extracted_content")
        if isinstance(name, str) and name:
            files.append(name)
        if isinstance(text, str) and text:
            attachments.append({"file_name": str(name or ""), "text": text})
    beside = {name: items for name, items in (("files", files), ("attachments", attachments)) if items}
    if beside:
        data["additional_kwargs"] = beside
    return ForeignRecord(where, {"type": KINDS.get(sender, "human"), "data": data, **time_field(message.get("created_at"))})


def claude_content(message: dict[str, Any]) -> str | list[Any]:
    """Return the parts if any is more than text, else the text."""
    parts = message.get("content")
    if isinstance(parts, list) and parts and all(isinstance(part, dict) for part in parts):
        if all(part.get("type") == "text" and isinstance(part.get("text"), str) for part in parts):
            return "\n".join(part["text"] for part in parts)
        return parts
    text = message.get("text")
    return text if isinstance(text, str) else ""


def _is_locomo(data: dict[str, Any]) -> bool:
    talk = data.get("conversation")
    return isinstance(talk, dict) and "speaker_a" in talk and any(LOCOMO_SESSION.fullmatch(name) for name in talk)


def _read_locomo(data: Any, where: str) -> ParsedConversation:
    """Read one sample: a conversation over several sessions. where: its place in the file, with a dot behind, or nothing."""
    talk = data.get("conversation") if isinstance(data, dict) else None
    if not isinstance(talk, dict):
        return _parsed_conversation("locomo", [ForeignRecord(where[:-1] or "sample", None, "it has no conversation")])
    numbers = sorted(int(match[1]) for match in map(LOCOMO_SESSION.fullmatch, talk) if match)
    records = [record for number in numbers for record in _locomo_session(talk, number, where)]
    title = f"{talk.get('speaker_a')} and {talk.get('speaker_b')}"
    return _parsed_conversation("locomo", records, session_id=data.get("sample_id"), title=title, notes=(LOCOMO_NOTE,))


def _locomo_session(talk: dict[str, Any], number: int, where: str) -> list[ForeignRecord]:
    """Read one session, whose time is written like `1:56 pm on 8 May, 2023`."""
    messages, place = talk[f"session_{number}"], f"{where}conversation.session_{number}"
    if not isinstance(messages, list):
        return [ForeignRecord(place, None, "not a list of messages")]
    try:
        written = str(talk.get(f"session_{number}_date_time")).strip()
        began = datetime.strptime(written, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        began = None
    return [_locomo_message(message, f"{place}[{at}]", began, at) for at, message in enumerate(messages)]


def _locomo_message(message: object, where: str, began: datetime | None, seconds: int) -> ForeignRecord:
    if not isinstance(message, dict) or not isinstance(message.get("speaker"), str):
        return ForeignRecord(where, None, "it has no speaker")
    data: dict[str, Any] = {"content": message.get("text"), "id": message.get("dia_id"), "name": message["speaker"]}
    if message.get("blip_caption"):
        data["additional_kwargs"] = {"picture": message["blip_caption"]}
    try:
        at = began and began + timedelta(seconds=seconds)
    except OverflowError:  # the last day of the calendar
        at = began
    return ForeignRecord(where, {"type": "human", "data": data, **time_field(at)})


class Form(NamedTuple):
    """is_it: tells the form by the first conversation. read: one conversation, by its place in the file."""

    is_it: Callable[[dict[str, Any]], bool]
    read: Callable[[Any, str], ParsedConversation]


FORMS = (
    Form(lambda first: isinstance(first.get("mapping"), dict), read_chatgpt),
    Form(lambda first: isinstance(first.get("chat_messages"), list), read_claude),
    Form(_is_locomo, _read_locomo),
)
