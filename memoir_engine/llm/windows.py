"""How many tokens a model takes, from litellm's list, read without importing litellm.

Invariant: never a guess that is not called one: a model the list does not know has the assumed window, and `known` is False.
Source: CHUNK 2.3; spec README, small print on CHUNK 2.3.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from memoir_engine.llm.tokens import OFFLINE, name_of

ASSUMED_TOKENS = 8_192
OFFLINE_TOKENS = 8_192  # it would read any length; so much is what a person can still look through in one prompt
_LIST = "model_prices_and_context_window_backup.json"
_PREFIXES = ("", "gemini/", "anthropic/", "xai/", "ollama/", "azure/", "openai/")


class Window(NamedTuple):
    """tokens: of prompt that the model takes. known: False where they are assumed."""

    tokens: int
    known: bool


@lru_cache(maxsize=256)
def window_of(model: str) -> Window:
    """Of a model named with or without its provider."""
    if model == OFFLINE:
        return Window(OFFLINE_TOKENS, True)
    bare = name_of(model).bare
    for name in dict.fromkeys((model.replace(":", "/", 1), *(f"{prefix}{bare}" for prefix in _PREFIXES))):
        tokens = _tokens(_listed().get(name))
        if tokens:
            return Window(tokens, True)
    return Window(ASSUMED_TOKENS, False)


@cache
def _listed() -> dict[str, Any]:
    litellm = find_spec("litellm")
    if litellm is None or litellm.origin is None:
        return {}
    try:
        found = json.loads((Path(litellm.origin).parent / _LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _tokens(about: Any) -> int:
    found = about.get("max_input_tokens") if isinstance(about, dict) else None
    return int(found) if isinstance(found, int | float) and not isinstance(found, bool) and found > 0 else 0
