"""The offline model's answer to the test call."""

from __future__ import annotations

from typing import Any

from memoir_engine.prompts.ping import read


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"word": read(text)}
