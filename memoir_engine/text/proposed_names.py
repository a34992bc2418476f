"""Names that a model proposes for categories that exist: which of them are fit to stand in the tree.

Invariant: a proposed name is one that may be stored, is no text of several sentences, repeats no name of the path above it, and
does not look like that of a sibling. What only spells a name otherwise is no new name. Names that people give are not judged.
Source: docs/decisions/0067; text/names for what may be stored at all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

from memoir_engine.text.names import clean, fold, problem
from memoir_engine.text.sentences import split


def key(name: str) -> str:
    """Return the name without case, spaces and punctuation: equal for names that differ in nothing else."""
    folded = fold(name)
    return "".join(sign for sign in folded if unicodedata.category(sign)[0] not in "PZ") or folded


def refusal(name: str, *, path: Collection[str], taken: Collection[str]) -> str | None:
    """Return why a proposed name is refused, in words, or None.

    path: names above the category. taken: keys of the names beside it.
    """
    if wrong := problem(name):
        return wrong
    if len(split(clean(name))) > 1:
        return f"the name {clean(name)!r} is more than one sentence"
    if key(name) in map(key, path):
        return f"the name {clean(name)!r} is that of a category above it"
    return f"the name {clean(name)!r} is taken" if key(name) in taken else None
