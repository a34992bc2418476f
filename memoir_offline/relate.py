"""Which facts of one conversation have to do with one another: they contradict, one contains the other, or they share a name.

Invariant: each pair at most once; a name that stands in very many facts relates none of them; the work is linear in the facts for
names, and each fact is compared only with those that share a word with it.
Source: CHUNK 9.1, 9.2.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from memoir_engine.prompts.facts import RelatableFact, RelationKind, read_relate
from memoir_engine.text.terms import tokens
from memoir_offline.rules.contradictions import compare

MOST_SHARING = 12  # facts with the same word; more, and the word tells nothing of two of them
STATED = {"contradicts": 0.7, "part_of": 0.8, "same_subject": 0.6}


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a relate prompt."""
    facts = read_relate(text)
    found: dict[tuple[int, int], RelationKind] = {}
    for earlier, later in _pairs(facts):
        kind = _kind(earlier, later)
        if kind is not None:
            pair = (later.number, earlier.number)
            found.setdefault(pair[::-1] if kind == "part_of" else pair, kind)
    return {
        "relations": [
            {"source": source, "target": target, "kind": kind, "confidence": STATED[kind]}
            for (source, target), kind in found.items()
        ]
    }


def _pairs(facts: tuple[RelatableFact, ...]) -> list[tuple[RelatableFact, RelatableFact]]:
    """Yield pairs that share a content word, the earlier one first, in the order of the later one."""
    sharing: dict[str, list[int]] = defaultdict(list)
    for at, fact in enumerate(facts):
        for word in dict.fromkeys(tokens(fact.content)):
            sharing[word].append(at)
    pairs = {
        (places[first], places[second])
        for places in sharing.values()
        if len(places) <= MOST_SHARING
        for second in range(1, len(places))
        for first in range(second)
    }
    return [(facts[first], facts[second]) for first, second in sorted(pairs, key=lambda pair: (pair[1], pair[0]))]


def _kind(earlier: RelatableFact, later: RelatableFact) -> RelationKind | None:
    if earlier.subject.casefold() == later.subject.casefold():
        stance = compare(earlier.content, later.content).stance
        if stance in ("conflict", "update"):
            return "contradicts"
        if stance == "complementary":
            return "part_of"
    about = {earlier.subject.casefold(), later.subject.casefold()}
    shared = {name.casefold() for name in earlier.entities} & {name.casefold() for name in later.entities}
    return "same_subject" if shared - about else None
