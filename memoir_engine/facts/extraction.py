"""Facts drawn from a conversation, cut after cut, each with the words that say it.

Invariant: cuts are asked in their order, each with a recap of what came before; a cut that fails costs no other, unless one
wants to stop at the first. A quote is looked for in the messages of its cut: what is not there is marked, never invented.
Source: CHUNK 7, 8, 9, 11, 12; TIMEM "Memory Extraction".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from uuid import uuid4

from memoir_engine.core.errors import CostCapReached, MemoirError, ModelError, NothingExtracted
from memoir_engine.core.events import CutExtracted, CutFailed, FactsMerged, Warned
from memoir_engine.core.results.cuts import Cut
from memoir_engine.core.results.facts import CutFailure, ExtractedMemory, FactOrigin, FactRelation, FactType
from memoir_engine.core.run import Run
from memoir_engine.prompts import facts, recap, relate
from memoir_engine.prompts.facts import Drawn, Talk, Turn
from memoir_engine.prompts.relate import Gathered
from memoir_engine.runtime.model import AskAboutFacts
from memoir_engine.text.attributes import folded, same, subject_key, words
from memoir_engine.text.messages import Message
from memoir_engine.text.spans import find
from memoir_engine.text.transcripts import is_of

# === drawn: Facts as they come out of the cuts of one conversation, before they meet what is known.
#
# Invariant: frozen values. A fact found in several cuts is one, with all its origins and the best confidence; two that
# differ in a
# number, a negation or a name stay two. Pure: no model, no clock.
# Source: CHUNK 7.3, 8.1–8.4; spec README, small print on CHUNK 8.3.


@dataclass(frozen=True)
class Utterance:
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
class DraftFact:
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
class DraftLink:
    """A relation between two found facts, by their ids."""

    source: str
    target: str
    kind: str
    confidence: float | None


@dataclass(frozen=True)
class MergedFacts:
    """facts: what is left, in the order in which it was first said. stands_for: of every id, the one that is left."""

    facts: tuple[DraftFact, ...]
    stands_for: dict[str, str] = field(default_factory=dict)

    @property
    def duplicates(self) -> int:
        return sum(one != other for one, other in self.stands_for.items())


def merge(found: Sequence[DraftFact]) -> MergedFacts:
    """Facts that say the same become one. Each is compared only with those that share a rare word of it: near linear."""
    left: list[DraftFact] = []
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
    return MergedFacts(tuple(left), stands_for)


def repoint(links: Iterable[DraftLink], stands_for: dict[str, str]) -> tuple[tuple[DraftLink, ...], int]:
    """The links between what is left, and how many had to go: those that lead nowhere, or from a fact to itself (CHUNK 9.3, 9.4).

    Of two between the same facts the more confident one stays (CHUNK 9.5).
    """
    kept: dict[tuple[str, str, str], DraftLink] = {}
    gone = 0
    for link in links:
        ends = stands_for.get(link.source), stands_for.get(link.target)
        if ends[0] is None or ends[1] is None or ends[0] == ends[1]:
            gone += 1
            continue
        key = (ends[0], ends[1], link.kind)
        stated = [one.confidence for one in (link, *filter(None, (kept.get(key),))) if one.confidence is not None]
        kept[key] = DraftLink(*key, confidence=max(stated, default=None))
    return tuple(kept.values()), gone


def _keys(fact: DraftFact) -> frozenset[str]:
    return words(fact.content) or frozenset((folded(fact.content),))


def _near(fact: DraftFact, by_word: dict[str, list[int]]) -> list[int]:
    """Who shares most of its words, the earliest first. A fifth of them may differ, so one of any quarter is shared."""
    mine = sorted(_keys(fact), key=lambda word: len(by_word.get(word, ())))
    rare = mine[: len(mine) // 4 + 1]
    return sorted({at for word in rare for at in by_word.get(word, ())})


def _is_same(one: DraftFact, other: DraftFact) -> bool:
    names = (*one.entities, *other.entities)
    return subject_key(one.subject) == subject_key(other.subject) and same(one.content, other.content, names)


def _one(known: DraftFact, again: DraftFact) -> DraftFact:
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


# === telling: Messages as extraction reads them, and what it found as callers receive it.
#
# Source: CHUNK 7.3, 8.4; API "Facts".


_ROLES = {"human": "user", "ai": "assistant"}


def utterances(messages: Sequence[Message]) -> tuple[Utterance, ...]:
    return tuple(
        Utterance(index, one.id, _ROLES.get(one.speaker, one.speaker), one.name, one.said_at, one.text)
        for index, one in enumerate(messages)
    )


def as_memories(
    facts: Iterable[DraftFact], user: str | None, conversation: str, messages: Sequence[Message]
) -> tuple[ExtractedMemory, ...]:
    said = utterances(messages)
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
            origins=tuple(_origin(conversation, said[span.message], span) for span in fact.spans),
        )
        for fact in facts
    )


def as_relations(links: Iterable[DraftLink]) -> tuple[FactRelation, ...]:
    return tuple(FactRelation(one.source, one.target, one.kind, one.confidence) for one in links)


def _origin(conversation: str, said: Utterance, span: Span) -> FactOrigin:
    return FactOrigin(
        conversation_id=conversation,
        message=said.index + 1,
        message_id=said.id,
        role=said.role,
        speaker=said.name,
        at=said.at,
        start=span.start,
        end=span.end,
        quote=said.text[span.start : span.end] if span.is_supported else None,
        supported=span.is_supported,
        removed=False,
        digest=hashlib.sha256(said.text.encode()).hexdigest(),
        cut_id=span.cut.id,
    )


# === relating: How the facts of one conversation have to do with one another, across its cuts.
#
# Invariant: relations name facts by their ids, and only facts that were shown together. Many are shown in overlapping
# groups.
# Source: CHUNK 9.1, 9.2.


SHOWN = 60  # facts in one call: pairs grow with the square, prompts with the number
STEP = 45  # the last quarter of a group meets the next one


async def related(facts: Sequence[DraftFact], ask: AskAboutFacts) -> tuple[DraftLink, ...]:
    """Nothing is asked about a single fact."""
    links: list[DraftLink] = []
    for first in range(0, max(1, len(facts) - (SHOWN - STEP)), STEP):
        group = facts[first : first + SHOWN]
        if len(group) < 2:
            break
        shown = tuple(_shown(number, fact) for number, fact in enumerate(group, 1))
        reply = await ask(relate.build(shown))
        for one in relate.parse(reply.data, shown):
            links.append(DraftLink(group[one.source - 1].id, group[one.target - 1].id, one.kind, one.confidence))
    return tuple(links)


def _shown(number: int, fact: DraftFact) -> Gathered:
    parts = tuple(dict.fromkeys(span.cut.n for span in fact.spans))
    return Gathered(number, fact.content, fact.type, fact.subject, fact.entities, parts)


# === extracting


PASSES_BY = (ModelError, CostCapReached)  # what costs a cut; anything else ends the whole


@dataclass(frozen=True)
class ExtractionInput:
    """person: how a user without a name of their own is called. zone: in which the times of messages are shown. before: what was
    said last before it, and is known."""

    messages: Sequence[Utterance]
    cuts: Sequence[Cut]
    person: str
    zone: tzinfo
    before: Sequence[Utterance] = ()
    untimed: datetime | None = None  # what stands as the time of messages that have none


@dataclass
class Extraction:
    """What the cuts gave. Times in milliseconds."""

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


async def extract(conversation: ExtractionInput, ask: AskAboutFacts, run: Run, *, fail_fast: bool) -> Extraction:
    """Raises NothingExtracted when every cut failed, or with `fail_fast` the first; whatever ends the run."""
    made = Extraction()
    began = run.clock.tick_ms()
    found = await _drawn(conversation, ask, run, made, fail_fast)
    made.extraction_ms = run.clock.tick_ms() - began
    began = run.clock.tick_ms()
    made.drawn, made.merged = len(found), merge(found)
    made.links, made.orphans = repoint(await _links(made, ask, run), made.merged.stands_for)
    made.deduplication_ms = run.clock.tick_ms() - began
    run.emit(FactsMerged(made.drawn, len(made.merged.facts), made.merged.duplicates, len(made.links), made.orphans))
    return made


async def _drawn(
    conversation: ExtractionInput, ask: AskAboutFacts, run: Run, made: Extraction, fail_fast: bool
) -> list[DraftFact]:
    found: list[DraftFact] = []
    recap = await _recap(_before(conversation), "before it", ask, run, made) if conversation.before else ""
    for cut in conversation.cuts:
        talk = _talk(conversation, cut, recap)
        try:
            found += await _of_cut(conversation, cut, talk, ask, run, made)
        except PASSES_BY as failed:
            made.failures.append(_failure(cut, failed))
            run.emit(CutFailed(cut.id, cut.n, cut.of, str(failed)))
            if fail_fast or len(made.failures) == len(conversation.cuts):
                raise _nothing(cut, len(made.failures), failed) from failed
        if cut.n < cut.of:
            recap = await _recap(talk, cut.label, ask, run, made)
    return found


async def _of_cut(
    conversation: ExtractionInput, cut: Cut, talk: Talk, ask: AskAboutFacts, run: Run, made: Extraction
) -> list[DraftFact]:
    began = run.clock.tick_ms()
    reply = await ask(facts.build(talk))
    parsed = facts.parse(reply.data, talk)
    made.warnings += [f"cut {cut.label}: {note}" for note in parsed.notes]
    found = [_found(conversation, cut, one) for one in parsed.facts]
    lost = sum(not fact.spans[0].is_supported for fact in found)
    run.emit(CutExtracted(cut.id, cut.n, cut.of, cut.tokens, len(found), lost, run.clock.tick_ms() - began))
    return found


async def _recap(talk: Talk, label: str, ask: AskAboutFacts, run: Run, made: Extraction) -> str:
    """Without one the next cut is read as it is; that is said."""
    try:
        return recap.parse((await ask(recap.build(talk))).data)
    except PASSES_BY as failed:
        made.warnings.append(f"cut {label} has no recap, the next is read without one: {failed}")
        run.emit(Warned("recap", made.warnings[-1]))
        return ""


async def _links(made: Extraction, ask: AskAboutFacts, run: Run) -> Sequence[DraftLink]:
    try:
        return await related(made.merged.facts, ask)
    except PASSES_BY as failed:
        made.warnings.append(f"how the facts are related could not be asked: {failed}")
        run.emit(Warned("relate", made.warnings[-1]))
        return ()


def _talk(conversation: ExtractionInput, cut: Cut, recap: str) -> Talk:
    turns = [_turn(conversation, cut, index) for index in cut.indexes]
    return Talk(conversation.person, cut.n, cut.of, recap, tuple(turns))


def _before(conversation: ExtractionInput) -> Talk:
    """As a cut of its own, which nothing came before."""
    turns = [
        Turn(number, said.role, _name(conversation, said), _moment(conversation, said), said.text)
        for number, said in enumerate(conversation.before, 1)
    ]
    return Talk(conversation.person, 1, 2, "", tuple(turns))


def _turn(conversation: ExtractionInput, cut: Cut, index: int) -> Turn:
    said = conversation.messages[index]
    at = _moment(conversation, said)
    text = said.text[cut.start : cut.end] if cut.split else said.text
    return Turn(index + 1, said.role, _name(conversation, said), at, text)


def _name(conversation: ExtractionInput, said: Utterance) -> str | None:
    """None for the person whose facts these are, however the message calls them: they are one subject, not several."""
    return None if said.name is None or _is_person(conversation, said.name) else said.name


def _is_person(conversation: ExtractionInput, name: str) -> bool:
    return folded(name) != folded(conversation.person) and is_of(conversation.person, name)


def _moment(conversation: ExtractionInput, said: Utterance) -> datetime | None:
    """Of what has no time of its own, the day it was handed in is known: so a retry asks the same, and pays for nothing twice."""
    if said.at is None:
        return None
    at = said.at.astimezone(conversation.zone)
    return at.replace(hour=0, minute=0, second=0, microsecond=0) if said.at == conversation.untimed else at


def _found(conversation: ExtractionInput, cut: Cut, drawn: Drawn) -> DraftFact:
    return DraftFact(
        id=str(uuid4()),
        content=drawn.content,
        type=drawn.type,
        subject=conversation.person if _is_person(conversation, drawn.subject) else drawn.subject,
        entities=drawn.entities,
        confidence=drawn.confidence,
        valid_from=drawn.valid_from,
        valid_to=drawn.valid_to,
        spans=(_span(conversation, cut, drawn),),
    )


def _span(conversation: ExtractionInput, cut: Cut, drawn: Drawn) -> Span:
    """In the message it names, else in another of the cut: the words count, not the number."""
    named = drawn.message - 1
    for index in (named, *(one for one in cut.indexes if one != named)):
        said = conversation.messages[index].text
        first, last = (cut.start or 0, cut.end) if cut.split else (0, None)
        at = find(drawn.quote, said[first:last])
        if at is not None:
            return Span(index, first + at[0], first + at[1], cut)
    return Span(named, None, None, cut)


def _failure(cut: Cut, failed: MemoirError) -> CutFailure:
    return CutFailure(cut.id, cut.n, cut.of, failed.code, str(failed), failed.remedy)


def _nothing(cut: Cut, count: int, failed: MemoirError) -> NothingExtracted:
    return NothingExtracted(cut=cut.label, problem=str(failed), failed=count, cuts=cut.of, advice=failed.remedy)
