"""Choosing where to look: the options with the best evidence; by name where there is none.

Invariant: at least one and at most as many as asked, ranked N, N−1, … without a gap; ties to the option that stands first.
Source: DESIGN §9; verified/offline-model.md §4.4 (only the best child if all are 0).
"""

from __future__ import annotations

from typing import Any

from memoir_engine.prompts.select import SelectRequest, labels, read
from memoir_engine.text.terms import Terms, terms
from memoir_offline.subjects import subjects

NAME_WEIGHT = 0.15
TERM_WEIGHT = 0.05
SUBJECT_WEIGHT = 0.10


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a select prompt."""
    choice = read(text)
    values = _values(choice)
    ranked = sorted(values, key=lambda label: -values[label])
    chosen = [label for label in ranked if values[label] > 0][: choice.most] or ranked[:1]
    return {"selections": [{"category": label, "ranked_relevance": choice.most - at} for at, label in enumerate(chosen)]}


def _values(choice: SelectRequest) -> dict[str, float]:
    asked = terms(choice.question)
    about = subjects().match(asked.counts)
    shown = {found.category: found for found in choice.evidence}
    names = [name for group in choice.groups for name in group.names]
    values = {}
    for label, name in zip(labels(choice.groups), names, strict=True):
        found = shown.get(label)
        near = found.nearness[0] + TERM_WEIGHT * _part(asked, " ".join(found.terms)) if found else 0.0
        subject = min(1.0, about[name].share / 0.1) if name in about else 0.0
        values[label] = near + NAME_WEIGHT * _part(terms(name), choice.question) + SUBJECT_WEIGHT * subject
    return values


def _part(wanted: Terms, text: str) -> float:
    """Part of the wanted words that the text has."""
    there = terms(text).counts
    return sum(1 for stem in wanted.counts if stem in there) / len(wanted.counts) if wanted.counts else 0.0
