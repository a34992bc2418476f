"""Split a crowded category into groups by joining the items whose words are nearest.

Invariant: the same prompt gives the same groups. A group has at least two items that are nearer to one another than to the
rest; where no such groups show, none is proposed.
Source: DESIGN §10; the centroids and words are those of text/similarity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoir_engine.prompts.split import SplitRequest, read
from memoir_engine.text.names import clean, fold, problem
from memoir_engine.text.similarity import OptionIndex, TermVector, term_vector
from memoir_engine.text.terms import Terms, terms, tokens
from memoir_offline.phrases import phrases

Ints = NDArray[np.intp]

MOST_GROUPS = 6
LEAST_ITEMS = 2  # of a group, and of what stays; of many items this part at least
LEAST_PART = 12
ROUNDS = 8
LEAST_GAIN = 0.02  # nearer to the own group than to the next, on average, for groups to be worth a proposal
TERMS_SAID = 4


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a split prompt."""
    crowded = read(text)
    words = [terms(item.text) for item in crowded.items]
    ids = {stem: at for at, stem in enumerate(sorted({stem for found in words for stem in found.counts}))}
    vectors = [term_vector(found, ids) for found in words]
    labels = _best_grouping(vectors, crowded.most)
    return {"groups": [] if labels is None else named_groups(crowded, words, list(ids), vectors, labels)}


def _best_grouping(vectors: Sequence[TermVector], most: int) -> Ints | None:
    """Return the grouping into 2, 3, … whose items are nearest to their own group compared with the next; None if none gains."""
    counts = range(2, min(MOST_GROUPS, most + 1, len(vectors) // _least(vectors)) + 1)
    seeds = _linked_groups(vectors, max(counts, default=0))
    best, best_gain = None, LEAST_GAIN
    for count in counts:
        labels = _settled_groups(vectors, seeds[count]) if count in seeds else None
        gain = -1.0 if labels is None else _separation(vectors, labels)
        if gain > best_gain or (best is None and gain >= best_gain):
            best, best_gain = labels, gain
    return best


def _linked_groups(vectors: Sequence[TermVector], most: int) -> dict[int, Ints]:
    """Cluster by average linkage; return number of groups → labels, −1 for items in no group."""
    near = OptionIndex([[row] for row in vectors]).nearness(vectors)
    near = (near + near.T) / 2
    np.fill_diagonal(near, -1)
    members = [[at] for at in range(len(vectors))]
    groupings: dict[int, Ints] = {}
    while len(members) > 2:
        first, second = sorted(divmod(int(np.argmax(near)), len(members)))
        sizes = len(members[first]), len(members[second])
        near[first] = near[:, first] = (near[first] * sizes[0] + near[second] * sizes[1]) / sum(sizes)
        near[first, first] = -1
        near = np.delete(np.delete(near, second, axis=0), second, axis=1)
        members[first] += members.pop(second)
        groups = [each for each in members if len(each) >= _least(vectors)]
        if 2 <= len(groups) <= most:
            labels = np.full(len(vectors), -1, dtype=np.intp)
            for label, group in enumerate(groups):
                labels[group] = label
            groupings[len(groups)] = labels
    return groupings


def _least(vectors: Sequence[TermVector]) -> int:
    return max(LEAST_ITEMS, len(vectors) // LEAST_PART)


def _settled_groups(vectors: Sequence[TermVector], labels: Ints) -> Ints | None:
    """Move each item to its nearest group until none moves; None if a group is left with too few."""
    count = int(labels.max()) + 1
    for _ in range(ROUNDS):
        moved = np.asarray(np.argmax(grouped(vectors, labels).to_centroids(vectors), axis=1))
        if np.bincount(moved, minlength=count).min() < _least(vectors):
            return None
        if (moved == labels).all():
            break
        labels = moved
    return labels


def grouped(vectors: Sequence[TermVector], labels: Ints) -> OptionIndex:
    groups = range(int(labels.max()) + 1)
    return OptionIndex([[row for row, label in zip(vectors, labels, strict=True) if label == group] for group in groups])


def _separation(vectors: Sequence[TermVector], labels: Ints) -> float:
    """Return how much nearer items are to their own group than to the next, on average."""
    near = grouped(vectors, labels).to_centroids(vectors)
    own = near[np.arange(len(labels)), labels]
    near[np.arange(len(labels)), labels] = -1
    return round(float((own - near.max(axis=1)).mean()), 6)


def named_groups(
    crowded: SplitRequest, words: Sequence[Terms], stems: Sequence[str], vectors: Sequence[TermVector], labels: Ints
) -> list[dict[str, Any]]:
    """Name every group but the one that stays."""
    index, stays = grouped(vectors, labels), _staying_group(crowded, words, labels)
    taken = {fold(name) for name in (*crowded.taken, *crowded.path)}
    groups = []
    for group in sorted(set(range(int(labels.max()) + 1)) - {stays}, key=lambda each: -int((labels == each).sum())):
        mine = [at for at in range(len(labels)) if labels[at] == group]
        key_terms = [stems[term] for term in index.key_terms(group, TERMS_SAID)]
        telling = [next((words[at].surfaces[stem] for at in mine if stem in words[at].surfaces), stem) for stem in key_terms]
        rest = [item.text for at, item in enumerate(crowded.items) if at not in mine]
        name = _group_name([crowded.items[at].text for at in mine], rest, telling, taken)
        if name is not None:
            taken.add(fold(name))
            why = f"They speak of {', '.join(telling)}."
            groups.append({"name": name, "why": why, "ids": [crowded.items[at].id for at in mine]})
    return groups


def _staying_group(crowded: SplitRequest, words: Sequence[Terms], labels: Ints) -> int:
    """Return the group that keeps the category: the one nearest to the present name, else the largest."""
    own = set(tokens(crowded.path[-1])) if crowded.path else set()
    count = int(labels.max()) + 1
    said, size = [0.0] * count, [0] * count
    for item, found, label in zip(crowded.items, words, labels, strict=True):
        said[label] += sum(stem in found.counts for stem in own)
        size[label] += item.chunks
    return max(range(count), key=lambda group: (said[group] / max(1, int((labels == group).sum())), size[group], -group))


def _group_name(mine: Sequence[str], rest: Sequence[str], telling: Sequence[str], taken: set[str]) -> str | None:
    """Return the phrase that is in most of the group's texts and in few of the others."""
    own, others = [set(tokens(text)) for text in mine], [set(tokens(text)) for text in rest]
    favoured = frozenset(stem for term in telling for stem in tokens(term))
    listed = [*(phrase.name for phrase in phrases("\n\n".join(mine), favoured=favoured)), *map(str.capitalize, telling)]
    offered = [name for name in listed if fold(name) not in taken and problem(clean(name)) is None]
    return clean(max(offered, key=lambda name: round(_share(name, own) - _share(name, others), 6))) if offered else None


def _share(name: str, texts: Sequence[set[str]]) -> float:
    stems = set(tokens(name))
    return sum(stems <= text for text in texts) / max(1, len(texts)) if stems else 0.0
