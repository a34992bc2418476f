"""Facts drawn from a conversation, cut after cut, each with the words that say it.

Invariant: cuts are asked in their order, each with a recap of what came before; a cut that fails costs no other, unless one
wants to stop at the first. A quote is looked for in the messages of its cut: what is not there is marked, never invented.
Source: CHUNK 7, 8, 9, 11, 12; TIMEM "Memory Extraction".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from uuid import uuid4

from memoir_engine.errors import CostCapReached, MemoirError, ModelError, NothingExtracted
from memoir_engine.events import CutExtracted, CutFailed, FactsMerged, Warned
from memoir_engine.facts.asking import Ask
from memoir_engine.facts.drawn import Found, Link, Merged, Span, Spoken, merge, repoint
from memoir_engine.facts.relating import related
from memoir_engine.prompts import facts as prompt
from memoir_engine.prompts import recap as recap_prompt
from memoir_engine.prompts.facts import Drawn, Talk, Turn
from memoir_engine.results.cuts import Cut
from memoir_engine.results.facts import CutFailure
from memoir_engine.run import Run
from memoir_engine.text.alike import folded
from memoir_engine.text.labels import is_of
from memoir_engine.text.quotes import find

PASSES_BY = (ModelError, CostCapReached)  # what costs a cut; anything else ends the whole


@dataclass(frozen=True)
class Conversation:
    """person: how a user without a name of their own is called. zone: in which the times of messages are shown. before: what was
    said last before it, and is known."""

    messages: Sequence[Spoken]
    cuts: Sequence[Cut]
    person: str
    zone: tzinfo
    before: Sequence[Spoken] = ()
    untimed: datetime | None = None  # what stands as the time of messages that have none


@dataclass
class Extraction:
    """What the cuts gave. Times in milliseconds."""

    merged: Merged = field(default_factory=lambda: Merged(()))
    links: tuple[Link, ...] = ()
    failures: list[CutFailure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    drawn: int = 0
    orphans: int = 0
    extraction_ms: float = 0.0
    deduplication_ms: float = 0.0

    @property
    def unsupported(self) -> int:
        return sum(not span.is_supported for fact in self.merged.facts for span in fact.spans)


async def extract(conversation: Conversation, ask: Ask, run: Run, *, fail_fast: bool) -> Extraction:
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


async def _drawn(conversation: Conversation, ask: Ask, run: Run, made: Extraction, fail_fast: bool) -> list[Found]:
    found: list[Found] = []
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


async def _of_cut(conversation: Conversation, cut: Cut, talk: Talk, ask: Ask, run: Run, made: Extraction) -> list[Found]:
    began = run.clock.tick_ms()
    reply = await ask(prompt.build(talk))
    parsed = prompt.parse(reply.data, talk)
    made.warnings += [f"cut {cut.label}: {note}" for note in parsed.notes]
    found = [_found(conversation, cut, one) for one in parsed.facts]
    lost = sum(not fact.spans[0].is_supported for fact in found)
    run.emit(CutExtracted(cut.id, cut.n, cut.of, cut.tokens, len(found), lost, run.clock.tick_ms() - began))
    return found


async def _recap(talk: Talk, label: str, ask: Ask, run: Run, made: Extraction) -> str:
    """Without one the next cut is read as it is; that is said."""
    try:
        return recap_prompt.parse((await ask(recap_prompt.build(talk))).data)
    except PASSES_BY as failed:
        made.warnings.append(f"cut {label} has no recap, the next is read without one: {failed}")
        run.emit(Warned("recap", made.warnings[-1]))
        return ""


async def _links(made: Extraction, ask: Ask, run: Run) -> Sequence[Link]:
    try:
        return await related(made.merged.facts, ask)
    except PASSES_BY as failed:
        made.warnings.append(f"how the facts are related could not be asked: {failed}")
        run.emit(Warned("relate", made.warnings[-1]))
        return ()


def _talk(conversation: Conversation, cut: Cut, recap: str) -> Talk:
    turns = [_turn(conversation, cut, index) for index in cut.indexes]
    return Talk(conversation.person, cut.n, cut.of, recap, tuple(turns))


def _before(conversation: Conversation) -> Talk:
    """As a cut of its own, which nothing came before."""
    turns = [
        Turn(number, said.role, _name(conversation, said), _moment(conversation, said), said.text)
        for number, said in enumerate(conversation.before, 1)
    ]
    return Talk(conversation.person, 1, 2, "", tuple(turns))


def _turn(conversation: Conversation, cut: Cut, index: int) -> Turn:
    said = conversation.messages[index]
    at = _moment(conversation, said)
    text = said.text[cut.start : cut.end] if cut.split else said.text
    return Turn(index + 1, said.role, _name(conversation, said), at, text)


def _name(conversation: Conversation, said: Spoken) -> str | None:
    """None for the person whose facts these are, however the message calls them: they are one subject, not several."""
    return None if said.name is None or _is_person(conversation, said.name) else said.name


def _is_person(conversation: Conversation, name: str) -> bool:
    return folded(name) != folded(conversation.person) and is_of(conversation.person, name)


def _moment(conversation: Conversation, said: Spoken) -> datetime | None:
    """Of what has no time of its own, the day it was handed in is known: so a retry asks the same, and pays for nothing twice."""
    if said.at is None:
        return None
    at = said.at.astimezone(conversation.zone)
    return at.replace(hour=0, minute=0, second=0, microsecond=0) if said.at == conversation.untimed else at


def _found(conversation: Conversation, cut: Cut, drawn: Drawn) -> Found:
    return Found(
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


def _span(conversation: Conversation, cut: Cut, drawn: Drawn) -> Span:
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
