"""Facts as they come out of the cuts of one conversation, before they meet what is known.

Invariant: frozen values. A fact found in several cuts is one, with all its origins and the best confidence; two that differ in a
number, a negation or a name stay two. Pure: no model, no clock.
Source: CHUNK 7.3, 8.1–8.4; spec README, small print on CHUNK 8.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memoir_engine.results.cuts import Cut
from memoir_engine.results.facts import FactType
from memoir_engine.text.alike import folded, same, subject_key, words


@dataclass(frozen=True)
class Spoken:
    """One message of the conversation. id: the caller's, None where it has none."""

    index: int
    id: str | None
    role: str
    name: str | None
    at: datetime | None
    text: str


@dataclass(frozen=True)
class Span:
    """Where a fact is said. message: index, from 0. start, end: None where the quote is not in the message."""

    message: int
    start: int | None
    end: int | None
    cut: Cut

    @property
    def is_supported(self) -> bool:
        return self.start is not None


@dataclass(frozen=True)
class Found:
    """valid_from, valid_to: "" or an ISO date of any precision. spans: in the order in which they were found."""

    id: str
    content: str
    type: FactType
    subject: str
    entities: tuple[str, ...]
    confidence: float | None
    valid_from: str
    valid_to: str
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Link:
    """A relation between two found facts, by their ids."""

    source: str
    target: str
    kind: str
    confidence: float | None


@dataclass(frozen=True)
class Merged:
    """facts: what is left, in the order in which it was first said. stands_for: of every id, the one that is left."""

    facts: tuple[Found, ...]
    stands_for: dict[str, str] = field(default_factory=dict)

    @property
    def duplicates(self) -> int:
        return sum(one != other for one, other in self.stands_for.items())


def merge(found: Sequence[Found]) -> Merged:
    """Facts that say the same become one. Each is compared only with those that share a rare word of it: near linear."""
    left: list[Found] = []
    stands_for: dict[str, str] = {}
    by_word: dict[str, list[int]] = {}
    for fact in found:
        at = next((i for i in _near(fact, by_word) if _is_same(left[i], fact)), None)
        if at is None:
            stands_for[fact.id] = fact.id
            for word in _keys(fact):
                by_word.setdefault(word, []).append(len(left))
            left.append(fact)
        else:
            stands_for[fact.id] = left[at].id
            left[at] = _one(left[at], fact)
    return Merged(tuple(left), stands_for)


def repoint(links: Iterable[Link], stands_for: dict[str, str]) -> tuple[tuple[Link, ...], int]:
    """The links between what is left, and how many had to go: those that lead nowhere, or from a fact to itself (CHUNK 9.3, 9.4).

    Of two between the same facts the more confident one stays (CHUNK 9.5).
    """
    kept: dict[tuple[str, str, str], Link] = {}
    gone = 0
    for link in links:
        ends = stands_for.get(link.source), stands_for.get(link.target)
        if ends[0] is None or ends[1] is None or ends[0] == ends[1]:
            gone += 1
            continue
        key = (ends[0], ends[1], link.kind)
        stated = [one.confidence for one in (link, *filter(None, (kept.get(key),))) if one.confidence is not None]
        kept[key] = Link(*key, confidence=max(stated, default=None))
    return tuple(kept.values()), gone


def _keys(fact: Found) -> frozenset[str]:
    return words(fact.content) or frozenset((folded(fact.content),))


def _near(fact: Found, by_word: dict[str, list[int]]) -> list[int]:
    """Who shares most of its words, the earliest first. A fifth of them may differ, so one of any quarter is shared."""
    mine = sorted(_keys(fact), key=lambda word: len(by_word.get(word, ())))
    rare = mine[: len(mine) // 4 + 1]
    return sorted({at for word in rare for at in by_word.get(word, ())})


def _is_same(one: Found, other: Found) -> bool:
    names = (*one.entities, *other.entities)
    return subject_key(one.subject) == subject_key(other.subject) and same(one.content, other.content, names)


def _one(known: Found, again: Found) -> Found:
    """The words of the more confident of the two, the earlier where they are equal."""
    best = again if (again.confidence or 0) > (known.confidence or 0) else known
    spans = tuple(dict.fromkeys((*known.spans, *again.spans)))
    return replace(
        best,
        id=known.id,
        entities=tuple(dict.fromkeys((*known.entities, *again.entities))),
        valid_from=best.valid_from or known.valid_from or again.valid_from,
        valid_to=best.valid_to or known.valid_to or again.valid_to,
        spans=spans,
    )
