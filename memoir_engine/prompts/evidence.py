"""The engine's second opinion as a section of a prompt: size, key terms and similarity of the likeliest options.

Invariant: the section stays under its token ceiling; every text's likeliest option comes before any text's second likeliest.
Tokens are estimated as characters / 3: names and stems are shorter than prose.
Source: DESIGN §9 (evidence beside names: level-1 accuracy .31 by name, .65 with 32 terms, .86 with examples).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_TOKENS = 2000
PER_TEXT = 8  # likeliest options named for each text
_CHARS_PER_TOKEN = 3

HEAD = "Evidence"
EXPLAINED = """\
The evidence is word statistics of the texts already filed in the likeliest options: how many texts, their key terms,
and how near each text is to them (0 to 1). It can be wrong; the meaning of the text decides."""


@dataclass(frozen=True)
class Evidence:
    """Statistics of one option. `nearness` is per text, in the order of the texts; a question has one."""

    category: str
    size: int
    terms: tuple[str, ...]
    nearness: tuple[float, ...]


def likeliest(
    labels: Sequence[str],
    opinions: NDArray[np.float64],
    sizes: Sequence[int],
    key_terms: Callable[[int], Sequence[str]],
    max_tokens: int = MAX_TOKENS,
) -> tuple[Evidence, ...]:
    """Return the evidence of the options nearest to any text, as many as the ceiling holds, in the order of the labels.

    opinions: (n_texts, n_options). key_terms: of an option, by its index, best first.
    """
    left, shown = max_tokens * _CHARS_PER_TOKEN, {}
    for option in _by_need(opinions):
        near = tuple(round(float(value), 3) for value in opinions[:, option])
        found = Evidence(labels[option], int(sizes[option]), tuple(key_terms(option)), near)
        left -= len(row(found)) + 1
        if left < 0:
            break
        shown[option] = found
    return tuple(shown[option] for option in sorted(shown))


def row(evidence: Evidence) -> str:
    """Return one line of JSON, so that no name can break the frame."""
    parts = {
        "category": evidence.category,
        "texts": evidence.size,
        "nearness": list(evidence.nearness),
        "terms": list(evidence.terms),
    }
    return f"- {json.dumps(parts, ensure_ascii=False)}"


def read_row(line: str) -> Evidence:
    found = json.loads(line[2:])
    return Evidence(found["category"], found["texts"], tuple(found["terms"]), tuple(found["nearness"]))


def _by_need(opinions: NDArray[np.float64]) -> list[int]:
    """Order the options: every text's nearest, then every text's second nearest, …; ties to the lower index; zeros left out."""
    ranked = np.argsort(-opinions, axis=1, kind="stable")[:, :PER_TEXT]
    needed = [int(option) for place in ranked.T for text, option in enumerate(place) if opinions[text, option] > 0]
    return list(dict.fromkeys(needed))
