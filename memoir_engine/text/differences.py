"""What changed between two versions of a text, word by word.

Invariant: the words of "same" and "removed" are those of the one before, in order; of "same" and "added" those of the one after.
Source: MEMOIR 2B.9 (a helper regenerated stands beside the one before).
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Literal

Change = tuple[Literal["same", "removed", "added"], str]


def words_changed(before: str, after: str) -> tuple[Change, ...]:
    """Neighbouring words of one kind stand together; what was removed stands before what was added in its place."""
    old, new = before.split(), after.split()
    changes: list[Change] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            changes.append(("same", " ".join(old[a:b])))
            continue
        changes += [(name, " ".join(words)) for name, words in (("removed", old[a:b]), ("added", new[c:d])) if words]  # type: ignore[misc]
    return tuple(changes)
