"""Filing by word statistics: the nearest category, a known subject, or a new category named by its own words.

Invariant: the same prompt gives the same answer; a closed level gets existing names only; what a chunk says is counted, never
obeyed. Ids are taken in order: a later chunk may join the new category of an earlier one.
Nearness (the evidence, and what people placed) places; subjects name and steer the upper two levels; categories that hold twice
their fair share draw less, and the more options a parent has for its chunks, the less a new one is worth.
New names that mean the same are merged: the same words, a name within another, or the same key terms; every name is answered
once, by itself or by a name that is answered by itself.
Source: DESIGN §10; verified/offline-model.md §4.3 (balanced: without a soft cap half the memory lands in one leaf).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memoir_engine.prompts.classify import Batch, LevelOptions, NewName, SettleRequest, read, read_settle
from memoir_engine.text.names import fold
from memoir_engine.text.similarity import OptionIndex, TermVector, term_vector
from memoir_engine.text.terms import Terms, terms, tokens
from memoir_offline.phrases import GENERAL, Naming
from memoir_offline.subjects import Match, Shelves, all_branches, branches, content, subjects

HELPER_WEIGHT = 0.35  # of the source's own subject beside the chunk's
SUBJECT_WEIGHT = 0.35  # of a clear subject beside nearness
CLEAR_SHARE = 0.10  # share of a text's words from which on a subject is fully clear
LEAST_SHARE = 0.025
ELSEWHERE = 0.5  # a branch of another subject beside one of the parent's own
NEW_AT = (0.12, 0.12, 0.12)  # what a new category is worth at levels 1, 2, 3 and below
NAME_WEIGHT = 0.08  # of an option whose name the chunk itself contains
NEW_PER_BATCH = 3  # once there are options: eight batches of a wave name new ones without seeing each other's
NEAR_NOTHING = 0.03  # below, no option has anything to do with the chunk
TAUGHT = 0.5  # what a person placed counts as the evidence counts an option's best examples: as one half of its nearness
CAPPED_FROM = 12  # chunks below the parent before balance matters
SAME_TERMS = 0.5  # part of the smaller list of key terms


@dataclass
class _Chunk:
    number: int
    text: str
    terms: Terms
    vector: TermVector
    shares: Mapping[str, float]  # subject or branch → share of the words about it, helper included


@dataclass
class _Fresh:
    """New categories of this batch, with the chunks that joined them."""

    names: list[str] = field(default_factory=list)
    members: list[list[TermVector]] = field(default_factory=list)

    def join(self, name: str, row: TermVector) -> None:
        if name not in self.names:
            self.names.append(name)
            self.members.append([])
        self.members[self.names.index(name)].append(row)

    def nearness(self, row: TermVector) -> dict[str, float]:
        near = OptionIndex(self.members).nearness([row])[0] if self.names else ()
        return dict(zip(self.names, map(float, near), strict=True))


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a classify prompt. The reply fits the schema its options ask for."""
    batch = read(text)
    fresh = _Fresh()
    chosen = [{"id": chunk.number, "category": _place(chunk, at, batch, fresh)} for at, chunk in enumerate(_chunks(batch))]
    return {"chunks": chosen}


def _place(chunk: _Chunk, at: int, batch: Batch, fresh: _Fresh) -> str:
    options = batch.options
    values = _existing(chunk, at, batch)
    if options.room <= 0:
        return _best(values)
    for name, near in fresh.nearness(chunk.vector).items():
        values[name] = near + _subject_value(name, chunk.shares)
    newest = _new(chunk, batch, values, _thrift(options, at, len(fresh.names)))
    if newest and _may_add(options, fresh):
        name, worth = newest
        if worth > max(values.values(), default=0.0):
            values[name] = worth
    if max(values.values(), default=0.0) < NEAR_NOTHING and not newest:
        return _general(batch, fresh, chunk)
    name = _best(values)
    if name not in options.names:
        fresh.join(name, chunk.vector)
    return name


def _general(batch: Batch, fresh: _Fresh, chunk: _Chunk) -> str:
    """Return the general category, for a chunk that says nothing, in the spelling of the options."""
    name = next((name for name in batch.options.names if fold(name) == fold(GENERAL)), GENERAL)
    if name not in batch.options.names:
        fresh.join(name, chunk.vector)
    return name


def _existing(chunk: _Chunk, at: int, batch: Batch) -> dict[str, float]:
    """Score each existing option for the chunk, at least as high as the examples that people filed there.

    Adding the two counts an example twice and lets weak likenesses outvote the evidence: it made more errors than it fixed.
    """
    shown = {found.category: found for found in batch.evidence}
    values: dict[str, float] = {}
    taught: dict[str, float] = {}
    for name in batch.options.names:
        found = shown.get(name)
        value = (found.nearness[at] if found else 0.0) + _subject_value(name, chunk.shares)
        values[name] = value * _balance(found.size if found else 0, batch.options) + NAME_WEIGHT * _named(name, chunk.terms)
    for example in batch.examples:
        taught[example.category] = max(taught.get(example.category, 0.0), example.nearness[at])
    return {name: max(value, TAUGHT * taught.get(name, 0.0)) for name, value in values.items()}


def _balance(size: int, options: LevelOptions) -> float:
    """Return 1 up to twice the fair share of chunks, then less as the category grows."""
    if options.level < min(3, options.depth) or options.filed < CAPPED_FROM:
        return 1.0
    fair = options.filed / max(len(options.names), _wanted(options.level, options.filed))
    return min(1.0, math.pow(2 * fair / max(size, 1), 1.5))


def _new(chunk: _Chunk, batch: Batch, values: Mapping[str, float], thrift: float) -> tuple[str, float] | None:
    """Return the name and the score of a new category; None if none fits."""
    options = batch.options
    worth = NEW_AT[min(options.level, len(NEW_AT)) - 1] * thrift
    subject = max(chunk.shares, key=lambda name: (chunk.shares[name], name), default=None)
    if subject is not None and chunk.shares[subject] >= LEAST_SHARE:
        known = next((name for name in values if fold(name) == fold(subject)), None)
        return None if known else (subject, worth + _subject_value(subject, chunk.shares) * max(0.4, min(1.0, thrift)))
    name = Naming(batch).name(chunk.text, taken=values, insist=max(values.values(), default=0.0) >= NEAR_NOTHING)
    if name is None and options.level > 2:
        name = _branch(chunk, options)
    return (name, worth * (0.8 if chunk.shares else 1.0)) if name else None


def _branch(chunk: _Chunk, options: LevelOptions) -> str | None:
    """Return the branch, of any subject, that a chunk without a naming phrase speaks of most."""
    path = {fold(name) for name in options.path}
    found = {name: match.share for name, match in all_branches().match(chunk.terms.counts).items() if fold(name) not in path}
    return max(found, key=lambda name: (found[name], name), default=None)


def _may_add(options: LevelOptions, fresh: _Fresh) -> bool:
    return len(fresh.names) < min(options.room, NEW_PER_BATCH if options.names else options.room)


def _thrift(options: LevelOptions, earlier: int, fresh: int) -> float:
    """Return a factor above 1 while there are fewer options than the chunks would fill, below 1 if there are more.

    earlier: chunks of this batch before this one; fresh: the new categories they made.
    """
    filled = _wanted(options.level, options.filed + earlier) / (len(options.names) + fresh + 1)
    return min(1.2, filled * filled)


def _wanted(level: int, filed: int) -> float:
    """Return how many options suit this many chunks; the square root keeps every level of the tree equally wide."""
    return (5 if level == 1 else 0.8) + 0.9 * math.sqrt(filed)


def _subject_value(name: str, shares: Mapping[str, float]) -> float:
    top = max(shares.values(), default=0.0)
    if top < LEAST_SHARE or name not in shares:
        return 0.0
    return SUBJECT_WEIGHT * min(1.0, top / CLEAR_SHARE) * shares[name] / top


def _named(name: str, found: Terms) -> float:
    """Return the share of the name's words that the chunk contains."""
    words = terms(name).counts
    return sum(1 for stem in words if stem in found.counts) / len(words) if words else 0.0


def _best(values: Mapping[str, float]) -> str:
    """Return the name of the highest value; ties go to the first."""
    return max(values, key=lambda name: values[name])


def _chunks(batch: Batch) -> list[_Chunk]:
    counted = [(number, text, terms(text)) for number, text in batch.chunks]
    ids = {stem: at for at, stem in enumerate(sorted({stem for _, _, found in counted for stem in found.counts}))}
    source = terms(batch.helper)
    return [
        _Chunk(number, text, found, term_vector(found, ids), _about(batch.options, found, source))
        for number, text, found in counted
    ]


def _about(options: LevelOptions, found: Terms, source: Terms) -> dict[str, float]:
    """Score subjects at level 1; at level 2 branches, the parent's before those of other subjects; nothing below."""
    if options.level == 1:
        return _shares(subjects(), found, source)
    if options.level > 2:
        return {}
    own = branches(options.path[0])
    inside = _shares(own, found, source, least=1) if own else {}
    known = {fold(name) for name in options.path}
    outside = {
        name: ELSEWHERE * share for name, share in _shares(all_branches(), found, source).items() if fold(name) not in known
    }
    return {**outside, **inside}


def _shares(shelves: Shelves, found: Terms, source: Terms, least: int = 0) -> dict[str, float]:
    """Return the share of each subject in the chunk and its source. least: words a subject needs; 0 sets it by length."""
    of_source = shelves.match(source.counts)
    said = len(content(found.counts))
    least = least or (1 if said < 15 else 2 if said < 40 else 3)
    own = {name: match.share for name, match in shelves.match(found.counts).items() if match.words >= least}
    return {name: share + HELPER_WEIGHT * _share(of_source, name) for name, share in own.items()}


def _share(of_source: Mapping[str, Match], name: str) -> float:
    return of_source[name].share if name in of_source and of_source[name].words > 1 else 0.0


def settle_names(text: str, schema: dict[str, Any]) -> dict[str, Any]:
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
