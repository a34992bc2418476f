"""What the fields of a message may hold: what LangChain takes, and what every database can keep.

Pure. Source: SESSION 6.4; the classes of langchain_core.messages.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

MOST_DEEP = 60  # of nested values; far above what any client writes, far below what a reader of JSON can bear
_OF_EACH = {"content", "type", "name", "id"}


class Wrong(ValueError):
    """Why a record is no message."""


def check(base: str, data: dict[str, Any]) -> dict[str, Any]:
    """The fields besides content, type, name and id. base: kind without chunk. Raises Wrong."""
    _check_content(base, data)
    for name in ("name", "id"):
        value = data.get(name)
        if value is not None and not isinstance(value, str) and not (name == "id" and _is_number(value)):
            raise Wrong(f"its {name} is no text")
    rest = {name: value for name, value in data.items() if name not in _OF_EACH}
    for name in ("additional_kwargs", "response_metadata"):
        if not isinstance(rest.get(name, {}), dict):
            raise Wrong(f"its {name} is no record")
    if base in _CHECKS:
        _CHECKS[base](data)
    check_storable(data)
    return rest


def check_storable(value: object, path: str = "", deep: int = 0) -> None:
    """JSON that every database can keep. Raises Wrong naming the place."""
    here = path or "it"
    if deep > MOST_DEEP:
        raise Wrong(f"{here} is nested too deeply")
    if isinstance(value, str):
        _check_text(value, here)
    elif isinstance(value, dict):
        for name, one in value.items():
            if not isinstance(name, str):
                raise Wrong(f"{here} has a name that is no text")
            _check_text(name, here)
            check_storable(one, f"{path}.{name}" if path else name, deep + 1)
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            check_storable(one, f"{path}[{number}]", deep + 1)
    elif isinstance(value, float):
        if not isfinite(value):
            raise Wrong(f"{here} is {value}, which JSON cannot say")
    elif value is not None and not isinstance(value, bool | int):
        raise Wrong(f"{here} is a {type(value).__name__}, which JSON cannot say")


def _check_text(value: str, here: str) -> None:
    if "\x00" in value:
        raise Wrong(f"{here} holds a NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Wrong(f"{here} holds half of a surrogate pair") from None


def _check_content(base: str, data: dict[str, Any]) -> None:
    if "content" not in data:
        if base == "remove":
            return
        raise Wrong("it has no content")
    content = data["content"]
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise Wrong(f"its content is {'nothing' if content is None else type(content).__name__}, not a text or a list of parts")
    if any(not isinstance(part, str | dict) for part in content):
        raise Wrong("a part of its content is neither a text nor a record")


def _ai(data: dict[str, Any]) -> None:
    for call in _list(data, "tool_calls"):
        if not isinstance(call.get("name"), str) or not isinstance(call.get("args"), dict) or "id" not in call:
            raise Wrong("a tool call needs a name, args and an id")
        _text_or_none(call, "id")
    for name in ("invalid_tool_calls", "tool_call_chunks"):
        for call in _list(data, name):
            for each in ("name", "args", "id", "error"):
                _text_or_none(call, each)
    usage = data.get("usage_metadata")
    if usage is None:
        return
    counts = ("input_tokens", "output_tokens", "total_tokens")
    if not isinstance(usage, dict) or any(not isinstance(usage.get(name), int) for name in counts):
        raise Wrong("its usage_metadata does not count input, output and total tokens")


def _tool(data: dict[str, Any]) -> None:
    if not isinstance(data.get("tool_call_id"), str):
        raise Wrong("it has no tool_call_id")
    if data.get("status", "success") not in ("success", "error"):
        raise Wrong("its status is neither success nor error")


def _chat(data: dict[str, Any]) -> None:
    if not isinstance(data.get("role"), str):
        raise Wrong("it has no role")


def _function(data: dict[str, Any]) -> None:
    if not isinstance(data.get("name"), str):
        raise Wrong("it has no name of a function")


def _remove(data: dict[str, Any]) -> None:
    if data.get("id") is None:
        raise Wrong("it does not say which message is removed")
    if data.get("content"):
        raise Wrong("what removes a message has no content")


_CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "ai": _ai,
    "tool": _tool,
    "chat": _chat,
    "function": _function,
    "remove": _remove,
}


def _list(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = data.get(name, [])
    if not isinstance(found, list) or any(not isinstance(one, dict) for one in found):
        raise Wrong(f"its {name} are no list of records")
    return found


def _text_or_none(record: dict[str, Any], name: str) -> None:
    if record.get(name) is not None and not isinstance(record[name], str):
        raise Wrong(f"the {name} of a tool call is no text")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
