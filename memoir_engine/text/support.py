"""Which spans of a chunk support a statement: computed by us from the words, never claimed by a model.

A statement taken over verbatim is supported by that very span; any other by the sentences that share most of its words.
Invariant: spans lie inside the chunk, in order, disjoint; no shared word, no span.
Source: DESIGN §9 (support of an answer's sentence by a chunk is computed by us and named so).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from memoir_engine.text.citations import without_marks
from memoir_engine.text.sentences import Sentence, split

Tokenise = Callable[[str], list[str]]

MAX_SENTENCES = 3
LEAST_SHARE = 0.15  # of the statement's terms that a further sentence must add


@dataclass(frozen=True)
class Support:
    """`spans` are offsets into the chunk's text; `share` in [0, 1] of the statement's terms stand in them."""

    spans: tuple[tuple[int, int], ...]
    share: float


def support(statement: str, chunk: str, *, tokenise: Tokenise) -> Support:
    """statement: one sentence of an answer, with or without its citations."""
    plain = without_marks(statement)
    verbatim = _find(plain, chunk)
    if verbatim:
        return Support((verbatim,), 1.0)
    wanted = set(tokenise(plain))
    chosen, covered = _cover(wanted, [(sentence, wanted & set(tokenise(sentence.text))) for sentence in split(chunk)])
    share = len(covered) / len(wanted) if wanted else 0.0
    return Support(tuple(sorted((sentence.start, sentence.end) for sentence in chosen)), round(share, 4))


def _find(statement: str, chunk: str) -> tuple[int, int] | None:
    """The statement's own words in the chunk, however they are spaced and whatever mark ends them."""
    words = statement.rstrip(".!?。！？").split()
    if not words:
        return None
    found = re.search(r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)(?:[.!?。！？]+)?", chunk)
    return found.span() if found else None


def _cover(wanted: set[str], offered: list[tuple[Sentence, set[str]]]) -> tuple[list[Sentence], set[str]]:
    chosen: list[Sentence] = []
    covered: set[str] = set()
    while len(chosen) < MAX_SENTENCES and offered:
        best, terms = max(offered, key=lambda pair: (len(pair[1] - covered), -len(pair[0].text), -pair[0].start))
        new = terms - covered
        if not new or (chosen and len(new) / len(wanted) < LEAST_SHARE):
            break
        chosen.append(best)
        covered |= terms
    return chosen, covered
