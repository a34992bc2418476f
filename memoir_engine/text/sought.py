"""The words of a text as a search sees them: its stems, and its numbers too.

A year or a room number carries no subject, so statistics leave numbers out; a question may ask for nothing else.
Invariant: for any text, `tokens(text)` is a part of `sought(text)`.
"""

from __future__ import annotations

import re
import unicodedata

from memoir_engine.text.terms import TOKENIZER, tokens

SEARCH_TOKENIZER = f"{TOKENIZER}+numbers/1"

_NUMBER = re.compile(r"\d+")


def sought(text: str) -> list[str]:
    return tokens(text) + _NUMBER.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))
