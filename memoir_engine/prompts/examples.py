"""Texts that a person filed or confirmed, shown in a prompt beside similar texts.

Invariant: the section stays under its token ceiling; every text's nearest example comes before any text's second one, and no
text gets more examples than allowed. An example is quoted by its beginning, on one line, so that it cannot break the frame.
Tokens are estimated as characters / 3, as for the evidence.
Source: DESIGN §9 (evidence beside names: level-1 accuracy .65 with terms, .86 with earlier examples).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_TOKENS = 1000
QUOTE_CHARS = 240
LEAST_NEARNESS = 0.1  # below, two texts share a word or two by chance
_CHARS_PER_TOKEN = 3

HEAD = "Examples"
EXPLAINED = """\
Examples, where there are any, are texts that a person filed here by hand or confirmed, with how near each text is to them."""


@dataclass(frozen=True)
class Example:
    """Beginning of a filed text, its option, and the similarity of each text of the prompt to it, in their order."""

    category: str
    quote: str
    nearness: tuple[float, ...]


def quote(text: str) -> str:
    """Return the beginning of a text, on one line."""
    return " ".join(text[: 2 * QUOTE_CHARS].split())[:QUOTE_CHARS]


def nearest(
    near: NDArray[np.float64],
    example: Callable[[int, tuple[float, ...]], Example],
    *,
    per_text: int,
    max_tokens: int = MAX_TOKENS,
) -> dict[int, Example]:
    """Choose the examples to show; returns them by index, in its order.

    near: (n_texts, n_examples) in [0, 1]. example: makes one from an index and its nearness per text. Ties to the lower index.
    """
    left, shown = max_tokens * _CHARS_PER_TOKEN, {}
    for index in _by_need(near, per_text):
        found = example(index, tuple(round(float(value), 3) for value in near[:, index]))
        left -= len(row(found)) + 1
        if left < 0:
            break
        shown[index] = found
    return dict(sorted(shown.items()))


def row(example: Example) -> str:
    """Return one line of JSON."""
    parts = {"category": example.category, "nearness": list(example.nearness), "text": example.quote}
    return f"- {json.dumps(parts, ensure_ascii=False)}"


def read_row(line: str) -> Example:
    found = json.loads(line[2:])
    return Example(found["category"], found["text"], tuple(found["nearness"]))


def _by_need(near: NDArray[np.float64], per_text: int) -> Sequence[int]:
    """Order the examples: every text's nearest, then every text's second nearest, …"""
    ranked = np.argsort(-near, axis=1, kind="stable")[:, :per_text]
    needed = [int(index) for place in ranked.T for text, index in enumerate(place) if near[text, index] >= LEAST_NEARNESS]
    return list(dict.fromkeys(needed))
