"""Where a checkpoint stands, as a config of LangGraph says it: thread, namespace, id.

Invariant: what no thread can be called is refused by name, and never stored under the word for it: None is no thread "None".
Numbers and UUIDs are names, as the stock savers have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig

from memoir_engine import given
from memoir_engine.errors import InvalidSetting

Place = tuple[str, str]  # thread and namespace
ADVICE = 'Give config={"configurable": {"thread_id": "…"}}.'


def place(config: object) -> Place:
    """Raises InvalidSetting."""
    said = configurable(config)
    return name(said.get("thread_id"), "thread_id"), name(said.get("checkpoint_ns") or "", "checkpoint_ns")


def configurable(config: object) -> Mapping[str, Any]:
    said = config.get("configurable") if isinstance(config, Mapping) else None
    if not isinstance(said, Mapping):
        raise InvalidSetting(name="config", value=config, problem="it names no thread", advice=ADVICE)
    return said


def name(value: object, what: str) -> str:
    """Raises InvalidSetting."""
    if isinstance(value, bool) or not isinstance(value, str | int | UUID):
        problem = "it is missing" if value is None else "it is no name"
        raise InvalidSetting(name=what, value=value, problem=problem, advice=f"Give {what} as a text. {ADVICE}")
    return given.text(what, str(value))


def names(values: object, what: str) -> list[str]:
    """Raises InvalidSetting."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidSetting(name=what, value=values, problem="it must be a list", advice="Give a list, even of one.")
    return [name(one, what) for one in values]


def config_of(at: Place, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": at[0], "checkpoint_ns": at[1], "checkpoint_id": checkpoint_id}}


def wanted(config: RunnableConfig | None, before: RunnableConfig | None) -> dict[str, Any]:
    """What `list` is to find; None: any."""
    said = {} if config is None else configurable(config)
    thread, ns, at = (said.get(one) for one in ("thread_id", "checkpoint_ns", "checkpoint_id"))
    behind = None if before is None else configurable(before).get("checkpoint_id")
    return {
        "thread_id": None if thread is None else name(thread, "thread_id"),
        "ns": None if ns is None else name(ns, "checkpoint_ns"),
        "checkpoint_id": None if at is None else name(at, "checkpoint_id"),
        "before": None if behind is None else name(behind, "checkpoint_id"),
    }
