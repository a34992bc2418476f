"""Cost of a call, from litellm's bundled price list; the one door to litellm.

Invariants: never a guess; a model the list does not know costs None, shown as unknown in the product. Every use of litellm goes
through here, because its switches only work before the first import or call.
Prices are those of the list's release, without discounts for cached prompts: an upper bound.
Source: MEMOIR 9 (responses), DESIGN §1; measured with litellm 1.83.0: importing it fetches a price list, counting for a model
named llama-3 downloads a tokenizer (23 s without a network), and in its development mode it loads ./.env into the process.
"""

from __future__ import annotations

import os
from functools import cache, lru_cache
from typing import Any

from memoir_engine.models.providers import Choice


@cache
def quiet_litellm() -> Any:
    """The module. The first call takes seconds; do it off the event loop."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    import litellm

    litellm.disable_hf_tokenizer_download = True
    litellm.suppress_debug_info = True
    return litellm


_LIST_PREFIX = {"google": "gemini", "xai": "xai", "anthropic": "anthropic", "openai": "openai"}
_FREE = ("offline", "ollama", "lmstudio")
_asked: set[tuple[str, str]] = set()  # (provider, model) whose price was looked up
_SAMPLE_TOKENS = 1000  # below every tier of long contexts, far above rounding


def is_known(choice: Choice) -> bool:
    """Return True if `cost` answers at once, with nothing left to load for this model."""
    return choice.provider in _FREE or (choice.provider, choice.model) in _asked


def cost(choice: Choice, tokens_prompt: int, tokens_completion: int) -> float | None:
    """USD. Models run on one's own machine cost nothing. The first call for a model loads litellm: seconds."""
    if choice.provider in _FREE:
        return 0.0
    unit = _unit(choice.provider, choice.model)
    _asked.add((choice.provider, choice.model))
    return None if unit is None else unit[0] * tokens_prompt + unit[1] * tokens_completion


@lru_cache(maxsize=64)
def _unit(provider: str, model: str) -> tuple[float, float] | None:
    """USD per token, prompt and completion."""
    litellm = quiet_litellm()
    for name in (model, f"{_LIST_PREFIX.get(provider, provider)}/{model}"):
        try:
            sent, received = litellm.cost_per_token(model=name, prompt_tokens=_SAMPLE_TOKENS, completion_tokens=_SAMPLE_TOKENS)
        except Exception:  # litellm raises several classes, a bare one among them, for a name it does not know
            continue
        return sent / _SAMPLE_TOKENS, received / _SAMPLE_TOKENS
    return None
