"""New facts as they meet the known ones: groups of them, what is shown beside each, and what becomes of each verdict.

Invariant: pure. Nothing is done that the model is not sure of, that names what it was not shown, or that the words themselves
speak against: that is put to a person. Facts of one group are not alike, so each verdict is about facts of before.
Source: TIMEM "Memory Consolidation"; spec README, small print on TIMEM rule 3 and conflicting times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from uuid import uuid4

import numpy as np

from memoir_engine.core.ports import Vectors
from memoir_engine.facts.extraction import DraftFact, Utterance
from memoir_engine.prompts.consolidate import Meeting, Statement, Verdict
from memoir_engine.store.facts.rows import Known, PlannedFact, PlannedProposal, PlannedSpan, Sighting, Supersession
from memoir_engine.text.attributes import filled, folded, may_oppose, subject_key, words
from memoir_engine.text.partial_dates import between, written

AT_ONCE = 10  # new facts in one call
ALIKE = 0.2  # of two new facts that near, the later one waits for the next call; two homes of one person are .24 to .5 by words
SECOND_OPINION = "second_opinion"
MODEL = "model"


@dataclass
class PlanDraft:
    """A plan as it grows. standing: what new facts may meet, those of this plan included."""

    facts: list[PlannedFact] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)
    supersessions: list[Supersession] = field(default_factory=list)
    proposals: list[PlannedProposal] = field(default_factory=list)
    stands_for: dict[str, int] = field(default_factory=dict)  # id of a found fact → key or number
    gone: set[int] = field(default_factory=set)  # keys and numbers of what is outdated by this plan

    def add(self, fact: PlannedFact) -> int:
        """Its key."""
        self.facts.append(replace(fact, key=-len(self.facts) - 1))
        return self.facts[-1].key

    def end(self, old: int, new: int, cause: str, reason: str, ended_at: datetime | None) -> None:
        self.supersessions.append(Supersession(old, new, cause, reason, ended_at))
        self.gone.add(old)


def groups(vectors: Vectors, contents: Sequence[str] = ()) -> list[list[int]]:
    """Facts to be asked about together, by place: like ones never, and no later one before an earlier one that it is like.

    contents: two that say where somebody lives or works are alike, too, however few words they share.
    """
    near = vectors @ vectors.T >= ALIKE
    for places in _of_one_slot(contents):
        near[np.ix_(places, places)] = True
    left, found = list(range(len(vectors))), []
    while left:
        group: list[int] = []
        waiting: list[int] = []
        for place in left:
            fits = len(group) < AT_ONCE and not near[place, [*group, *waiting]].any()
            (group if fits else waiting).append(place)
        found.append(group)
        left = waiting
    return found


def _of_one_slot(contents: Sequence[str]) -> Iterable[list[int]]:
    by_slot: dict[str, list[int]] = {}
    for place, content in enumerate(contents):
        for slot in filled(content):
            by_slot.setdefault(slot, []).append(place)
    return by_slot.values()


def planned_fact(fact: DraftFact, messages: Sequence[Utterance], zone: tzinfo, cut_at: Mapping[str, int]) -> PlannedFact:
    """Times as moments, spans as the plan has them. cut_at: the place of each cut, by its id."""
    first, last = between(fact.valid_from, zone), between(fact.valid_to, zone)
    if first is not None and last is not None and last.after <= first.first:
        last = None  # it would end before it begins
    said = [messages[span.message].at for span in fact.spans]
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
        said_at=max((at for at in said if at is not None), default=None),
        spans=tuple(PlannedSpan(span.message, span.start, span.end, cut_at[span.cut.id]) for span in fact.spans),
    )


def as_known(fact: PlannedFact) -> Known:
    return Known(**{name: getattr(fact, name) for name in Known.__dataclass_fields__})


def is_restated(new: PlannedFact, known: Known) -> bool:
    """Said again in the same words, about the same: nobody needs to be asked."""
    return folded(new.content) == folded(known.content) and subject_key(new.subject) == subject_key(known.subject)


def comparison_prompt(
    new: Sequence[PlannedFact], near: Sequence[Sequence[Known]], zone: tzinfo
) -> tuple[Meeting, dict[int, Known]]:
    """What is shown, in the zone in which it was said, and the known facts by the numbers they have there."""
    numbers: dict[int, int] = {}
    for one in (one for some in near for one in some):
        numbers.setdefault(one.key, len(numbers) + 1)
    known = {numbers[one.key]: one for some in near for one in some}
    shown = tuple(
        _statement(number, fact, zone, tuple(numbers[one.key] for one in beside))
        for number, (fact, beside) in enumerate(zip(new, near, strict=True), 1)
    )
    return Meeting(shown, tuple(_statement(number, one, zone) for number, one in known.items())), known


def settle(plan: PlanDraft, found: DraftFact, new: PlannedFact, verdict: Verdict, known: Mapping[int, Known]) -> None:
    """Take one verdict into the plan."""
    olds = [known[number] for number in verdict.known if known[number].key not in plan.gone]
    if verdict.relation == "none" or not olds:
        plan.stands_for[found.id] = plan.add(new)
        return
    doubted = [one for one in olds if _speaks_against(new, one, verdict.relation)]
    sure = [one for one in olds if one not in doubted] if verdict.sure else []
    if verdict.relation == "duplicate" and sure:
        plan.stands_for[found.id] = sure[0].key
        restate(plan, sure[0].key, new)
        return
    plan.stands_for[found.id] = key = plan.add(new)
    cause = "merged" if verdict.relation == "complementary" else verdict.relation
    if cause == "merged" and len(sure) == len(olds):
        plan.stands_for[found.id] = _fuller(plan, key, sure, verdict)
    elif cause in ("conflict", "update"):
        for one in sure:
            plan.end(one.key, key, cause, verdict.why, ended(plan.facts[-key - 1], one))
    left = [one for one in olds if one.key not in plan.gone]
    if left:
        plan.proposals.extend(_proposed(new, key, left, cause, verdict))


def _proposed(new: PlannedFact, key: int, left: Sequence[Known], cause: str, verdict: Verdict) -> Iterator[PlannedProposal]:
    """What was said first gives way: of an older conversation that comes later, to the first that was said after it."""
    doubt = SECOND_OPINION if verdict.sure else MODEL
    after = [one for one in left if cause in ("conflict", "update") and _is_earlier(new, one)]
    before = tuple(one.key for one in left if one not in after)
    if before:
        yield PlannedProposal(cause, doubt, key, before, verdict.why, verdict.merged)
    elif after:
        first = min(after, key=lambda one: (one.said_at or datetime.max.replace(tzinfo=UTC), one.key))
        yield PlannedProposal(cause, doubt, first.key, (key,), verdict.why, verdict.merged)


def ended(new: PlannedFact | Known, old: PlannedFact | Known) -> datetime | None:
    """When the old one stopped being true: when the new one began to be, as far as that is known."""
    since = new.valid_from or new.said_at
    began = old.valid_from or old.said_at
    return since if since is None or began is None or since >= began else new.said_at


def restate(plan: PlanDraft, key: int, new: PlannedFact) -> None:
    """Its spans go to the fact that stands; to one of this plan at once."""
    if key > 0:
        plan.sightings.append(Sighting(key, new.spans))
        return
    known = plan.facts[-key - 1]
    plan.facts[-key - 1] = replace(known, spans=tuple(dict.fromkeys((*known.spans, *new.spans))))


def _fuller(plan: PlanDraft, key: int, olds: Sequence[Known], verdict: Verdict) -> int:
    """One fact that says what both say, with the origins of both; both of them give way to it."""
    new = plan.facts[-key - 1]
    own = [plan.facts[-one.key - 1].spans for one in olds if one.key < 0]
    parts: list[PlannedFact | Known] = [new, *olds]
    stated = [one.confidence for one in parts if one.confidence is not None]
    since = next((one for one in parts if one.valid_from is not None), new)
    until = next((one for one in parts if one.valid_to is not None), new)
    names = (name for one in parts for name in one.entities)
    fuller = replace(
        new,
        uid=str(uuid4()),
        content=verdict.merged,
        entities=tuple(dict.fromkeys(names)),
        confidence=max(stated, default=None),
        valid_from=since.valid_from,
        from_precision=since.from_precision,
        valid_to=until.valid_to,
        to_precision=until.to_precision,
        spans=tuple(dict.fromkeys((*new.spans, *(span for spans in own for span in spans)))),
        takes=tuple(one.key for one in olds if one.key > 0),
    )
    merged = plan.add(fuller)
    for one in (*(one.key for one in olds), key):
        plan.end(one, merged, "merged", verdict.why, None)
    return merged


def _speaks_against(new: PlannedFact, old: Known, relation: str) -> bool:
    """The engine's own opinion, from subjects, words, numbers and times."""
    if not may_oppose(new.content, old.content, (new.subject, old.subject), (new.type, old.type)):
        return True
    if relation == "duplicate":
        return _numbers(new.content) != _numbers(old.content)
    return relation in ("conflict", "update") and _is_earlier(new, old)


def _is_earlier(new: PlannedFact, old: Known) -> bool:
    return new.said_at is not None and old.said_at is not None and new.said_at < old.said_at


def _numbers(text: str) -> set[str]:
    return {word for word in words(text) if any(map(str.isdigit, word))}


def _statement(number: int, fact: PlannedFact | Known, zone: tzinfo, near: tuple[int, ...] = ()) -> Statement:
    """Both ends as they were said: "until 2015" holds until the first moment of 2016, and is written 2015."""
    since = written(fact.valid_from, fact.from_precision, zone)
    until = written(fact.valid_to and fact.valid_to - timedelta(microseconds=1), fact.to_precision, zone)
    said = "" if fact.said_at is None else fact.said_at.astimezone(zone).isoformat(timespec="seconds")
    return Statement(number, fact.content, fact.type, fact.subject, said, since, until, near)
