"""What a person should know of the tree after an ingestion, in one plain sentence each: full levels, crowded categories.

Invariant: a level is said to be full only where chunks of this text had to go to existing categories, a category to be crowded
only when this text made a large memory's category hold more than its share. Pure.
Source: MEMOIR 2.8–2.9; docs/decisions/0045.
"""

from __future__ import annotations

from collections.abc import Mapping

from memoir_engine.ingest.draft import ROOT, DraftTree
from memoir_engine.text.profiles import Profiles
from memoir_engine.text.tree_shape import LARGE, is_crowded

MOST_SAID = 3  # places of one kind


def full_levels(tree: DraftTree, closed: Mapping[int, int]) -> tuple[str, ...]:
    """closed: how many chunks could only go to existing categories, by parent."""
    said = []
    for parent, chunks in sorted(closed.items(), key=lambda item: (-item[1], item[0]))[:MOST_SAID]:
        there = len(tree.children(parent))
        where = "level 1" if parent == ROOT else f"level {tree.level_below(parent)} below {tree.path(parent)[-1]!r}"
        have = "1 chunk was filed in what exists" if chunks == 1 else f"{chunks} chunks were filed in what exists"
        said.append(f"{where} is full ({there}, its limit): {have}; raise category_limit, or merge categories")
    left = len(closed) - len(said)
    return (*said, *([f"{left} more {'place is' if left == 1 else 'places are'} full"] if left > 0 else []))


def newly_crowded(tree: DraftTree, profiles: Profiles, own: Mapping[int, int]) -> tuple[str, ...]:
    """own: chunks of this text, by category. A memory that was small before is not judged."""
    total = profiles.size(ROOT)
    before = total - sum(own.get(node.id, 0) for node in tree.children(ROOT))
    if before < LARGE:
        return ()
    said = []
    for category in sorted(own):
        level, size = len(tree.ancestors(category)), profiles.size(category)
        was = is_crowded(level, tree.depth, size - own[category], before)
        if is_crowded(level, tree.depth, size, total) and not was:
            name, share = tree.path(category)[-1], round(100 * size / total)
            said.append(f"{name!r} now holds {share} % of all {total} chunks; memory.tidy() proposes how to divide it")
    return tuple(said[:MOST_SAID])
