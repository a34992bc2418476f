"""Chunking as a function of its own: a text in, chunks with spans and exact token counts out.

Invariant: the very chunks that ingesting the same text stores.
Source: API "Facts" (chunk_text, count_tokens), MEMOIR 2.1–2.4.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoir_engine.text.chunks import DELIMITERS, Piece, cut


def chunk_text(
    text: str,
    *,
    model: str = "gpt-4o-mini",
    min_tokens: int = 300,
    max_tokens: int = 500,
    delimiters: Sequence[str] = DELIMITERS,
    threads: int = 2,
) -> list[Piece]:
    """Chunks of min_tokens to max_tokens as `model` counts them; `text[p.start:p.end] == p.text`, and they join back.

    delimiters: see MEMOIR 2.1; "." stands for any full stop that ends a sentence. threads: tokenise texts above 600,000
    characters. A chunk below the minimum has `short` set. Raises ChunkRangeInvalid (E104).
    """
    from memoir_engine.llm.tokens import counter

    return cut(text, counter(model, threads), minimum=min_tokens, maximum=max_tokens, delimiters=delimiters)


def count_tokens(text: str, model: str = "gpt-4o-mini") -> int:
    """Tokens of a text for a model, named with or without its provider; estimated for models other than OpenAI's."""
    from memoir_engine.llm import tokens

    return tokens.count_tokens(text, model)
