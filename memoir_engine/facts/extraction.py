"""Extract facts from a conversation, cut by cut, each with the words that state it.

Invariants: cuts are asked in order, each with a recap of what came before; a failing cut costs no other unless the caller wants
to stop at the first. Each quote is looked up in the messages of its cut: one that is not there is marked, never invented.
A fact found in several cuts becomes one, with all its origins and the best confidence; two that differ in a number, a negation
or a name stay two. Relations name facts by their ids, and only facts that were shown together; many facts are shown in
overlapping groups. Except for `extract` and `related`, which ask the model, everything here is pure.
Source: CHUNK 7, 8, 9, 11, 12; TIMEM "Memory Extraction"; spec README, small print on CHUNK 8.3.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from uuid import uuid4

from memoir_engine.core.errors import CostCapReached, ModelError, NothingExtracted
from memoir_engine.core.events import CutExtracted, CutFailed, FactsMerged, Warned
from memoir_engine.core.results.conversations import Cut
from memoir_engine.core.results.facts import CutFailure, ExtractedMemory, FactOrigin, FactRelation, FactType
from memoir_engine.core.run import Run
from memoir_engine.prompts import facts
from memoir_engine.prompts.facts import CutMessage, ExtractedFact, ExtractRequest, RelatableFact
from memoir_engine.runtime.model import AskAboutFacts
from memoir_engine.text.attributes import fold_statement, is_same, subject_key, words
from memoir_engine.text.messages import Message
from memoir_engine.text.spans import find_quote
from memoir_engine.text.transcripts import is_label_of

SHOWN = 60  # facts in one call: pairs grow with the square, prompts with the number
STEP = 45  # the last quarter of a group meets the next one
COSTS_ONE_CUT = (ModelError, CostCapReached)  # anything else ends the whole extraction
_ROLES = {"human": "user", "ai": "assistant"}


@dataclass(frozen=True)
class Utterance:
    """One message of the conversation. id: the caller's, or None."""

    index: int
    id: str | None
    role: str
    name: str | None
    at: datetime | None
    text: str


@dataclass(frozen=True)
class Span:
    """The words that state a fact. message: index, from 0. start, end: None if the quote is not in the message."""

    message: int
    start: int | None
    end: int | None
    cut: Cut

    @property
    def is_supported(self) -> bool:
        return self.start is not None


@dataclass(frozen=True)
class DraftFact:
    """A fact before it meets what is known. valid_from, valid_to: "" or an ISO date of any precision. spans: as found."""

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
class DraftLink:
    """Relation between two draft facts, by their ids."""

    source: str
    target: str
    kind: str
    confidence: float | None


@dataclass(frozen=True)
class MergedFacts:
    """Distinct facts in the order first stated. stands_for: id of every draft fact → id of the one that was kept."""

    facts: tuple[DraftFact, ...]
    stands_for: dict[str, str] = field(default_factory=dict)

    @property
    def duplicates(self) -> int:
        return sum(fact_id != kept_id for fact_id, kept_id in self.stands_for.items())


@dataclass(frozen=True)
class ExtractionInput:
    """A conversation to extract from. person: name for a user without one. zone: in which message times are shown.

    before: the last messages before it, already known. untimed: the time given to messages that have none.
    """

    messages: Sequence[Utterance]
    cuts: Sequence[Cut]
    person: str
    zone: tzinfo
    before: Sequence[Utterance] = ()
    untimed: datetime | None = None


@dataclass
class Extraction:
    """Outcome of an extraction. Times in milliseconds."""

    merged: MergedFacts = field(default_factory=lambda: MergedFacts(()))
    links: tuple[DraftLink, ...] = ()
    failures: list[CutFailure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    drawn: int = 0
    orphans: int = 0
    extraction_ms: float = 0.0
    deduplication_ms: float = 0.0

    @property
    def unsupported(self) -> int:
        return sum(not span.is_supported for fact in self.merged.facts for span in fact.spans)


async def extract(source: ExtractionInput, ask: AskAboutFacts, run: Run, *, fail_fast: bool) -> Extraction:
    """Draw, merge and relate the facts of a conversation.

    Raises NothingExtracted if every cut failed, or at the first failure with `fail_fast`; and whatever ends the run.
    """
    outcome = Extraction()
    began = run.clock.tick_ms()
    drafts = await _ask_cuts(source, ask, run, outcome, fail_fast)
    outcome.extraction_ms = run.clock.tick_ms() - began
    began = run.clock.tick_ms()
    outcome.drawn, outcome.merged = len(drafts), merge(drafts)
    try:
        links = await related(outcome.merged.facts, ask)
    except COSTS_ONE_CUT as failed:
        links = ()
        _warn(outcome, run, "relate", f"how the facts are related could not be asked: {failed}")
    outcome.links, outcome.orphans = repoint(links, outcome.merged.stands_for)
    outcome.deduplication_ms = run.clock.tick_ms() - began
    run.emit(
        FactsMerged(outcome.drawn, len(outcome.merged.facts), outcome.merged.duplicates, len(outcome.links), outcome.orphans)
    )
    return outcome


def merge(drafts: Sequence[DraftFact]) -> MergedFacts:
    """Join facts that say the same. Each is compared only with those that share a rare word of it: near linear."""
    kept: list[DraftFact] = []
    stands_for: dict[str, str] = {}
    by_word: dict[str, list[int]] = {}
    for fact in drafts:
        keys = words(fact.content) or frozenset((fold_statement(fact.content),))
        at = next((i for i in _candidates(keys, by_word) if _is_same(kept[i], fact)), None)
        if at is None:
            stands_for[fact.id] = fact.id
            for word in keys:
                by_word.setdefault(word, []).append(len(kept))
            kept.append(fact)
        else:
            stands_for[fact.id] = kept[at].id
            kept[at] = _joined(kept[at], fact)
    return MergedFacts(tuple(kept), stands_for)


def repoint(links: Iterable[DraftLink], stands_for: dict[str, str]) -> tuple[tuple[DraftLink, ...], int]:
    """Return the links between the facts kept, and how many were dropped.

    Dropped are links that lead nowhere or from a fact to itself (CHUNK 9.3, 9.4). Of two between the same facts the more
    confident one stays (CHUNK 9.5).
    """
    kept: dict[tuple[str, str, str], DraftLink] = {}
    dropped = 0
    for link in links:
        source, target = stands_for.get(link.source), stands_for.get(link.target)
        if source is None or target is None or source == target:
            dropped += 1
            continue
        key = (source, target, link.kind)
        same_ends = (link, kept[key]) if key in kept else (link,)
        stated = [other.confidence for other in same_ends if other.confidence is not None]
        kept[key] = DraftLink(*key, confidence=max(stated, default=None))
    return tuple(kept.values()), dropped


def _candidates(keys: Iterable[str], by_word: dict[str, list[int]]) -> list[int]:
    """Places of facts that may say the same, earliest first. A fifth of the words may differ, so one of any quarter is shared."""
    rarest = sorted(keys, key=lambda word: len(by_word.get(word, ())))
    return sorted({at for word in rarest[: len(rarest) // 4 + 1] for at in by_word.get(word, ())})


def _is_same(fact: DraftFact, other: DraftFact) -> bool:
    names = (*fact.entities, *other.entities)
    return subject_key(fact.subject) == subject_key(other.subject) and is_same(fact.content, other.content, names)


def _joined(known: DraftFact, again: DraftFact) -> DraftFact:
    """Take the words of the more confident of the two, of the earlier one if they are equal."""
    best = again if (again.confidence or 0) > (known.confidence or 0) else known
    return replace(
        best,
        id=known.id,
        entities=tuple(dict.fromkeys((*known.entities, *again.entities))),
        valid_from=best.valid_from or known.valid_from or again.valid_from,
        valid_to=best.valid_to or known.valid_to or again.valid_to,
        spans=tuple(dict.fromkeys((*known.spans, *again.spans))),
    )


def utterances(messages: Sequence[Message]) -> tuple[Utterance, ...]:
    return tuple(
        Utterance(index, message.id, _ROLES.get(message.speaker, message.speaker), message.name, message.said_at, message.text)
        for index, message in enumerate(messages)
    )


def as_memories(
    facts: Iterable[DraftFact], user: str | None, conversation: str, messages: Sequence[Message]
) -> tuple[ExtractedMemory, ...]:
    spoken = utterances(messages)
    return tuple(
        ExtractedMemory(
            id=fact.id,
            user_id=user,
            content=fact.content,
            type=fact.type,
            subject=fact.subject,
            entities=fact.entities,
            confidence=fact.confidence,
            valid_from=fact.valid_from or None,
            valid_to=fact.valid_to or None,
            origins=tuple(_origin(conversation, spoken[span.message], span) for span in fact.spans),
        )
        for fact in facts
    )


def as_relations(links: Iterable[DraftLink]) -> tuple[FactRelation, ...]:
    return tuple(FactRelation(link.source, link.target, link.kind, link.confidence) for link in links)


def _origin(conversation: str, message: Utterance, span: Span) -> FactOrigin:
    return FactOrigin(
        conversation_id=conversation,
        message=message.index + 1,
        message_id=message.id,
        role=message.role,
        speaker=message.name,
        at=message.at,
        start=span.start,
        end=span.end,
        quote=message.text[span.start : span.end] if span.is_supported else None,
        supported=span.is_supported,
        removed=False,
        digest=hashlib.sha256(message.text.encode()).hexdigest(),
        cut_id=span.cut.id,
    )


async def related(drafts: Sequence[DraftFact], ask: AskAboutFacts) -> tuple[DraftLink, ...]:
    """Ask how the facts relate to one another; a single fact is not asked about."""
    links: list[DraftLink] = []
    for first in range(0, max(1, len(drafts) - (SHOWN - STEP)), STEP):
        group = drafts[first : first + SHOWN]
        if len(group) < 2:
            break
        shown = tuple(_numbered(number, fact) for number, fact in enumerate(group, 1))
        reply = await ask(facts.build_relate(shown))
        for link in facts.parse_relate(reply.data, shown):
            links.append(DraftLink(group[link.source - 1].id, group[link.target - 1].id, link.kind, link.confidence))
    return tuple(links)


def _numbered(number: int, fact: DraftFact) -> RelatableFact:
    cuts = tuple(dict.fromkeys(span.cut.n for span in fact.spans))
    return RelatableFact(number, fact.content, fact.type, fact.subject, fact.entities, cuts)


async def _ask_cuts(
    source: ExtractionInput, ask: AskAboutFacts, run: Run, outcome: Extraction, fail_fast: bool
) -> list[DraftFact]:
    drafts: list[DraftFact] = []
    recapped = ""
    if source.before:
        earlier = (_turn(source, message, number, message.text) for number, message in enumerate(source.before, 1))
        talk = ExtractRequest(source.person, 1, 2, "", tuple(earlier))  # as a cut of its own that nothing came before
        recapped = await _recap(talk, "before it", ask, run, outcome)
    for cut in source.cuts:
        talk = ExtractRequest(
            source.person, cut.n, cut.of, recapped, tuple(_cut_turn(source, cut, index) for index in cut.indexes)
        )
        try:
            drafts += await _ask_cut(source, cut, talk, ask, run, outcome)
        except COSTS_ONE_CUT as failed:
            outcome.failures.append(CutFailure(cut.id, cut.n, cut.of, failed.code, str(failed), failed.remedy))
            run.emit(CutFailed(cut.id, cut.n, cut.of, str(failed)))
            if fail_fast or len(outcome.failures) == len(source.cuts):
                count = len(outcome.failures)
                raise NothingExtracted(
                    cut=cut.label, problem=str(failed), failed=count, cuts=cut.of, advice=failed.remedy
                ) from failed
        if cut.n < cut.of:
            recapped = await _recap(talk, cut.label, ask, run, outcome)
    return drafts


async def _ask_cut(
    source: ExtractionInput, cut: Cut, talk: ExtractRequest, ask: AskAboutFacts, run: Run, outcome: Extraction
) -> list[DraftFact]:
    began = run.clock.tick_ms()
    reply = await ask(facts.build(talk))
    parsed = facts.parse(reply.data, talk)
    outcome.warnings += [f"cut {cut.label}: {note}" for note in parsed.notes]
    drafts = [_draft(source, cut, drawn) for drawn in parsed.facts]
    unsupported = sum(not fact.spans[0].is_supported for fact in drafts)
    run.emit(CutExtracted(cut.id, cut.n, cut.of, cut.tokens, len(drafts), unsupported, run.clock.tick_ms() - began))
    return drafts


async def _recap(talk: ExtractRequest, label: str, ask: AskAboutFacts, run: Run, outcome: Extraction) -> str:
    """Summarise a cut for the next one. If that fails, continue without a recap and add a warning."""
    try:
        return facts.parse_recap((await ask(facts.build_recap(talk))).data)
    except COSTS_ONE_CUT as failed:
        _warn(outcome, run, "recap", f"cut {label} has no recap, the next is read without one: {failed}")
        return ""


def _warn(outcome: Extraction, run: Run, step: str, text: str) -> None:
    outcome.warnings.append(text)
    run.emit(Warned(step, text))


def _cut_turn(source: ExtractionInput, cut: Cut, index: int) -> CutMessage:
    message = source.messages[index]
    return _turn(source, message, index + 1, message.text[cut.start : cut.end] if cut.split else message.text)


def _turn(source: ExtractionInput, message: Utterance, number: int, text: str) -> CutMessage:
    """Leave the name out for the user, however the message calls them: they are one subject, not several.

    A message without a time of its own shows the day it was handed in, so that a retry asks the same and is not paid for twice.
    """
    name = None if message.name is None or _is_person(source, message.name) else message.name
    at = None if message.at is None else message.at.astimezone(source.zone)
    if at is not None and message.at == source.untimed:
        at = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return CutMessage(number, message.role, name, at, text)


def _is_person(source: ExtractionInput, name: str) -> bool:
    return fold_statement(name) != fold_statement(source.person) and is_label_of(source.person, name)


def _draft(source: ExtractionInput, cut: Cut, drawn: ExtractedFact) -> DraftFact:
    return DraftFact(
        id=str(uuid4()),
        content=drawn.content,
        type=drawn.type,
        subject=source.person if _is_person(source, drawn.subject) else drawn.subject,
        entities=drawn.entities,
        confidence=drawn.confidence,
        valid_from=drawn.valid_from,
        valid_to=drawn.valid_to,
        spans=(_span(source, cut, drawn),),
    )


def _span(source: ExtractionInput, cut: Cut, drawn: ExtractedFact) -> Span:
    """Find the quote in the message it names, else in another of the cut: the words count, not the number."""
    named = drawn.message - 1
    for index in (named, *(other for other in cut.indexes if other != named)):
        text = source.messages[index].text
        first, last = (cut.start or 0, cut.end) if cut.split else (0, None)
        at = find_quote(drawn.quote, text[first:last])
        if at is not None:
            return Span(index, first + at[0], first + at[1], cut)
    return Span(named, None, None, cut)
