"""Plan how new facts meet the known ones: groups, the prompt that compares them, and what becomes of each verdict.

Invariants: pure. Nothing is decided that the model is unsure of, that names what it was not shown, or that the words themselves
contradict: those become proposals for a person. Facts of one group are not alike, so each verdict is about earlier facts.
Source: TIMEM "Memory Consolidation"; spec README, small print on TIMEM rule 3 and conflicting times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from uuid import uuid4

import numpy as np

from memoir_engine.core.ports import Vectors
from memoir_engine.facts.extraction import DraftFact, Utterance
from memoir_engine.prompts.consolidate import FactComparison, Statement, Verdict
from memoir_engine.store.facts.rows import KnownFact, PlannedFact, PlannedProposal, PlannedSpan, Sighting, Supersession
from memoir_engine.text.attributes import fold_statement, may_oppose, read_slots, subject_key, words
from memoir_engine.text.partial_dates import format_date, parse_date_range

AT_ONCE = 10  # new facts in one call
ALIKE = 0.2  # of two new facts that near, the later one waits for the next call; two homes of one person are .24 to .5 by words
SECOND_OPINION = "second_opinion"
MODEL = "model"


@dataclass
class PlanDraft:
    """A plan while it grows."""

    facts: list[PlannedFact] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)
    supersessions: list[Supersession] = field(default_factory=list)
    proposals: list[PlannedProposal] = field(default_factory=list)
    stands_for: dict[str, int] = field(default_factory=dict)  # id of a draft fact → key or number
    gone: set[int] = field(default_factory=set)  # keys and numbers of facts that this plan outdates

    def add(self, fact: PlannedFact) -> int:
        """Add a fact and return its key, which is negative."""
        self.facts.append(replace(fact, key=-len(self.facts) - 1))
        return self.facts[-1].key

    def end(self, old: int, new: int, cause: str, reason: str, ended_at: datetime | None) -> None:
        self.supersessions.append(Supersession(old, new, cause, reason, ended_at))
        self.gone.add(old)


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


def planned_fact(fact: DraftFact, messages: Sequence[Utterance], zone: tzinfo, cut_at: Mapping[str, int]) -> PlannedFact:
    """Turn a draft into a fact of the plan, with its times as moments. cut_at: index of each cut, by its id."""
    first, last = parse_date_range(fact.valid_from, zone), parse_date_range(fact.valid_to, zone)
    if first is not None and last is not None and last.after <= first.first:
        last = None  # it would end before it began
    times = [messages[span.message].at for span in fact.spans]
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
        spans=tuple(PlannedSpan(span.message, span.start, span.end, cut_at[span.cut.id]) for span in fact.spans),
    )


def as_known(fact: PlannedFact) -> KnownFact:
    return KnownFact(**{name: getattr(fact, name) for name in KnownFact.__dataclass_fields__})


def is_restated(new: PlannedFact, known: KnownFact) -> bool:
    """Return True if the fact repeats a known one word for word, so that the model need not be asked."""
    return fold_statement(new.content) == fold_statement(known.content) and subject_key(new.subject) == subject_key(known.subject)


def comparison_prompt(
    new: Sequence[PlannedFact], near: Sequence[Sequence[KnownFact]], zone: tzinfo
) -> tuple[FactComparison, dict[int, KnownFact]]:
    """Return the content of the prompt, times in the speaker's zone, and the known facts by the numbers they have in it."""
    numbers: dict[int, int] = {}
    for old in (old for beside in near for old in beside):
        numbers.setdefault(old.key, len(numbers) + 1)
    known = {numbers[old.key]: old for beside in near for old in beside}
    shown = tuple(
        _statement(number, fact, zone, tuple(numbers[old.key] for old in beside))
        for number, (fact, beside) in enumerate(zip(new, near, strict=True), 1)
    )
    return FactComparison(shown, tuple(_statement(number, old, zone) for number, old in known.items())), known


def settle(plan: PlanDraft, draft: DraftFact, new: PlannedFact, verdict: Verdict, known: Mapping[int, KnownFact]) -> None:
    """Apply one verdict of the model to the plan."""
    olds = [known[number] for number in verdict.known if known[number].key not in plan.gone]
    if verdict.relation == "none" or not olds:
        plan.stands_for[draft.id] = plan.add(new)
        return
    sure = [old for old in olds if not _contradicts(new, old, verdict.relation)] if verdict.sure else []
    if verdict.relation == "duplicate" and sure:
        plan.stands_for[draft.id] = sure[0].key
        restate(plan, sure[0].key, new)
        return
    plan.stands_for[draft.id] = key = plan.add(new)
    cause = "merged" if verdict.relation == "complementary" else verdict.relation
    if cause == "merged" and len(sure) == len(olds):
        plan.stands_for[draft.id] = _merge(plan, key, sure, verdict)
    elif cause in ("conflict", "update"):
        for old in sure:
            plan.end(old.key, key, cause, verdict.why, ended(plan.facts[-key - 1], old))
    left = [old for old in olds if old.key not in plan.gone]
    if left:
        plan.proposals.extend(_proposals(new, key, left, cause, verdict))


def _proposals(new: PlannedFact, key: int, left: Sequence[KnownFact], cause: str, verdict: Verdict) -> Iterator[PlannedProposal]:
    """Propose that the earlier statement gives way: if an old conversation arrives late, to the first one said after it."""
    doubt = SECOND_OPINION if verdict.sure else MODEL
    later = [old for old in left if cause in ("conflict", "update") and _is_earlier(new, old)]
    earlier = tuple(old.key for old in left if old not in later)
    if earlier:
        yield PlannedProposal(cause, doubt, key, earlier, verdict.why, verdict.merged)
    elif later:
        first = min(later, key=lambda old: (old.said_at or datetime.max.replace(tzinfo=UTC), old.key))
        yield PlannedProposal(cause, doubt, first.key, (key,), verdict.why, verdict.merged)


def ended(new: PlannedFact | KnownFact, old: PlannedFact | KnownFact) -> datetime | None:
    """Return when the old fact stopped being true: when the new one began to be, as far as that is known."""
    since = new.valid_from or new.said_at
    began = old.valid_from or old.said_at
    return since if since is None or began is None or since >= began else new.said_at


def restate(plan: PlanDraft, key: int, new: PlannedFact) -> None:
    """Give the spans of a repeated fact to the one that is kept."""
    if key > 0:
        plan.sightings.append(Sighting(key, new.spans))
        return
    kept = plan.facts[-key - 1]
    plan.facts[-key - 1] = replace(kept, spans=tuple(dict.fromkeys((*kept.spans, *new.spans))))


def _merge(plan: PlanDraft, key: int, olds: Sequence[KnownFact], verdict: Verdict) -> int:
    """Add one fact that says what all of them say, with the origins of all; they give way to it. Return its key."""
    new = plan.facts[-key - 1]
    parts: list[PlannedFact | KnownFact] = [new, *olds]
    stated = [part.confidence for part in parts if part.confidence is not None]
    since = next((part for part in parts if part.valid_from is not None), new)
    until = next((part for part in parts if part.valid_to is not None), new)
    planned_spans = [span for old in olds if old.key < 0 for span in plan.facts[-old.key - 1].spans]
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
    merged = plan.add(fuller)
    for part_key in (*(old.key for old in olds), key):
        plan.end(part_key, merged, "merged", verdict.why, None)
    return merged


def _contradicts(new: PlannedFact, old: KnownFact, relation: str) -> bool:
    """Return True if subjects, words, numbers or times speak against the model's verdict: the engine's own opinion."""
    if not may_oppose(new.content, old.content, (new.subject, old.subject), (new.type, old.type)):
        return True
    if relation == "duplicate":
        return _numbers(new.content) != _numbers(old.content)
    return relation in ("conflict", "update") and _is_earlier(new, old)


def _is_earlier(new: PlannedFact, old: KnownFact) -> bool:
    return new.said_at is not None and old.said_at is not None and new.said_at < old.said_at


def _numbers(text: str) -> set[str]:
    return {word for word in words(text) if any(map(str.isdigit, word))}


def _statement(number: int, fact: PlannedFact | KnownFact, zone: tzinfo, near: tuple[int, ...] = ()) -> Statement:
    """Show both ends as they were stated: "until 2015" holds until the first moment of 2016, and is written 2015."""
    since = format_date(fact.valid_from, fact.from_precision, zone)
    until = format_date(fact.valid_to and fact.valid_to - timedelta(microseconds=1), fact.to_precision, zone)
    said_at = "" if fact.said_at is None else fact.said_at.astimezone(zone).isoformat(timespec="seconds")
    return Statement(number, fact.content, fact.type, fact.subject, said_at, since, until, near)
