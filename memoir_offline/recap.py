"""Recap a cut of a conversation: the earlier recap, and its most telling sentences with their speakers.

Invariant: only sentences of the messages and of the recap before; never longer than a recap may be.
Source: CHUNK 7.2; verified/offline-model.md §4.5.
"""

from __future__ import annotations

from typing import Any

from memoir_engine.prompts.facts import RECAP_CHARS, read
from memoir_engine.text.sentences import cut_at_word, summarise
from memoir_engine.text.terms import tokens

LOOKED_AT = 12_000  # characters at the end of a cut: what the next one goes on from
OF_BEFORE = 0.4  # of a recap at most, what stood in the one before


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a recap prompt."""
    talk = read(text)
    said = "\n\n".join(turn.text for turn in talk.turns if turn.role in ("user", "human", "assistant", "ai"))
    room = int(RECAP_CHARS * OF_BEFORE) if talk.recap else 0
    before = cut_at_word(talk.recap, room) if room and len(talk.recap) > room else talk.recap
    told = summarise(said[-LOOKED_AT:], max_chars=RECAP_CHARS - len(before) - 1, tokenise=tokens)
    return {"recap": " ".join(f"{before} {told}".split())}
