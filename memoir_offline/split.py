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
    ids = {stem: at for at, stem in enumerate(sorted({stem for one in words for stem in one.counts}))}
    vectors = [term_vector(one, ids) for one in words]
    return {"groups": _named(crowded, words, list(ids), vectors, _best(vectors, crowded.most))}


def _best(vectors: Sequence[TermVector], most: int) -> Ints | None:
    """Return the grouping into 2, 3, … whose items are nearest to their own group compared with the next; None if none gains."""
    counts = range(2, min(MOST_GROUPS, most + 1, len(vectors) // _least(vectors)) + 1)
    seeds = _seeds(vectors, max(counts, default=0))
    tried = [_settled(vectors, seeds[count]) for count in counts if count in seeds]
    rated = [(_gain(vectors, labels), -at, labels) for at, labels in enumerate(tried)]
    gain, _, labels = max(rated, key=lambda one: one[:2], default=(0.0, 0, None))
    return labels if gain >= LEAST_GAIN else None


def _seeds(vectors: Sequence[TermVector], most: int) -> dict[int, Ints]:
    """Cluster by average linkage; return number of groups → labels, −1 for items in no group."""
    near = OptionIndex([[one] for one in vectors]).nearness(vectors)
    near = (near + near.T) / 2
    np.fill_diagonal(near, -1)
    members = [[at] for at in range(len(vectors))]
    found: dict[int, Ints] = {}
    while len(members) > 2:
        one, other = sorted(divmod(int(np.argmax(near)), len(members)))
        sizes = len(members[one]), len(members[other])
        near[one] = near[:, one] = (near[one] * sizes[0] + near[other] * sizes[1]) / sum(sizes)
        near[one, one] = -1
        near = np.delete(np.delete(near, other, axis=0), other, axis=1)
        members[one] += members.pop(other)
        groups = [each for each in members if len(each) >= _least(vectors)]
        if 2 <= len(groups) <= most:
            found[len(groups)] = _labels(groups, len(vectors))
    return found


def _least(vectors: Sequence[TermVector]) -> int:
    return max(LEAST_ITEMS, len(vectors) // LEAST_PART)


def _labels(groups: Sequence[Sequence[int]], items: int) -> Ints:
    labels = np.full(items, -1, dtype=np.intp)
    for label, members in enumerate(groups):
        labels[list(members)] = label
    return labels


def _settled(vectors: Sequence[TermVector], labels: Ints) -> Ints | None:
    """Move each item to its nearest group until none moves; None if a group is left with too few."""
    count = int(labels.max()) + 1
    for _ in range(ROUNDS):
        moved = np.asarray(np.argmax(_to_groups(vectors, labels, count), axis=1))
        if np.bincount(moved, minlength=count).min() < _least(vectors):
            return None
        if (moved == labels).all():
            break
        labels = moved
    return labels


def _to_groups(vectors: Sequence[TermVector], labels: Ints, count: int) -> NDArray[np.float64]:
    return _shelf(vectors, labels, count).to_centroids(vectors)


def _shelf(vectors: Sequence[TermVector], labels: Ints, count: int) -> OptionIndex:
    return OptionIndex([[one for one, label in zip(vectors, labels, strict=True) if label == group] for group in range(count)])


def _gain(vectors: Sequence[TermVector], labels: Ints | None) -> float:
    if labels is None:
        return 0.0
    near = _to_groups(vectors, labels, int(labels.max()) + 1)
    own = near[np.arange(len(labels)), labels]
    near[np.arange(len(labels)), labels] = -1
    return round(float((own - near.max(axis=1)).mean()), 6)


def _named(
    crowded: SplitRequest, words: Sequence[Terms], stems: Sequence[str], vectors: Sequence[TermVector], labels: Ints | None
) -> list[dict[str, Any]]:
    """Name every group but the one that stays: the one nearest to the present name, else the largest."""
    if labels is None:
        return []
    count = int(labels.max()) + 1
    shelf, stays = _shelf(vectors, labels, count), _staying(crowded, words, labels, count)
    taken = {fold(name) for name in (*crowded.taken, *crowded.path)}
    found = []
    for group in sorted(set(range(count)) - {stays}, key=lambda one: -int((labels == one).sum())):
        mine = [at for at in range(len(labels)) if labels[at] == group]
        telling = [_surface(stems[term], [words[at] for at in mine]) for term in shelf.key_terms(group, TERMS_SAID)]
        rest = [item.text for at, item in enumerate(crowded.items) if at not in mine]
        name = _name([crowded.items[at].text for at in mine], rest, telling, taken)
        if name is not None:
            taken.add(fold(name))
            why = f"They speak of {', '.join(telling)}."
            found.append({"name": name, "why": why, "ids": [crowded.items[at].id for at in mine]})
    return found


def _staying(crowded: SplitRequest, words: Sequence[Terms], labels: Ints, count: int) -> int:
    own = set(tokens(crowded.path[-1])) if crowded.path else set()
    said, size = [0.0] * count, [0] * count
    for item, found, label in zip(crowded.items, words, labels, strict=True):
        said[label] += sum(stem in found.counts for stem in own)
        size[label] += item.chunks
    return max(range(count), key=lambda group: (said[group] / max(1, int((labels == group).sum())), size[group], -group))


def _name(mine: Sequence[str], rest: Sequence[str], telling: Sequence[str], taken: set[str]) -> str | None:
    """Return the phrase that is in most of the group's texts and in few of the others."""
    held, strange = [set(tokens(text)) for text in mine], [set(tokens(text)) for text in rest]
    found = [phrase.name for phrase in phrases("\n\n".join(mine), favoured=frozenset(s for t in telling for s in tokens(t)))]
    offered = [one for one in (*found, *map(str.capitalize, telling)) if fold(one) not in taken and problem(clean(one)) is None]
    return clean(max(offered, key=lambda one: round(_share(one, held) - _share(one, strange), 6))) if offered else None


def _share(name: str, texts: Sequence[set[str]]) -> float:
    wanted = set(tokens(name))
    return sum(wanted <= text for text in texts) / max(1, len(texts)) if wanted else 0.0


def _surface(stem: str, words: Sequence[Terms]) -> str:
    return next((one.surfaces[stem] for one in words if stem in one.surfaces), stem)
