"""What an ingestion will ask for, before anything is asked: from the chunks actually cut.

The count of calls assumes full batches; every level's last ones may be smaller, so more calls may come. The frame is what a
classify prompt takes beside its chunks, measured on the sample corpus.
Source: issue "Cost before and after"; MEMOIR 2A.6, 2B.
"""

from __future__ import annotations

from math import ceil

from memoir_engine.results import Estimate
from memoir_engine.wiring import Engine

FRAME_TOKENS = 450  # instructions, helper, options and evidence of a classify prompt
HELPER_PROMPT_TOKENS = 2000  # what a helper may be derived from (MEMOIR 2B.2)
HELPER_REPLY_TOKENS = 200
ITEM_REPLY_TOKENS = 15  # {"id": 1, "category": "…"}


def estimate(engine: Engine, text: str) -> Estimate:
    """Raises nothing for any text; an empty one costs nothing."""
    from memoir_engine.llm.prices import cost

    config = engine.resolved.config
    pieces = engine.cut(text)
    if not pieces:
        return Estimate(0, 0, 0, 0, 0.0, engine.client.name)
    tokens = sum(piece.tokens for piece in pieces)
    per_level = ceil(len(pieces) / config.batch_size)
    calls = per_level * config.hierarchy_depth
    prompt, reply = (
        calls * FRAME_TOKENS + tokens * config.hierarchy_depth,
        len(pieces) * config.hierarchy_depth * ITEM_REPLY_TOKENS,
    )
    if config.auto_source_identification:
        calls, prompt, reply = calls + 1, prompt + min(tokens, HELPER_PROMPT_TOKENS), reply + HELPER_REPLY_TOKENS
    return Estimate(len(pieces), calls, prompt, reply, cost(engine.client.choice, prompt, reply), engine.client.name)
