"""Requests for JSON: the strict schema on the wire, the three output modes, and reading the reply.

Invariant: the wire schema is never stricter than the pydantic model that checks the reply here, so what a server cannot
express (defaults, numeric limits, very long lists of names) is still enforced.
Source: MEMOIR 5.1–5.3, 2A.8; `verified` notes on strict schemas (a default flips `strict`; at most 250 enum values).
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import BaseModel, ValidationError

from memoir_engine.prompts import Prompt

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import ModelRequestParameters

Mode = Literal["native", "tool", "prompted"]
MODES: tuple[Mode, ...] = get_args(Mode)  # in the order of falling back
TOOL_NAME = "final_result"
ENUM_LIMIT = 250  # above it OpenAI also counts characters, and others refuse; the local check stays

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_STRICT_UNKNOWN = frozenset(
    ("title", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength")
    + ("minItems", "maxItems", "uniqueItems", "pattern", "format", "minProperties", "maxProperties")
)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


class Undecodable(ValueError):
    """The reply holds no JSON object."""


@lru_cache(maxsize=64)
def wire_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema to send; shared, so callers copy before they change it."""
    cleaned = schema.model_json_schema()
    nodes: list[Any] = [cleaned]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes += node
        if not isinstance(node, dict):
            continue
        for key in _STRICT_UNKNOWN & node.keys():
            del node[key]
        if len(node.get("enum", ())) > ENUM_LIMIT:
            del node["enum"]
        if node.get("type") == "object" and "properties" in node:
            node |= {"required": list(node["properties"]), "additionalProperties": False}
        for key, value in node.items():
            if key in ("properties", "$defs"):  # their names are data: one may be called `title` or `format`
                nodes += value.values()
            elif key not in ("enum", "const", "required"):
                nodes.append(value)
    return cleaned


def usual_mode(profile: dict[str, Any]) -> Mode:
    """Return the output mode that the model claims; a server behind a base URL may not keep the claim."""
    if profile.get("supports_json_schema_output", False):
        return "native"
    return "tool" if profile.get("supports_tools", True) else "prompted"


def takes_temperature(profile: dict[str, Any]) -> bool:
    """False for OpenAI's models that always reason: they refuse a temperature."""
    if not profile.get("openai_supports_reasoning", False):
        return True
    can_stop = profile.get("openai_supports_reasoning_effort_none", False)
    return bool(can_stop and not profile.get("thinking_enabled_by_default", False))


def modes_from(first: Mode, profile: dict[str, Any]) -> tuple[Mode, ...]:
    """`first` and what to fall back to, leaving out what the model says it cannot."""
    later = MODES[MODES.index(first) :]
    return tuple(mode for mode in later if mode != "tool" or profile.get("supports_tools", True))


def request_parameters(mode: Mode, prompt: Prompt) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    schema, name = wire_schema(prompt.schema), prompt.schema.__name__
    if mode == "tool":
        told = "The answer, in the form asked for."
        tool = ToolDefinition(name=TOOL_NAME, parameters_json_schema=schema, description=told, kind="output", strict=True)
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
    wanted = OutputObjectDefinition(schema, name=name, strict=True if mode == "native" else None)
    return ModelRequestParameters(output_mode=mode, output_object=wanted)


def reply_text(response: ModelResponse) -> str:
    """The answer as the model gave it: the arguments of its tool call, else its text."""
    for part in response.parts:
        if part.part_kind == "tool-call":
            return part.args_as_json_str()
    return response.text or ""


def decode(text: str) -> dict[str, Any]:
    """The JSON object in a reply; a fence or a sentence around it is left off, and so is what nobody can store.

    Raises Undecodable.
    """
    start = text.find("{")
    if start < 0:
        raise Undecodable("it holds no JSON object" if text.strip() else "it is empty")
    try:
        found, end = _DECODER.raw_decode(text, start)
        if "\\u" in text or _UNSTORABLE.search(text):
            found = _storable(found)
    except (ValueError, RecursionError) as broken:
        raise Undecodable(f"it is not JSON: {broken}") from None
    if not isinstance(found, dict) or text[end:].strip().startswith(("{", "[")):
        raise Undecodable("it holds more than one JSON value")
    return found


def problem_of(schema: type[BaseModel], data: dict[str, Any]) -> tuple[BaseModel | None, str]:
    """The checked value, or None and what is wrong in one line, without the list of all allowed names."""
    try:
        return schema.model_validate(data), ""
    except ValidationError as refused:
        problems = []
        for error in refused.errors(include_url=False)[:5]:
            is_choice = error["type"] == "literal_error"
            problem = f"{str(error['input'])[:80]!r} is not one of the allowed values" if is_choice else str(error["msg"])
            problems.append(f"{'.'.join(map(str, error['loc'])) or 'answer'}: {problem}")
        return None, "; ".join(problems)


def feedback(problem: str) -> str:
    """Word the feedback that the model gets before it answers again."""
    return (
        f"Your answer does not fit the form asked for: {problem}. "
        "Answer the same request again, with nothing but JSON that fits the schema."
    )


def _storable(value: Any) -> Any:
    """Return the value without half characters and NULs: JSON can escape them, no database or page takes them."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("", value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return {_storable(key): _storable(item) for key, item in value.items()} if isinstance(value, dict) else value
