"""The offline model's answer to the test call."""

from __future__ import annotations

from typing import Any

from memoir_engine.prompts.chat import read_ping


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"word": read_ping(text)}
