"""Merge new names that mean the same: the same words, a name within another, or the same key terms.

Invariant: every name is answered once, by itself or by a name that is answered by itself.
Source: DESIGN §8 (new names of one wave).
"""

from __future__ import annotations

from typing import Any

from memoir_engine.prompts.classify import NewName, SettleRequest, read_settle
from memoir_engine.text.terms import tokens

SAME_TERMS = 0.5  # part of the smaller list of key terms


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a settle prompt."""
    kept: list[NewName] = []
    listed = []
    for item in _strongest_first(read_settle(text)):
        same = next((other for other in kept if _same(item, other)), item)
        if same is item:
            kept.append(item)
        listed.append({"name": item.name, "stands_for_it": same.name})
    return {"names": listed}


def _strongest_first(close: SettleRequest) -> list[NewName]:
    return sorted(close.names, key=lambda item: (-item.chunks, len(item.name), item.name))


def _same(one: NewName, other: NewName) -> bool:
    mine, theirs = set(tokens(one.name)), set(tokens(other.name))
    if mine == theirs:
        return True
    within = bool(mine & theirs) and (mine <= theirs or theirs <= mine)
    alike = _overlap({s for t in one.terms for s in tokens(t)}, {s for t in other.terms for s in tokens(t)})
    return within and alike > 0 or alike >= SAME_TERMS


def _overlap(mine: set[str], theirs: set[str]) -> float:
    return len(mine & theirs) / min(len(mine), len(theirs)) if mine and theirs else 0.0
