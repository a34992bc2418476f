"""Compare the facts drawn from a conversation with what is known of the same user, and plan what becomes of both.

Invariants: the model sees only this owner's current facts; nothing is written here. Changes that others make meanwhile are
detected at the commit, and then everything is compared again.
Source: TIMEM "Similarity Search", "Memory Consolidation"; DESIGN §2.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TypeVar

import numpy as np

from memoir_engine.core.events import FactsCompared, Warned
from memoir_engine.core.ports import VectorIndex, Vectors
from memoir_engine.core.run import Run
from memoir_engine.facts.extraction import DraftFact, DraftLink, Utterance, repoint
from memoir_engine.facts.merge import (
    AT_ONCE,
    PlanDraft,
    as_known,
    comparison_prompt,
    groups,
    is_restated,
    planned_fact,
    restate,
    settle,
)
from memoir_engine.prompts import consolidate as prompts_consolidate
from memoir_engine.runtime.indexes import LIMIT, Nearness
from memoir_engine.runtime.model import AskAboutFacts
from memoir_engine.store.chain import actions
from memoir_engine.store.db.types import Tx
from memoir_engine.store.facts import facts
from memoir_engine.store.facts.rows import FactPlan, KnownFact, PlannedFact, PlannedLink

T = TypeVar("T")

LEXICAL_FLOOR = -1.0  # word vectors see nothing in common between "works as a nurse" and "started as a teacher"
BROAD = 4  # facts searched for each that is shown, since outdated ones are among the nearest


@dataclass
class ConsolidationInput:
    """Draft facts in the order in which they were stated. vectors: (n, dim), once computed."""

    facts: Sequence[DraftFact]
    links: Sequence[DraftLink]
    messages: Sequence[Utterance]
    zone: tzinfo
    cut_at: dict[str, int]
    vectors: Vectors | None = None
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class KnownFacts:
    """Facts of the owner as of a seq. index: finds them, None if there are none."""

    index: VectorIndex | None
    seq: int


async def known_facts(
    material: ConsolidationInput, owner: str, near: Nearness, run: Run, read: Callable[[Tx], T]
) -> tuple[KnownFacts, T]:
    """Open the owner's facts, and run `read` in the same transaction. Raises the embedder's errors."""
    if not material.facts:
        seq, more = await near.db.aread(lambda tx: (actions.seq(tx), read(tx)))
        return KnownFacts(None, seq), more
    if material.vectors is None:
        material.vectors = await near.vectors([fact.content for fact in material.facts], run)
    index, seq, more = await near.beside(owner, run, read)
    return KnownFacts(index, seq), more


async def consolidate(
    material: ConsolidationInput, known: KnownFacts, owner: str, near: Nearness, ask: AskAboutFacts, run: Run
) -> FactPlan:
    """Compare the drafts with the known facts, group by group. Raises errors of the model and the embedder; nothing is stored."""
    if material.vectors is None:
        return FactPlan(known.seq)
    comparing = _Comparing(material, owner, near, ask, run, known.index)
    drafts = (material.vectors, [fact.content for fact in material.facts])
    together = groups(*drafts) if len(material.vectors) <= AT_ONCE else await asyncio.to_thread(groups, *drafts)
    for group in together:
        await comparing.group(group)
    plan = comparing.plan
    links, _ = repoint(material.links, {fact_id: fact_id for fact_id in plan.stands_for})
    ends = {(plan.stands_for[link.source], plan.stands_for[link.target], link.kind): link for link in links}
    merged = sum(supersession.cause == "merged" for supersession in plan.supersessions)
    superseded = len(plan.supersessions) - merged
    duplicates = len(material.facts) - len(comparing.added)
    run.emit(FactsCompared(len(material.facts), len(comparing.met), duplicates, superseded, merged, len(plan.proposals)))
    return FactPlan(
        seq=known.seq,
        facts=tuple(plan.facts),
        sightings=tuple(plan.sightings),
        supersessions=tuple(plan.supersessions),
        proposals=tuple(plan.proposals),
        links=tuple(PlannedLink(*key, confidence=link.confidence) for key, link in ends.items() if key[0] != key[1]),
        vectors=await comparing.all_vectors(),
    )


class _Comparing:
    """One pass over the groups. added: indexes of drafts that became new facts; met: keys of known facts that were shown."""

    def __init__(
        self, material: ConsolidationInput, owner: str, near: Nearness, ask: AskAboutFacts, run: Run, held: VectorIndex | None
    ) -> None:
        self._material, self._owner, self._near, self._ask, self._run = material, owner, near, ask, run
        self._held = held
        self._vectors: dict[int, Vectors] = {}  # by key
        self.plan = PlanDraft()
        self.added: set[int] = set()
        self.met: set[int] = set()

    async def group(self, places: Sequence[int]) -> None:
        material = self._material
        new = [planned_fact(material.facts[at], material.messages, material.zone, material.cut_at) for at in places]
        near = await self._candidates(places)
        unclear: list[int] = []
        for place, fact, beside in zip(places, new, near, strict=True):
            known = next((old for old in beside if is_restated(fact, old)), None)
            if known is not None:
                self.plan.stands_for[material.facts[place].id] = known.key
                restate(self.plan, known.key, fact)
            elif beside:
                unclear.append(place)
            else:
                key = self.plan.add(fact)
                self.plan.stands_for[material.facts[place].id] = key
                self._keep_vector(place, key)
        if unclear:
            chosen = [places.index(place) for place in unclear]
            await self._ask_verdicts(unclear, [new[at] for at in chosen], [near[at] for at in chosen])

    async def all_vectors(self) -> Vectors:
        """Return the vectors of the plan's facts, in order; those of merged facts are computed now."""
        missing = [fact for fact in self.plan.facts if fact.key not in self._vectors]
        if missing:
            vectors = await self._near.vectors([fact.content for fact in missing], self._run)
            self._vectors |= {fact.key: vector for fact, vector in zip(missing, vectors, strict=True)}
        empty = np.zeros((0, 0), np.float32)
        return np.stack([self._vectors[fact.key] for fact in self.plan.facts]) if self.plan.facts else empty

    def _keep_vector(self, place: int, key: int) -> None:
        assert self._material.vectors is not None
        self._vectors[key] = self._material.vectors[place]
        self.added.add(place)

    async def _ask_verdicts(self, places: Sequence[int], new: Sequence[PlannedFact], near: Sequence[Sequence[KnownFact]]) -> None:
        shown, known = comparison_prompt(new, near, self._material.zone)
        self.met |= {fact.key for fact in known.values()}
        reply = await self._ask(prompts_consolidate.build(shown))
        parsed = prompts_consolidate.parse(reply.data, shown)
        for note in parsed.notes:
            self._material.warnings.append(note)
            self._run.emit(Warned("consolidate", note))
        for place, fact, verdict in zip(places, new, parsed.verdicts, strict=True):
            before = len(self.plan.facts)
            settle(self.plan, self._material.facts[place], fact, verdict, known)
            if len(self.plan.facts) > before:
                self._keep_vector(place, -before - 1)
        await self.all_vectors()

    async def _candidates(self, places: Sequence[int]) -> list[list[KnownFact]]:
        """Return the nearest current facts of each draft, nearest first: stored ones and those of this plan."""
        assert self._material.vectors is not None
        vectors = [self._material.vectors[at] for at in places]
        stored = await self._near.top(self._held, vectors, LIMIT * BROAD)
        ranked = [[hit.key for hit in hits if hit.key not in self.plan.gone] for hits in stored]
        owner = self._owner
        rows = await self._near.db.aread(lambda tx: facts.candidates(tx, owner, ranked, LIMIT)) if any(ranked) else {}
        candidates: list[list[KnownFact]] = []
        floor = LEXICAL_FLOOR if self._near.embedder.lexical else 0.0
        for hits, fresh in zip(stored, self._planned(vectors), strict=True):
            scored = [(hit.cosine, rows[hit.key]) for hit in hits if hit.key in rows] + fresh
            left = [(-cosine, fact.key, fact) for cosine, fact in scored if fact.key not in self.plan.gone and cosine > floor]
            candidates.append([fact for _, _, fact in sorted(left, key=lambda scored: scored[:2])[:LIMIT]])
        return candidates

    def _planned(self, vectors: Sequence[Vectors]) -> list[list[tuple[float, KnownFact]]]:
        """Return this plan's own facts nearest to each vector, with their cosines; the later of two equally near first."""
        left = [fact for fact in reversed(self.plan.facts) if fact.key not in self.plan.gone]
        if not left:
            return [[] for _ in vectors]
        cosines = np.stack([self._vectors[fact.key] for fact in left]) @ np.stack(vectors).T
        nearest = np.argsort(-cosines, axis=0, kind="stable")[:LIMIT]
        return [[(float(cosines[at, of]), as_known(left[at])) for at in nearest[:, of]] for of in range(len(vectors))]
