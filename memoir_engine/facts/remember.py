"""The verbs remember and extract: draw the facts of a conversation, compare them with what is known, and store them.

Invariants: everything is worked out before one short transaction writes it; if others changed the same user's facts meanwhile it
is compared again. A conversation that is already remembered changes nothing, and that it came again is recorded. Results are
built from the rows that the commit leaves; the run keeps ids and numbers only, since words stand in facts and messages.
Source: TIMEM; CHUNK 7–9, 11–13; API "Facts".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memoir_engine.core.errors import FactsMoved, InvalidSetting, MemoirError, RememberingCancelled, SessionNotFound
from memoir_engine.core.events import FactsStored
from memoir_engine.core.results.facts import ExtractionResult, FactProposal, FactRelation, FactView, RememberResult
from memoir_engine.core.run import Actor, Listener, Run, new_id
from memoir_engine.facts.consolidation import ConsolidationInput, consolidate, known_facts
from memoir_engine.facts.extraction import Extraction, Utterance, as_memories, as_relations
from memoir_engine.facts.extraction_run import ExtractionRun, report_metrics, run_extraction, with_times
from memoir_engine.runtime import access
from memoir_engine.runtime import messages as runtime_messages
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.model import Asking
from memoir_engine.runtime.runner import Verb
from memoir_engine.runtime.verbs import verb
from memoir_engine.store.conversations import messages as conversations_messages
from memoir_engine.store.db.text_rules import owner_key
from memoir_engine.store.db.types import Tx
from memoir_engine.store.facts import commit, facts
from memoir_engine.store.facts.commit import PriorConversation, Remembered, SeenMessages, conversation_key
from memoir_engine.store.facts.rows import ConversationRead, FactPlan
from memoir_engine.text.messages import Message


@dataclass(frozen=True)
class Became:
    """Outcome of a commit. parts: numbers of facts, by the part of the result they belong to."""

    parts: dict[str, list[int]]
    views: dict[int, FactView]
    proposals: tuple[FactProposal, ...]


def became(tx: Tx, user: str | None, done: Remembered, plan: FactPlan) -> Became:
    """Read the outcome in the transaction that wrote it."""
    owner, numbers = owner_key(user), done.numbers
    fuller = {one.new for one in plan.supersessions if one.cause == "merged"}
    parts = {
        "added": [numbers[one.key] for one in plan.facts if one.key not in fuller],
        "merged": [numbers[one.key] for one in plan.facts if one.key in fuller],
        "outdated": [one.old for one in plan.supersessions if one.old > 0],
        "duplicates": [one.fact for one in plan.sightings],
    }
    asked = facts.proposals(tx, owner, state=None, numbers=done.proposals) if done.proposals else ()
    return Became(parts, facts.by_number(tx, owner, [one for some in parts.values() for one in some]), asked)


def told(done: Remembered, left: Became, plan: FactPlan, drawing: ExtractionRun, run: Run) -> RememberResult:
    """Build the result, and emit its counts."""
    views = left.views
    uids = {key: views[number].id for key, number in done.numbers.items() if number in views}
    uids |= {number: view.id for number, view in views.items()}
    links = [(uids.get(one.source), uids.get(one.target), one) for one in plan.links]
    made: dict[str, Any] = {
        name: tuple(views[number] for number in dict.fromkeys(some) if number in views) for name, some in left.parts.items()
    }
    made["added"] = tuple(one for one in made["added"] if one.status == "active")
    made["proposals"] = left.proposals
    made["relationships"] = tuple(FactRelation(a, b, one.kind, one.confidence) for a, b, one in links if a and b)
    counts = {name: len(made[name]) for name in ("added", "outdated", "merged", "duplicates", "proposals")}
    run.emit(FactsStored(**counts, seq=done.seq))
    return result(drawing, run, done.action_id, made, done.session_id)


def result(
    drawing: ExtractionRun,
    run: Run,
    action_id: str | None,
    made: dict[str, Any],
    session_id: str | None,
    *,
    seen_again: bool = False,
) -> RememberResult:
    nothing: dict[str, Any] = dict.fromkeys(("added", "outdated", "merged", "duplicates", "proposals", "relationships"), ())
    return RememberResult(
        **(nothing | made),
        errors=tuple(drawing.extraction.failures) if drawing.extraction else (),
        cuts=drawing.made.cuts if drawing.made else (),
        metrics=drawing.metrics(run.clock.tick_ms()),
        run_id=run.id,
        action_id=action_id,
        session_id=session_id,
        seen_again=seen_again,
        warnings=tuple(dict.fromkeys(drawing.warnings)),
    )


def record(outcome: object) -> dict[str, Any]:
    """Ids and numbers: what was said stands in facts and messages."""
    if isinstance(outcome, RememberResult):
        ids = {name: [one.id for one in getattr(outcome, name)] for name in ("added", "outdated", "merged", "duplicates")}
        more = {"proposals": [one.id for one in outcome.proposals], "action_id": outcome.action_id}
        return {**ids, **more, "seen_again": outcome.seen_again, "errors": len(outcome.errors), "warnings": len(outcome.warnings)}
    if isinstance(outcome, ExtractionResult):
        return {"facts": len(outcome.memories), "errors": len(outcome.errors), "warnings": len(outcome.warnings)}
    return {}


PLANS = 5  # others may remember for the same user while a model is waited for


@dataclass(frozen=True)
class Talked:
    """Conversation to read. numbers: of its messages, if they were read from a session.

    subject: of the run; paid answers are reused within it, and its payloads are erased when the session is cleared.
    """

    conversation: str
    messages: tuple[Message, ...]
    session_id: str | None = None
    numbers: tuple[int, ...] = ()
    subject: str | None = None


@dataclass(frozen=True)
class RememberOptions:
    """messages: in any shape that sessions take; None reads the session."""

    messages: Sequence[Any] | None = None
    user_id: str | None = None
    session_id: str | None = None


@dataclass(frozen=True)
class ExtractOptions:
    """messages: in any shape that sessions take."""

    messages: Sequence[Any]
    conversation_id: str = "conversation"
    user_id: str | None = None


@verb("remember", RememberOptions)
def remember_verb(
    engine: Engine, actor: Actor, options: RememberOptions, listeners: tuple[Listener, ...] = ()
) -> Verb[RememberResult | MemoirError]:
    """Raises FactsNotYours, MessageRefused, InvalidSetting, SessionNotFound."""
    user = access.writes_for(actor, options.user_id)
    talked = _talked(engine, user, options.messages, options.session_id)

    async def work(run: Run) -> RememberResult:
        return await _remember(engine, user, talked, run)

    request = {"user_id": user, "session_id": talked.session_id, "messages": len(talked.messages)}
    return _verb("remember", request, talked.subject, work, listeners, replace(actor, user=user))


def extract_verb(
    engine: Engine, actor: Actor, options: ExtractOptions, listeners: tuple[Listener, ...] = ()
) -> Verb[ExtractionResult | MemoirError]:
    """Nothing is stored but what was asked and answered. Raises FactsNotYours, MessageRefused, InvalidSetting."""
    user = access.writes_for(actor, options.user_id)
    read = runtime_messages.heard(options.messages)
    talked = Talked(runtime_messages.session(options.conversation_id, "conversation_id"), read, subject=_key(user, read))

    async def work(run: Run) -> ExtractionResult:
        return await _extract(engine, user, talked, run)

    request = {"user_id": user, "conversation_id": talked.conversation, "messages": len(talked.messages)}
    return _verb("extract", request, talked.subject, work, listeners, replace(actor, user=user))


def _verb(
    name: str, request: dict[str, Any], subject: str | None, work: Any, listeners: tuple[Listener, ...], owner: Actor
) -> Verb[Any]:
    """Return a run of the user whose facts it works on."""
    return Verb(
        name=name,
        request=request,
        subject=subject,
        work=work,
        failed=lambda run, error: error,
        stopped=RememberingCancelled,
        record=record,
        listeners=listeners,
        actor=owner,
    )


def _key(user: str | None, messages: tuple[Message, ...]) -> str:
    return conversation_key(owner_key(user), messages)


def _talked(engine: Engine, user: str | None, messages: object, session_id: object) -> Talked:
    named = None if session_id is None else runtime_messages.session(session_id)
    if messages is None and named is None:
        advice = "Give messages=[…], or the session_id of a session that is kept."
        raise InvalidSetting(name="messages", value=None, problem="there is neither a conversation nor a session", advice=advice)
    row = None if named is None else engine.db.read(lambda tx: conversations_messages.find(tx, user, named))
    if messages is not None:
        read = runtime_messages.heard(messages)
        key = _key(user, read)
        return Talked(
            named or f"conversation-{key[:16]}",
            read,
            named,
            subject=key if row is None else conversations_messages.subject_of(row.number),
        )
    records = () if row is None else engine.db.read(lambda tx: conversations_messages.of_session(tx, row))
    if named is None or row is None or not records:
        raise SessionNotFound(session_id=named or "")
    numbers = tuple(one.n for one in records)
    return Talked(
        named,
        tuple(map(conversations_messages.as_message, records)),
        named,
        numbers,
        conversations_messages.subject_of(row.number),
    )


async def _remember(engine: Engine, user: str | None, talked: Talked, run: Run) -> RememberResult:
    drawing = ExtractionRun(talked.conversation, began_ms=run.clock.tick_ms())
    key = conversation_key(owner_key(user), talked.messages)
    came = await engine.db.aread(_came(user, talked, key))
    if came.whole is not None:
        return await _seen_again(engine, talked, came.whole, drawing, run)
    if not talked.messages:
        return result(drawing, run, None, {}, talked.session_id)
    said = with_times(talked.messages, run, drawing)
    new, old = said[came.read :], said[: came.read]
    extraction, shown = await run_extraction(engine, user, talked.conversation, new, drawing, run, before=old)
    async with engine.nearness.turn(owner_key(user)):
        drawn_from = _said(talked, key, new, extraction, drawing)
        stored = await _stored(engine, user, talked, drawn_from, extraction, shown, drawing, run)
    report_metrics(drawing, run)
    if not isinstance(stored, tuple):
        return await _seen_again(engine, talked, stored, drawing, run)
    return told(*stored, drawing, run)


def _came(user: str | None, talked: Talked, key: str) -> Callable[[Any], SeenMessages]:
    session_id = talked.session_id or talked.conversation
    return lambda tx: commit.seen_messages(tx, user, key, session_id, talked.messages, talked.numbers)


async def _extract(engine: Engine, user: str | None, talked: Talked, run: Run) -> ExtractionResult:
    drawing = ExtractionRun(talked.conversation, began_ms=run.clock.tick_ms())
    if talked.messages:
        await run_extraction(engine, user, talked.conversation, with_times(talked.messages, run, drawing), drawing, run)
        report_metrics(drawing, run)
    got = drawing.extraction
    return ExtractionResult(
        memories=as_memories(got.merged.facts, user, talked.conversation, talked.messages) if got else (),
        relationships=as_relations(got.links) if got else (),
        errors=tuple(got.failures) if got else (),
        cuts=drawing.made.cuts if drawing.made else (),
        metrics=drawing.metrics(run.clock.tick_ms()),
        run_id=run.id,
        warnings=tuple(drawing.warnings),
    )


async def _stored(
    engine: Engine,
    user: str | None,
    talked: Talked,
    said: ConversationRead,
    extraction: Extraction,
    shown: Sequence[Utterance],
    drawing: ExtractionRun,
    run: Run,
) -> tuple[Remembered, Became, FactPlan] | PriorConversation:
    """Compared and committed, again when the facts moved; or what somebody else made of it meanwhile. Raises FactsMoved."""
    cut_at = {cut.id: at for at, cut in enumerate(said.cuts)}
    material = ConsolidationInput(extraction.merged.facts, extraction.links, shown, engine.resolved.config.zone, cut_at)
    action_id, most = new_id(engine.clock.now()), engine.resolved.config.session.max_messages
    ask = Asking(engine, run, RememberingCancelled())
    for _ in range(PLANS):
        known, came = await known_facts(material, owner_key(user), engine.nearness, run, _came(user, talked, said.key))
        if came.whole is not None:
            return came.whole
        here = replace(said, numbers=came.numbers[len(talked.messages) - len(said.messages) :], last=came.last)
        plan = await consolidate(material, known, owner_key(user), engine.nearness, ask, run)
        if not run.cancellation.begin_commit():
            raise RememberingCancelled()

        def write(tx: Any, plan: FactPlan = plan, here: ConversationRead = here) -> tuple[Remembered, Became] | None:
            done = commit.remember(
                tx,
                user,
                here,
                plan,
                embedder=engine.embedder.id,
                actor=run.actor.name,
                clock=engine.clock,
                action_id=action_id,
                run_id=run.id,
                most=most,
            )
            return None if done is None else (done, became(tx, user, done, plan))

        done = await engine.db.awrite(write, operation=f"what {talked.conversation!r} says")
        if done is not None:
            drawing.warnings += [*ask.warnings, *material.warnings]
            return *done, plan
        run.cancellation.commit_failed()
        material.warnings.clear()
    raise FactsMoved(times=PLANS)


def _said(talked: Talked, key: str, new: Sequence[Message], extraction: Extraction, drawing: ExtractionRun) -> ConversationRead:
    """new: what facts were drawn from, the end of the conversation."""
    cuts, lost = drawing.made.cuts if drawing.made else (), {one.cut_id for one in extraction.failures}
    failed = frozenset(at for at, cut in enumerate(cuts) if cut.id in lost)
    return ConversationRead(talked.conversation, key, talked.session_id or talked.conversation, new, cuts, failed=failed)


async def _seen_again(
    engine: Engine, talked: Talked, known: PriorConversation, drawing: ExtractionRun, run: Run
) -> RememberResult:
    action_id = new_id(engine.clock.now())
    await engine.db.awrite(
        lambda tx: commit.record_repeat(tx, known, actor=run.actor.name, clock=engine.clock, action_id=action_id, run_id=run.id),
        operation=f"that {talked.conversation!r} came again",
    )
    return result(drawing, run, action_id, {}, talked.session_id, seen_again=True)
