"""How a text begins, in one line: what progress shows of a chunk.

Source: DESIGN §5 (no text stands outside its source's rows: an opening is read from the text, never stored beside it).
"""

from __future__ import annotations

CHARS = 80
READ_CHARS = 400  # enough of a text for its opening, unless it begins with a page of blanks


def opening(text: str) -> str:
    return " ".join(text.split())[:CHARS]
