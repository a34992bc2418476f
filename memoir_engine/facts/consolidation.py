"""Let what was drawn from a conversation meet what is known of the same user, and plan what becomes of both.

Invariant: the model sees only facts of this owner that stand; nothing is written here. What others change meanwhile is found at
the commit, and then everything is compared again.
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
from memoir_engine.core.ports import NearestIndex, Vectors
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
from memoir_engine.store.facts.rows import FactPlan, Known, PlannedFact, PlannedLink

T = TypeVar("T")

LEXICAL_FLOOR = -1.0  # vectors of words see nothing common in "works as a nurse" and "started as a teacher"
BROAD = 4  # nearest facts looked at for each that is shown: outdated ones are among them


@dataclass
class ConsolidationInput:
    """What was drawn, in the order in which it was said. vectors: (n, dim), once they are there."""

    facts: Sequence[DraftFact]
    links: Sequence[DraftLink]
    messages: Sequence[Utterance]
    zone: tzinfo
    cut_at: dict[str, int]
    vectors: Vectors | None = None
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class KnownFacts:
    """What is known of the owner at a seq. index: finds the owner's facts, None where there are none."""

    index: NearestIndex | None
    seq: int


async def known_facts(
    material: ConsolidationInput, owner: str, near: Nearness, run: Run, read: Callable[[Tx], T]
) -> tuple[KnownFacts, T]:
    """And what is read at that very moment. Raises what keeps the embedder away."""
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
    """Raises what keeps the model or the embedder away: nothing is stored then."""
    if material.vectors is None:
        return FactPlan(known.seq)
    comparing = _Comparing(material, owner, near, ask, run, known.index)
    asked = (material.vectors, [fact.content for fact in material.facts])
    together = groups(*asked) if len(material.vectors) <= AT_ONCE else await asyncio.to_thread(groups, *asked)
    for group in together:
        await comparing.group(group)
    plan = comparing.plan
    links, _ = repoint(material.links, {one: one for one in plan.stands_for})
    ends = {(plan.stands_for[one.source], plan.stands_for[one.target], one.kind): one for one in links}
    merged = sum(one.cause == "merged" for one in plan.supersessions)
    superseded = len(plan.supersessions) - merged
    duplicates = len(material.facts) - len(comparing.added)
    run.emit(FactsCompared(len(material.facts), len(comparing.met), duplicates, superseded, merged, len(plan.proposals)))
    return FactPlan(
        seq=known.seq,
        facts=tuple(plan.facts),
        sightings=tuple(plan.sightings),
        supersessions=tuple(plan.supersessions),
        proposals=tuple(plan.proposals),
        links=tuple(PlannedLink(*key, confidence=one.confidence) for key, one in ends.items() if key[0] != key[1]),
        vectors=await comparing.all_vectors(),
    )


class _Comparing:
    """One pass over the groups. added: places of what became facts of their own; met: keys of known facts that were shown."""

    def __init__(
        self, material: ConsolidationInput, owner: str, near: Nearness, ask: AskAboutFacts, run: Run, held: NearestIndex | None
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
        asked: list[int] = []
        for place, fact, beside in zip(places, new, near, strict=True):
            known = next((one for one in beside if is_restated(fact, one)), None)
            if known is not None:
                self.plan.stands_for[material.facts[place].id] = known.key
                restate(self.plan, known.key, fact)
            elif beside:
                asked.append(place)
            else:
                self._alone(place, fact)
        if asked:
            chosen = [places.index(place) for place in asked]
            await self._judged(asked, [new[at] for at in chosen], [near[at] for at in chosen])

    async def all_vectors(self) -> Vectors:
        """Of the facts of the plan in their order; those of fuller ones are asked for."""
        lacking = [fact for fact in self.plan.facts if fact.key not in self._vectors]
        if lacking:
            made = await self._near.vectors([fact.content for fact in lacking], self._run)
            self._vectors |= {fact.key: vector for fact, vector in zip(lacking, made, strict=True)}
        empty = np.zeros((0, 0), np.float32)
        return np.stack([self._vectors[fact.key] for fact in self.plan.facts]) if self.plan.facts else empty

    def _alone(self, place: int, fact: PlannedFact) -> None:
        key = self.plan.add(fact)
        self.plan.stands_for[self._material.facts[place].id] = key
        self._took(place, key)

    def _took(self, place: int, key: int) -> None:
        assert self._material.vectors is not None
        self._vectors[key] = self._material.vectors[place]
        self.added.add(place)

    async def _judged(self, places: Sequence[int], new: Sequence[PlannedFact], near: Sequence[Sequence[Known]]) -> None:
        shown, known = comparison_prompt(new, near, self._material.zone)
        self.met |= {one.key for one in known.values()}
        reply = await self._ask(prompts_consolidate.build(shown))
        parsed = prompts_consolidate.parse(reply.data, shown)
        for note in parsed.notes:
            self._material.warnings.append(note)
            self._run.emit(Warned("consolidate", note))
        for place, fact, verdict in zip(places, new, parsed.verdicts, strict=True):
            before = len(self.plan.facts)
            settle(self.plan, self._material.facts[place], fact, verdict, known)
            if len(self.plan.facts) > before:
                self._took(place, -before - 1)
        await self.all_vectors()

    async def _candidates(self, places: Sequence[int]) -> list[list[Known]]:
        """For each of the places the nearest that stand, nearest first; stored ones and those of this plan."""
        assert self._material.vectors is not None
        wanted = [self._material.vectors[at] for at in places]
        stored = await self._near.top(self._held, wanted, LIMIT * BROAD)
        ranked = [[one.key for one in some if one.key not in self.plan.gone] for some in stored]
        owner = self._owner
        rows = await self._near.db.aread(lambda tx: facts.standing(tx, owner, ranked, LIMIT)) if any(ranked) else {}
        found: list[list[Known]] = []
        floor = LEXICAL_FLOOR if self._near.embedder.lexical else 0.0
        for some, fresh in zip(stored, self._of_plan(wanted), strict=True):
            mine = [(one.cosine, rows[one.key]) for one in some if one.key in rows] + fresh
            left = [(-cosine, one.key, one) for cosine, one in mine if one.key not in self.plan.gone and cosine > floor]
            found.append([one for _, _, one in sorted(left, key=lambda each: each[:2])[:LIMIT]])
        return found

    def _of_plan(self, wanted: Sequence[Vectors]) -> list[list[tuple[float, Known]]]:
        """Of this plan's own facts those that may be shown beside each of the vectors; of like ones the later first."""
        left = [fact for fact in reversed(self.plan.facts) if fact.key not in self.plan.gone]
        if not left:
            return [[] for _ in wanted]
        cosines = np.stack([self._vectors[fact.key] for fact in left]) @ np.stack(wanted).T
        nearest = np.argsort(-cosines, axis=0, kind="stable")[:LIMIT]
        return [[(float(cosines[at, of]), as_known(left[at])) for at in nearest[:, of]] for of in range(len(wanted))]
