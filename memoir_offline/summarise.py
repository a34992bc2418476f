"""The offline model summarises by the most telling sentences of the text itself, never above the target.

Source: DESIGN §10; MEMOLLA F-04; offline-model §4.5.
"""

from __future__ import annotations

from typing import Any

from memoir_engine.prompts import summarise
from memoir_engine.text.sentences import cut_at_word
from memoir_engine.text.sentences import summarise as sentences_of
from memoir_engine.text.terms import tokens


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    given = summarise.read(text)
    told = sentences_of(given.text, max_chars=given.target_chars, tokenise=tokens)
    return {"summary": told or cut_at_word(" ".join(given.text.split()), given.target_chars) or "-"}
