"""What an ingestion will ask for, before anything is asked: from the chunks actually cut.

Level 1 is asked in full batches. Below it a batch holds chunks of one category only, so there are more of them: of as many
categories as the square root of the chunks, each leaves a batch that is not full. What a prompt takes beside its chunks was
measured on nine of the long texts; an estimate is right within about a third.
Source: MEMOIR 2A.6, 2B; API `memory.estimate`; DESIGN §1 (what a choice costs).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import Any

from memoir_engine import given
from memoir_engine.results import Estimate
from memoir_engine.uploads import Upload
from memoir_engine.wiring import Engine

FRAME_TOKENS = 700  # instructions, helper, options and evidence of a classify prompt: 540 to 910
HELPER_PROMPT_TOKENS = 2000  # what a helper may be derived from (MEMOIR 2B.2)
HELPER_FRAME_TOKENS = 200
HELPER_REPLY_TOKENS = 200
ITEM_REPLY_TOKENS = 15  # {"id": 1, "category": "…"}


def estimate(engine: Engine, content: str | bytes, name: str) -> Estimate:
    """Of a text, or of the bytes of a file; an empty or blank one costs nothing. Raises what reading the file raises."""
    engine.check_open()
    text = given.text("text", content) if isinstance(content, str) else _text(engine, content, name)
    pieces = engine.cut(text) if text.strip() else []
    return foreseen(engine, [piece.tokens for piece in pieces], helper=engine.resolved.config.auto_source_identification)


def foreseen(engine: Engine, tokens: Sequence[int], *, helper: bool) -> Estimate:
    """tokens: of each chunk. helper: whether one will be generated."""
    from memoir_engine.llm.prices import cost

    config, model = engine.resolved.config, engine.client.name
    if not tokens:
        return Estimate(0, 0, 0, 0, 0.0, model)
    depth, whole = config.hierarchy_depth, sum(tokens)
    calls = _calls(len(tokens), config.batch_size, depth)
    prompt = calls * FRAME_TOKENS + whole * depth
    reply = len(tokens) * depth * ITEM_REPLY_TOKENS
    if helper:
        told = HELPER_FRAME_TOKENS + min(whole, HELPER_PROMPT_TOKENS)
        calls, prompt, reply = calls + 1, prompt + told, reply + HELPER_REPLY_TOKENS
    return Estimate(len(tokens), calls, prompt, reply, cost(engine.client.choice, prompt, reply), model)


def _calls(chunks: int, batch: int, depth: int) -> int:
    level_1 = ceil(chunks / batch)
    below = round(chunks / batch + (1 - 1 / batch) * sqrt(chunks))
    return level_1 + max(level_1, min(chunks, below)) * (depth - 1)


def from_record(told: dict[str, Any] | None) -> Estimate | None:
    """The estimate of a run, as its record has it."""
    return None if told is None else Estimate(**told)


def _text(engine: Engine, data: bytes, name: str) -> str:
    upload = Upload.of("ingest_file", data, name, None, None, max_mb=engine.resolved.config.max_file_mb)
    return upload.read().text
