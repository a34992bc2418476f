"""The offline model shortens a chunk to its most telling sentences, never above the target.

Source: DESIGN §10; MEMOIR 9.B3.5.
"""

from __future__ import annotations

from typing import Any

from memoir_engine.prompts import condense
from memoir_engine.text.sentences import summarise
from memoir_engine.text.terms import tokens


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    part = condense.read(text)
    return {"summaries": [{"chunk_id": piece.chunk_id, "summary": _shortened(piece)} for piece in part.pieces]}


def _shortened(piece: condense.CondenseChunk) -> str:
    return summarise(piece.text, max_chars=piece.target, tokenise=tokens) or piece.text.strip()[: piece.target]
