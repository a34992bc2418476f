"""Shorten chunks, summarise texts and recap cuts of a conversation by their own most telling sentences.

Invariant: only sentences of the texts, and of the recap before; never longer than the target, or than a recap may be.
Source: DESIGN §10; CHUNK 7.2; MEMOIR 9.B3.5; MEMOLLA F-04; verified/offline-model.md §4.5.
"""

from __future__ import annotations

from typing import Any

from memoir_engine.prompts import condense, facts, summarise
from memoir_engine.text.sentences import cut_at_word
from memoir_engine.text.sentences import summarise as sentences_of
from memoir_engine.text.terms import tokens

LOOKED_AT = 12_000  # characters at the end of a cut: what the next one goes on from
OF_BEFORE = 0.4  # of a recap at most, what stood in the one before


def condense_chunks(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    part = condense.read(text)
    return {"summaries": [{"chunk_id": piece.chunk_id, "summary": _shortened(piece)} for piece in part.pieces]}


def _shortened(piece: condense.CondenseChunk) -> str:
    return sentences_of(piece.text, max_chars=piece.target, tokenise=tokens) or piece.text.strip()[: piece.target]


def summarise_text(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    given = summarise.read(text)
    told = sentences_of(given.text, max_chars=given.target_chars, tokenise=tokens)
    return {"summary": told or cut_at_word(" ".join(given.text.split()), given.target_chars) or "-"}


def recap_cut(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a recap prompt."""
    talk = facts.read(text)
    said = "\n\n".join(turn.text for turn in talk.turns if turn.role in ("user", "human", "assistant", "ai"))
    room = int(facts.RECAP_CHARS * OF_BEFORE) if talk.recap else 0
    before = cut_at_word(talk.recap, room) if room and len(talk.recap) > room else talk.recap
    told = sentences_of(said[-LOOKED_AT:], max_chars=facts.RECAP_CHARS - len(before) - 1, tokenise=tokens)
    return {"recap": " ".join(f"{before} {told}".split())}
