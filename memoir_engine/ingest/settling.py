"""Settle which of the new names of a wave mean the same as another, or as a category that exists.

Invariant: at most one recorded call per wave, and none where no two names are close. Names that differ in case, width or spaces
only are one, without a call. Two new names that one reply used side by side are not asked about: the model told them apart. Each
name maps to an existing one, or to one of the proposed ones.
Source: DESIGN §8 ("close ones are settled by one short call"); docs/decisions/0045.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from memoir_engine.prompts import classify
from memoir_engine.runtime.model import Ask
from memoir_engine.text.names import fold
from memoir_engine.text.similarity import group_close_names
from memoir_engine.text.terms import Terms
from memoir_engine.text.tree_shape import shared_words

TERMS_SHOWN = 6  # of a name
HALF, NEAR = 0.5, 0.15  # of the words of two names, together with this nearness of the texts: worth a question
MOST_EXISTING = 4  # shown for one new name


@dataclass(frozen=True)
class ProposedName:
    """The new name of one chunk. call_id: of the reply that has it. nearness: of the chunk to existing categories, by name."""

    name: str
    terms: Terms
    call_id: int | None = None
    nearness: Mapping[str, float] = field(default_factory=dict)


async def settle(
    proposed: Sequence[ProposedName], options: classify.LevelOptions, ask: Ask, existing: Callable[[str], classify.NewName]
) -> dict[str, str]:
    """Map each new name to the one that stays; names that stay themselves may be absent.

    options: offered to the wave. existing: describes one of them.
    """
    spelling: dict[str, str] = {}
    same = {new.name: spelling.setdefault(fold(new.name), new.name) for new in proposed}
    chunks: dict[str, list[ProposedName]] = {}
    for new in proposed:
        chunks.setdefault(same[new.name], []).append(new)
    close = {name: _close_existing(name, chunks[name], options.names) for name in chunks}
    doubtful = {name for group in _close_groups(chunks) for name in group} | {name for name, beside in close.items() if beside}
    if not doubtful:
        return same
    beside = dict.fromkeys(name for new in chunks for name in close[new])
    request = classify.SettleRequest(
        options.level,
        options.path,
        tuple(_new_name(name, [new.terms for new in chunks[name]]) for name in chunks if name in doubtful),
        tuple(map(existing, beside)),
        options.room if options.room < len(doubtful) else classify.AMPLE,
    )
    answer = await ask(classify.build_settle(request))
    kept = classify.parse_settle(answer.data, request)
    return {name: kept.get(target, target) for name, target in same.items()}


def _close_groups(chunks: Mapping[str, Sequence[ProposedName]]) -> tuple[tuple[str, ...], ...]:
    calls = {name: {new.call_id for new in own} for name, own in chunks.items()}
    return group_close_names(
        {name: [new.terms for new in own] for name, own in chunks.items()},
        is_apart=lambda one, other: bool(calls[one] & calls[other]),
    )


def _close_existing(name: str, own: Sequence[ProposedName], names: Sequence[str]) -> list[str]:
    """Return the existing names that a new one may mean, the closest first."""
    ranked = []
    for other in names:
        words, near = shared_words(name, other), max(new.nearness.get(other, 0.0) for new in own)
        if words >= 1 or (words >= HALF and near >= NEAR):
            ranked.append((-words, -near, other))
    return [other for _, _, other in sorted(ranked)[:MOST_EXISTING]]


def _new_name(name: str, texts: list[Terms]) -> classify.NewName:
    """Return the name with the commonest terms of its chunks."""
    counts: Counter[str] = Counter()
    for terms in texts:
        counts.update(terms.counts)
    commonest = sorted(counts, key=lambda stem: (-counts[stem], stem))[:TERMS_SHOWN]
    surfaces = {stem: surface for terms in texts for stem, surface in terms.surfaces.items()}
    return classify.NewName(name, len(texts), tuple(surfaces.get(stem, stem) for stem in commonest))
