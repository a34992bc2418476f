"""Messages of a session as pydantic-ai has them, and what came of a turn as messages of a session.

Invariant: a model is handed no call without its result and no result without its call: servers refuse both.
Source: SESSION 1.2, 1.3, 1.5.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memoir_engine.text.messages import Message, base_kind

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse


def to_model(history: Sequence[Message]) -> list[ModelMessage]:
    """In order; what a model cannot be told (removals, calls that could not be read) is left out."""
    from pydantic_ai.messages import ModelRequest, ModelResponse

    answered = {one.rest.get("tool_call_id") for one in history if base_kind(one.kind) == "tool"}
    asked: dict[str, str] = {}
    found: list[ModelMessage] = []
    for message in history:
        if base_kind(message.kind) == "ai":
            parts = _said(message, answered, asked)
            if parts:
                found.append(ModelResponse(parts=parts))
        else:
            part = _told(message, asked)
            if part is not None and found and isinstance(found[-1], ModelRequest):
                found[-1] = ModelRequest(parts=[*found[-1].parts, part])
            elif part is not None:
                found.append(ModelRequest(parts=[part]))
    return found


def from_model(messages: Iterable[ModelMessage]) -> tuple[Message, ...]:
    """What a turn added, without the person's own message."""
    found: list[Message] = []
    for one in messages:
        found += _results(one) if one.kind == "request" else _answers(one)
    return tuple(found)


def settled(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Without calls that were not made."""
    done = {part.tool_call_id for one in messages for part in one.parts if part.part_kind in ("tool-return", "retry-prompt")}
    found: list[ModelMessage] = []
    for one in messages:
        if one.kind == "response":
            parts = [part for part in one.parts if part.part_kind != "tool-call" or part.tool_call_id in done]
            if parts:
                found.append(replace(one, parts=parts))
        else:
            found.append(one)
    return found


def _said(message: Message, answered: set[Any], asked: dict[str, str]) -> list[Any]:
    from pydantic_ai.messages import TextPart, ToolCallPart

    parts: list[Any] = [TextPart(message.text)] if message.text else []
    for call in message.rest.get("tool_calls", ()):
        if call["id"] in answered:
            asked[call["id"]] = call["name"]
            parts.append(ToolCallPart(call["name"], call["args"], call["id"]))
    return parts


def _told(message: Message, asked: dict[str, str]) -> Any:
    from pydantic_ai.messages import SystemPromptPart, ToolReturnPart, UserPromptPart

    kind = base_kind(message.kind)
    if kind == "system":
        return SystemPromptPart(message.text)
    if kind == "tool":
        number = message.rest["tool_call_id"]
        return ToolReturnPart(asked.pop(number), message.text, number) if number in asked else None
    if kind == "remove":
        return None
    named = message.name or (message.rest.get("role") if kind in ("chat", "function") else None)
    return UserPromptPart(f"{named}: {message.text}" if named else message.text)


def _results(request: ModelRequest) -> list[Message]:
    found = []
    for part in request.parts:
        if part.part_kind == "tool-return":
            failed = isinstance(part.metadata, dict) and part.metadata.get("failed")
            rest = {"tool_call_id": part.tool_call_id, **({"status": "error"} if failed else {})}
            found.append(Message("tool", part.model_response_str(), None, part.tool_name, None, rest))
        elif part.part_kind == "retry-prompt" and part.tool_name:
            rest = {"tool_call_id": part.tool_call_id, "status": "error"}
            found.append(Message("tool", part.model_response(), None, part.tool_name, None, rest))
    return found


def _answers(response: ModelResponse) -> list[Message]:
    text = response.text or ""
    calls = [
        {"name": part.tool_name, "args": _args(part.args), "id": part.tool_call_id, "type": "tool_call"}
        for part in response.parts
        if part.part_kind == "tool-call"
    ]
    if not text and not calls:
        return []
    usage = {"input_tokens": response.usage.input_tokens, "output_tokens": response.usage.output_tokens}
    told = {"model_name": response.model_name, "finish_reason": response.finish_reason}
    rest: dict[str, Any] = {
        "response_metadata": {name: value for name, value in told.items() if value},
        "usage_metadata": {**usage, "total_tokens": sum(usage.values())},
        **({"tool_calls": calls} if calls else {}),
    }
    return [Message("ai", text, None, None, None, rest)]


def _args(args: object) -> dict[str, Any]:
    """As the model gave them; what is no object is kept under a name of its own."""
    try:
        found = json.loads(args) if isinstance(args, str) else args
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {} if args in (None, "") else {"unreadable": str(args)}
