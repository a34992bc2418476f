"""Tidy a branch by words: join what means the same, and thin categories with the sibling whose words are nearest.

Invariant: the same prompt gives the same proposals; each category is in one of them at most. A thin category without any word in
common with a sibling stays as it is, and so does a thin field of level 1: work and the environment are not one for being small.
What is joined is called by the name of its largest part: no name is made up.
Source: docs/decisions/0045; the nearness is that of the prompt, of texts to texts.
"""

from __future__ import annotations

from typing import Any

from memoir_engine.prompts.tidy import TidyItem, TidyRequest, read
from memoir_engine.text.terms import tokens
from memoir_engine.text.tree_shape import is_thin, shared_words

NEAR = 0.05  # for a thin category to be joined with another
SAME = 0.4  # from here on two categories mean the same, whatever they are called
MOST_TOGETHER = 6  # categories that become one in one proposal
TERMS_SAID = 3


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a tidy prompt."""
    branch = read(text)
    groups = _joined(branch)
    merges = [_merge([branch.items[at] for at in group]) for group in groups if len(group) > 1]
    return {"merges": merges, "renames": []}


def _joined(branch: TidyRequest) -> list[list[int]]:
    """Group the categories, the nearest pairs first; every pair of a group has a reason of its own."""
    near, items = _nearness(branch.items), branch.items
    pairs = []
    for one in range(len(items)):
        for other in range(one + 1, len(items)):
            value = near.get((one, other), 0.0)
            if _mean_the_same(items[one], items[other], value):
                pairs.append((-1 - value, one, other))
            elif value >= NEAR and _may_join(items[one], items[other], branch):
                pairs.append((-value, one, other))
    group_of = {at: [at] for at in range(len(items))}
    for value, one, other in sorted(pairs):
        mine, theirs = group_of[one], group_of[other]
        is_full = len(mine) + len(theirs) > MOST_TOGETHER
        needs_it = value < -1 or any(len(group) == 1 and _is_thin(items[group[0]], branch) for group in (mine, theirs))
        if mine is not theirs and needs_it and not is_full:
            mine += theirs
            for at in theirs:
                group_of[at] = mine
    return [group for at, group in group_of.items() if group[0] == at]


def _nearness(items: tuple[TidyItem, ...]) -> dict[tuple[int, int], float]:
    """Return the nearness of two items by their places; pairs that the prompt leaves out have none."""
    at = {item.id: place for place, item in enumerate(items)}
    near: dict[tuple[int, int], float] = {}
    for place, item in enumerate(items):
        for other, value in item.near:
            pair = (min(place, at[other]), max(place, at[other]))
            near[pair] = max(value, near.get(pair, 0.0))
    return near


def _is_thin(item: TidyItem, branch: TidyRequest) -> bool:
    return is_thin(branch.level, branch.depth, item.texts, len(item.holds))


def _may_join(item: TidyItem, other: TidyItem, branch: TidyRequest) -> bool:
    return branch.level > 1 and (_is_thin(item, branch) or _is_thin(other, branch))


def _mean_the_same(item: TidyItem, other: TidyItem, near: float) -> bool:
    words = shared_words(item.name, other.name)
    return (words >= 1 and near > 0) or near >= SAME


def _merge(items: list[TidyItem]) -> dict[str, Any]:
    largest = min(items, key=lambda item: (-item.texts, len(item.name), item.id))
    counted = [{stem for term in item.terms for stem in tokens(term)} for item in items]
    common = [term for term in largest.terms if sum(set(tokens(term)) <= stems for stems in counted) > 1][:TERMS_SAID]
    why = f"They speak of {', '.join(common)}." if common else "There is little in them."
    return {"ids": [item.id for item in items], "name": largest.name, "why": why}
