"""Which messages a limit drops.

Invariant: the system messages stay, beside the limit; of the others the last ones. A result whose call goes, goes with it; so no
result stands without its call, and a call in the window keeps its results, which came after it.
Pure. Source: SESSION 5.2, 5.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memoir_engine.text.messages import base_kind


@dataclass(frozen=True)
class Brief:
    """Of a message what a limit has to know. makes: ids of calls; answers: of the calls it is the result of."""

    n: int
    kind: str
    makes: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()


def brief(n: int, kind: str, content: object, rest: dict[str, Any], name: str | None = None) -> Brief:
    base = base_kind(kind)
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    if base == "ai":
        return Brief(n, base, frozenset(_makes(rest, parts)))
    answers = _ids(part.get("tool_use_id") for part in parts if part.get("type") == "tool_result")
    if base == "tool":
        answers |= _ids([rest.get("tool_call_id")])
    if base == "function" and name:
        answers |= {f"function {name}"}
    return Brief(n, base, frozenset(), frozenset(answers))


def dropped(messages: Sequence[Brief], most: int | None) -> tuple[int, ...]:
    """Numbers of those that go, in order. messages: all of a session, in order."""
    others = [one for one in messages if one.kind != "system"]
    if most is None or len(others) <= most:
        return ()
    gone = {one.n for one in others[:-most]}
    made: set[str] = set()
    for one in others[-most:]:
        made |= one.makes
        if one.answers and not one.answers & made:
            gone.add(one.n)
    return tuple(one.n for one in messages if one.n in gone)


def _makes(rest: dict[str, Any], parts: Sequence[dict[str, Any]]) -> Iterable[str]:
    told = rest.get("additional_kwargs", {})
    calls = [*rest.get("tool_calls", ()), *rest.get("invalid_tool_calls", ()), *_records(told.get("tool_calls"))]
    yield from _ids(call.get("id") for call in calls if isinstance(call, dict))
    yield from _ids(part.get("id") for part in parts if part.get("type") == "tool_use")
    legacy = told.get("function_call")
    if isinstance(legacy, dict) and isinstance(legacy.get("name"), str):
        yield f"function {legacy['name']}"


def _records(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _ids(values: Iterable[object]) -> set[str]:
    return {value for value in values if isinstance(value, str)}
