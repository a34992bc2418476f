"""Compare the facts drawn from a conversation with what is known of the same user, and plan what becomes of both.

Invariants: the model sees only this owner's current facts; nothing is written here. Changes that others make meanwhile are
detected at the commit, and then everything is compared again. Nothing is decided that the model is unsure of, that names what it
was not shown, or that the words themselves contradict: those become proposals for a person. Facts of one group are not alike, so
each verdict is about earlier facts.
Source: TIMEM "Similarity Search", "Memory Consolidation"; DESIGN §2.2; spec README, small print on TIMEM rule 3 and conflicting
times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TypeVar
from uuid import uuid4

import numpy as np

from memoir_engine.core.events import FactsCompared, Warned
from memoir_engine.core.ports import VectorIndex, Vectors
from memoir_engine.core.run import Run
from memoir_engine.facts.extraction import DraftFact, DraftLink, IndexedMessage, repoint
from memoir_engine.prompts import consolidate as prompts_consolidate
from memoir_engine.prompts.consolidate import FactComparison, Statement, Verdict
from memoir_engine.runtime.indexes import LIMIT, Nearness
from memoir_engine.runtime.model import Ask
from memoir_engine.store.chain import actions
from memoir_engine.store.db.statements import Tx
from memoir_engine.store.facts import facts
from memoir_engine.store.facts.rows import (
    FactPlan,
    KnownFact,
    PlannedFact,
    PlannedLink,
    PlannedProposal,
    PlannedSpan,
    Sighting,
    Supersession,
)
from memoir_engine.text.attributes import fold_statement, may_oppose, read_slots, subject_key, words
from memoir_engine.text.partial_dates import format_date, parse_date_range

T = TypeVar("T")

LEXICAL_FLOOR = -1.0  # word vectors see nothing in common between "works as a nurse" and "started as a teacher"
BROAD = 4  # facts searched for each that is shown, since outdated ones are among the nearest
AT_ONCE = 10  # new facts in one call
ALIKE = 0.2  # of two new facts that near, the later one waits for the next call; two homes of one person are .24 to .5 by words
SECOND_OPINION = "second_opinion"
MODEL = "model"


@dataclass
class ConsolidationInput:
    """Draft facts in the order in which they were stated. cut_at: index of each cut, by its id. vectors: (n, dim), once known."""

    facts: Sequence[DraftFact]
    links: Sequence[DraftLink]
    messages: Sequence[IndexedMessage]
    zone: tzinfo
    cut_at: dict[str, int]
    vectors: Vectors | None = None
    warnings: list[str] = field(default_factory=list)

    def planned(self, fact: DraftFact) -> PlannedFact:
        """Turn a draft into a fact of the plan, with its times as moments."""
        first, last = parse_date_range(fact.valid_from, self.zone), parse_date_range(fact.valid_to, self.zone)
        if first is not None and last is not None and last.after <= first.first:
            last = None  # it would end before it began
        times = [self.messages[span.message].at for span in fact.spans]
        return PlannedFact(
            key=0,
            uid=fact.id,
            type=fact.type,
            content=fact.content,
            subject=fact.subject,
            entities=fact.entities,
            confidence=fact.confidence,
            valid_from=first and first.first,
            from_precision=first and first.precision,
            valid_to=last and last.after,
            to_precision=last and last.precision,
            said_at=max((at for at in times if at is not None), default=None),
            spans=tuple(PlannedSpan(span.message, span.start, span.end, self.cut_at[span.cut.id]) for span in fact.spans),
        )


@dataclass(frozen=True)
class KnownFacts:
    """Facts of the owner as of a seq. index: finds them, None if there are none."""

    owner: str
    index: VectorIndex | None
    seq: int


async def known_facts(
    material: ConsolidationInput, owner: str, near: Nearness, run: Run, read: Callable[[Tx], T]
) -> tuple[KnownFacts, T]:
    """Open the owner's facts, and run `read` in the same transaction. Raises the embedder's errors."""
    if not material.facts:
        seq, more = await near.db.aread(lambda tx: (actions.seq(tx), read(tx)))
        return KnownFacts(owner, None, seq), more
    if material.vectors is None:
        material.vectors = await near.vectors([fact.content for fact in material.facts], run)
    index, seq, more = await near.beside(owner, run, read)
    return KnownFacts(owner, index, seq), more


async def consolidate(material: ConsolidationInput, known: KnownFacts, near: Nearness, ask: Ask, run: Run) -> FactPlan:
    """Compare the drafts with the known facts, group by group. Raises errors of the model and the embedder; nothing is stored."""
    if material.vectors is None:
        return FactPlan(known.seq)
    comparison = Comparison(material, material.vectors, known, near, ask, run)
    drafts = (material.vectors, [fact.content for fact in material.facts])
    together = groups(*drafts) if len(material.vectors) <= AT_ONCE else await asyncio.to_thread(groups, *drafts)
    for group in together:
        await comparison.compare(group)
    plan = comparison.plan
    links, _ = repoint(material.links, {fact_id: fact_id for fact_id in plan.stands_for})
    ends = {(plan.stands_for[link.source], plan.stands_for[link.target], link.kind): link for link in links}
    merged = sum(supersession.cause == "merged" for supersession in plan.supersessions)
    superseded = len(plan.supersessions) - merged
    duplicates = len(material.facts) - plan.drafts
    run.emit(FactsCompared(len(material.facts), len(comparison.shown), duplicates, superseded, merged, len(plan.proposals)))
    return FactPlan(
        seq=known.seq,
        facts=tuple(plan.facts),
        sightings=tuple(plan.sightings),
        supersessions=tuple(plan.supersessions),
        proposals=tuple(plan.proposals),
        links=tuple(PlannedLink(*key, confidence=link.confidence) for key, link in ends.items() if key[0] != key[1]),
        vectors=await comparison.vectors(),
    )


def groups(vectors: Vectors, contents: Sequence[str] = ()) -> list[list[int]]:
    """Group facts, by index, that may be asked about together: never similar ones, nor a later one before an earlier similar one.

    contents: two that say where somebody lives or works count as similar, however few words they share.
    """
    near = vectors @ vectors.T >= ALIKE
    by_attribute: dict[str, list[int]] = {}
    for place, content in enumerate(contents):
        for attribute in read_slots(content):
            by_attribute.setdefault(attribute, []).append(place)
    for places in by_attribute.values():
        near[np.ix_(places, places)] = True
    left, grouped = list(range(len(vectors))), []
    while left:
        group: list[int] = []
        waiting: list[int] = []
        for place in left:
            fits = len(group) < AT_ONCE and not near[place, [*group, *waiting]].any()
            (group if fits else waiting).append(place)
        grouped.append(group)
        left = waiting
    return grouped


@dataclass
class PlanDraft:
    """A plan while it grows. Facts have negative keys here, known ones their numbers."""

    facts: list[PlannedFact] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)
    supersessions: list[Supersession] = field(default_factory=list)
    proposals: list[PlannedProposal] = field(default_factory=list)
    stands_for: dict[str, int] = field(default_factory=dict)  # id of a draft fact → key or number
    gone: set[int] = field(default_factory=set)  # keys and numbers of facts that this plan outdates
    vectors: dict[int, Vectors] = field(default_factory=dict)  # by key; a merged fact has none yet
    drafts: int = 0  # draft facts that became new facts

    def add_draft(self, fact: PlannedFact, vector: Vectors) -> int:
        self.stands_for[fact.uid] = key = self.add(fact)
        self.vectors[key] = vector
        self.drafts += 1
        return key

    def add(self, fact: PlannedFact) -> int:
        """Add a fact and return its key."""
        self.facts.append(replace(fact, key=-len(self.facts) - 1))
        return self.facts[-1].key

    def end(self, old: int, new: int, cause: str, reason: str, ended_at: datetime | None) -> None:
        self.supersessions.append(Supersession(old, new, cause, reason, ended_at))
        self.gone.add(old)

    def nearest(self, vectors: Sequence[Vectors]) -> list[list[tuple[float, KnownFact]]]:
        """Return the plan's own facts nearest to each vector, with their cosines; the later of two equally near first."""
        left = [fact for fact in reversed(self.facts) if fact.key not in self.gone]
        if not left:
            return [[] for _ in vectors]
        cosines = np.stack([self.vectors[fact.key] for fact in left]) @ np.stack(vectors).T
        best = np.argsort(-cosines, axis=0, kind="stable")[:LIMIT]
        return [[(float(cosines[at, of]), _as_known(left[at])) for at in best[:, of]] for of in range(len(vectors))]

    def settle(self, new: PlannedFact, vector: Vectors, verdict: Verdict, known: Mapping[int, KnownFact]) -> None:
        """Apply one verdict of the model on a draft fact."""
        olds = [known[number] for number in verdict.known if known[number].key not in self.gone]
        if verdict.relation == "none" or not olds:
            self.add_draft(new, vector)
            return
        sure = [old for old in olds if not contradicts(new, old, verdict.relation)] if verdict.sure else []
        if verdict.relation == "duplicate" and sure:
            self.restate(new, sure[0].key)
            return
        key = self.add_draft(new, vector)
        cause = "merged" if verdict.relation == "complementary" else verdict.relation
        if cause == "merged" and len(sure) == len(olds):
            self.stands_for[new.uid] = self.merge(key, sure, verdict)
        elif cause in ("conflict", "update"):
            for old in sure:
                self.end(old.key, key, cause, verdict.why, planned_end(new, old))
        left = [old for old in olds if old.key not in self.gone]
        if left:
            self.propose(new, key, left, cause, verdict)

    def restate(self, new: PlannedFact, key: int) -> None:
        """Give the spans of a repeated fact to the one that is kept."""
        self.stands_for[new.uid] = key
        if key > 0:
            self.sightings.append(Sighting(key, new.spans))
            return
        kept = self.facts[-key - 1]
        self.facts[-key - 1] = replace(kept, spans=tuple(dict.fromkeys((*kept.spans, *new.spans))))

    def merge(self, key: int, olds: Sequence[KnownFact], verdict: Verdict) -> int:
        """Add one fact that says what all of them say, with the origins of all; they give way to it. Return its key."""
        new = self.facts[-key - 1]
        parts: list[PlannedFact | KnownFact] = [new, *olds]
        stated = [part.confidence for part in parts if part.confidence is not None]
        since = next((part for part in parts if part.valid_from is not None), new)
        until = next((part for part in parts if part.valid_to is not None), new)
        planned_spans = [span for old in olds if old.key < 0 for span in self.facts[-old.key - 1].spans]
        fuller = replace(
            new,
            uid=str(uuid4()),
            content=verdict.merged,
            entities=tuple(dict.fromkeys(name for part in parts for name in part.entities)),
            confidence=max(stated, default=None),
            valid_from=since.valid_from,
            from_precision=since.from_precision,
            valid_to=until.valid_to,
            to_precision=until.to_precision,
            spans=tuple(dict.fromkeys((*new.spans, *planned_spans))),
            takes=tuple(old.key for old in olds if old.key > 0),
        )
        merged = self.add(fuller)
        for part_key in (*(old.key for old in olds), key):
            self.end(part_key, merged, "merged", verdict.why, None)
        return merged

    def propose(self, new: PlannedFact, key: int, left: Sequence[KnownFact], cause: str, verdict: Verdict) -> None:
        """Propose that the earlier statement gives way: if an old conversation arrives late, to the first one said after it."""
        doubt = SECOND_OPINION if verdict.sure else MODEL
        later = [old for old in left if cause in ("conflict", "update") and is_earlier(new, old)]
        earlier = tuple(old.key for old in left if old not in later)
        first = min(later, key=lambda old: (old.said_at or datetime.max.replace(tzinfo=UTC), old.key), default=None)
        if earlier:
            self.proposals.append(PlannedProposal(cause, doubt, key, earlier, verdict.why, verdict.merged))
        elif first:
            self.proposals.append(PlannedProposal(cause, doubt, first.key, (key,), verdict.why, verdict.merged))


@dataclass
class Comparison:
    """One pass over the groups of draft facts. shown: keys of the known facts that the model saw."""

    material: ConsolidationInput
    draft_vectors: Vectors  # (n, dim)
    known: KnownFacts
    near: Nearness
    ask: Ask
    run: Run
    plan: PlanDraft = field(default_factory=PlanDraft)
    shown: set[int] = field(default_factory=set)

    async def compare(self, places: Sequence[int]) -> None:
        """Compare the drafts of a group. places: their indexes. Only those with neighbours are asked about."""
        vectors = [self.draft_vectors[place] for place in places]
        unclear: list[tuple[PlannedFact, Vectors, list[KnownFact]]] = []
        for place, vector, beside in zip(places, vectors, await self.candidates(vectors), strict=True):
            fact = self.material.planned(self.material.facts[place])
            repeated = next((old for old in beside if _is_restated(fact, old)), None)
            if repeated is not None:
                self.plan.restate(fact, repeated.key)
            elif beside:
                unclear.append((fact, vector, beside))
            else:
                self.plan.add_draft(fact, vector)
        if not unclear:
            return
        prompt, known = _comparison_prompt([(fact, beside) for fact, _, beside in unclear], self.material.zone)
        self.shown |= {fact.key for fact in known.values()}
        parsed = prompts_consolidate.parse((await self.ask(prompts_consolidate.build(prompt))).data, prompt)
        for note in parsed.notes:
            self.material.warnings.append(note)
            self.run.emit(Warned("consolidate", note))
        for (fact, vector, _), verdict in zip(unclear, parsed.verdicts, strict=True):
            self.plan.settle(fact, vector, verdict, known)
        await self.vectors()

    async def vectors(self) -> Vectors:
        """Return the vectors of the plan's facts, in order; those of merged facts are computed now."""
        plan = self.plan
        missing = [fact for fact in plan.facts if fact.key not in plan.vectors]
        if missing:
            vectors = await self.near.vectors([fact.content for fact in missing], self.run)
            plan.vectors |= {fact.key: vector for fact, vector in zip(missing, vectors, strict=True)}
        empty = np.zeros((0, 0), np.float32)
        return np.stack([plan.vectors[fact.key] for fact in plan.facts]) if plan.facts else empty

    async def candidates(self, vectors: Sequence[Vectors]) -> list[list[KnownFact]]:
        """Return the nearest current facts of each draft, nearest first: stored ones and those of this plan."""
        gone, owner = self.plan.gone, self.known.owner
        stored = await self.near.top(self.known.index, vectors, LIMIT * BROAD)
        ranked = [[hit.key for hit in hits if hit.key not in gone] for hits in stored]
        rows = await self.near.db.aread(lambda tx: facts.candidates(tx, owner, ranked, LIMIT)) if any(ranked) else {}
        floor = LEXICAL_FLOOR if self.near.embedder.lexical else 0.0
        candidates: list[list[KnownFact]] = []
        for hits, planned in zip(stored, self.plan.nearest(vectors), strict=True):
            scored = [(hit.cosine, rows[hit.key]) for hit in hits if hit.key in rows] + planned
            left = [(-cosine, fact.key, fact) for cosine, fact in scored if fact.key not in gone and cosine > floor]
            candidates.append([fact for _, _, fact in sorted(left, key=lambda score: score[:2])[:LIMIT]])
        return candidates


def _comparison_prompt(
    new: Sequence[tuple[PlannedFact, Sequence[KnownFact]]], zone: tzinfo
) -> tuple[FactComparison, dict[int, KnownFact]]:
    """Return the content of the prompt, times in the speaker's zone, and the known facts by the numbers they have in it.

    new: the facts to compare, each with its neighbours.
    """
    by_key = {old.key: old for _, beside in new for old in beside}
    numbers = {key: number for number, key in enumerate(by_key, 1)}
    shown = tuple(
        statement(number, fact, zone, tuple(numbers[old.key] for old in beside)) for number, (fact, beside) in enumerate(new, 1)
    )
    known = {numbers[key]: old for key, old in by_key.items()}
    return FactComparison(shown, tuple(statement(number, old, zone) for number, old in known.items())), known


def statement(number: int, fact: PlannedFact | KnownFact, zone: tzinfo, near: tuple[int, ...] = ()) -> Statement:
    """Show both ends as they were stated: "until 2015" holds until the first moment of 2016, and is written 2015."""
    since = format_date(fact.valid_from, fact.from_precision, zone)
    until = format_date(fact.valid_to and fact.valid_to - timedelta(microseconds=1), fact.to_precision, zone)
    said_at = "" if fact.said_at is None else fact.said_at.astimezone(zone).isoformat(timespec="seconds")
    return Statement(number, fact.content, fact.type, fact.subject, said_at, since, until, near)


def _as_known(fact: PlannedFact) -> KnownFact:
    return KnownFact(**{name: getattr(fact, name) for name in KnownFact.__dataclass_fields__})


def _is_restated(new: PlannedFact, known: KnownFact) -> bool:
    """Return True if the fact repeats a known one word for word, so that the model need not be asked."""
    return fold_statement(new.content) == fold_statement(known.content) and subject_key(new.subject) == subject_key(known.subject)


def contradicts(new: PlannedFact, old: KnownFact, relation: str) -> bool:
    """Return True if subjects, words, numbers or times speak against the model's verdict: the engine's own opinion."""
    if not may_oppose(new.content, old.content, (new.subject, old.subject), (new.type, old.type)):
        return True
    if relation == "duplicate":
        numbers = [{word for word in words(fact.content) if any(map(str.isdigit, word))} for fact in (new, old)]
        return numbers[0] != numbers[1]
    return relation in ("conflict", "update") and is_earlier(new, old)


def is_earlier(new: PlannedFact, old: KnownFact) -> bool:
    return new.said_at is not None and old.said_at is not None and new.said_at < old.said_at


def planned_end(new: PlannedFact, old: KnownFact) -> datetime | None:
    """Return when the old fact stopped being true: when the new one began to be, as far as that is known.

    The new one was not said before the old, else a person is asked, who may settle it by `store.facts.reviews.settled_end`.
    """
    since = new.valid_from or new.said_at
    began = old.valid_from or old.said_at
    return since if since is None or began is None or since >= began else new.said_at
