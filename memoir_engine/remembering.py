"""The verbs remember and extract: what a conversation says of somebody, drawn, compared with what is known, and stored.

Invariant: everything is worked out before one short transaction writes it; when others changed the same user's facts meanwhile it
is compared again. A conversation that is remembered already changes nothing, and that it came again is recorded.
Source: TIMEM; CHUNK 7–9, 11–13; API "Facts".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memoir_engine import owning, spoken
from memoir_engine.capped import Asking
from memoir_engine.drawing import Drawing, drawn, measured, timed
from memoir_engine.errors import FactsMoved, InvalidSetting, MemoirError, RememberingCancelled, SessionNotFound
from memoir_engine.recounting import Became, became, record, result, told
from memoir_engine.results.facts import ExtractionResult, RememberResult
from memoir_engine.run import Actor, Listener, Run, new_id
from memoir_engine.running import Verb
from memoir_engine.wiring import Engine

if TYPE_CHECKING:
    from memoir_engine.facts.drawn import Spoken
    from memoir_engine.facts.extracting import Extraction
    from memoir_engine.store.fact_plan import FactPlan, Said
    from memoir_engine.store.remembered import Before, Came
    from memoir_engine.store.remembering import Remembered
    from memoir_engine.text.messages import Message

PLANS = 5  # others may remember for the same user while a model is waited for


@dataclass(frozen=True)
class Talked:
    """What is to be read. numbers: of its messages in their session, where they were read from there.

    subject: of the run: answers paid for are re-used within it, and what it holds goes when its session is cleared.
    """

    conversation: str
    messages: tuple[Message, ...]
    session_id: str | None = None
    numbers: tuple[int, ...] = ()
    subject: str | None = None


def remember_verb(
    engine: Engine,
    actor: Actor,
    messages: object = None,
    user_id: object = None,
    session_id: object = None,
    listeners: tuple[Listener, ...] = (),
) -> Verb[RememberResult | MemoirError]:
    """messages: None reads the session. Raises FactsNotYours, MessageRefused, InvalidSetting, SessionNotFound."""
    user = owning.writes_for(actor, user_id)
    talked = _talked(engine, user, messages, session_id)

    async def work(run: Run) -> RememberResult:
        return await _remember(engine, user, talked, run)

    request = {"user_id": user, "session_id": talked.session_id, "messages": len(talked.messages)}
    return _verb("remember", request, talked.subject, work, listeners)


def extract_verb(
    engine: Engine,
    actor: Actor,
    messages: object,
    conversation_id: object = "conversation",
    user_id: object = None,
    listeners: tuple[Listener, ...] = (),
) -> Verb[ExtractionResult | MemoirError]:
    """Nothing is stored but what was asked and answered. Raises FactsNotYours, MessageRefused, InvalidSetting."""
    user = owning.writes_for(actor, user_id)
    read = spoken.heard(messages)
    talked = Talked(spoken.session(conversation_id, "conversation_id"), read, subject=_key(user, read))

    async def work(run: Run) -> ExtractionResult:
        return await _extract(engine, user, talked, run)

    request = {"user_id": user, "conversation_id": talked.conversation, "messages": len(talked.messages)}
    return _verb("extract", request, talked.subject, work, listeners)


def acting_for(actor: Actor, user_id: object) -> Actor:
    """The run belongs to the user whose facts it works on."""
    return replace(actor, user=owning.writes_for(actor, user_id))


def _verb(name: str, request: dict[str, Any], subject: str | None, work: Any, listeners: tuple[Listener, ...]) -> Verb[Any]:
    return Verb(
        name=name,
        request=request,
        subject=subject,
        work=work,
        failed=lambda run, error: error,
        stopped=RememberingCancelled,
        record=record,
        listeners=listeners,
    )


def _key(user: str | None, messages: tuple[Message, ...]) -> str:
    from memoir_engine.store.owners import owner_key
    from memoir_engine.store.remembered import conversation_key

    return conversation_key(owner_key(user), messages)


def _talked(engine: Engine, user: str | None, messages: object, session_id: object) -> Talked:
    from memoir_engine.store import said

    named = None if session_id is None else spoken.session(session_id)
    if messages is None and named is None:
        advice = "Give messages=[…], or the session_id of a session that is kept."
        raise InvalidSetting(name="messages", value=None, problem="there is neither a conversation nor a session", advice=advice)
    row = None if named is None else engine.db.read(lambda tx: said.find(tx, user, named))
    if messages is not None:
        read = spoken.heard(messages)
        key = _key(user, read)
        return Talked(
            named or f"conversation-{key[:16]}", read, named, subject=key if row is None else said.subject_of(row.number)
        )
    records = () if row is None else engine.db.read(lambda tx: said.of_session(tx, row))
    if named is None or row is None or not records:
        raise SessionNotFound(session_id=named or "")
    numbers = tuple(one.n for one in records)
    return Talked(named, tuple(map(said.as_message, records)), named, numbers, said.subject_of(row.number))


async def _remember(engine: Engine, user: str | None, talked: Talked, run: Run) -> RememberResult:
    from memoir_engine.store.owners import owner_key
    from memoir_engine.store.remembered import conversation_key

    drawing = Drawing(talked.conversation, began_ms=run.clock.tick_ms())
    key = conversation_key(owner_key(user), talked.messages)
    came = await engine.db.aread(_came(user, talked, key))
    if came.whole is not None:
        return await _seen_again(engine, talked, came.whole, drawing, run)
    if not talked.messages:
        return result(drawing, run, None, {}, talked.session_id)
    said = timed(talked.messages, run, drawing)
    new, old = said[came.read :], said[: came.read]
    extraction, shown = await drawn(engine, user, talked.conversation, new, drawing, run, before=old)
    async with engine.nearness.turn(owner_key(user)):
        drawn_from = _said(talked, key, new, extraction, drawing)
        stored = await _stored(engine, user, talked, drawn_from, extraction, shown, drawing, run)
    measured(drawing, run)
    if not isinstance(stored, tuple):
        return await _seen_again(engine, talked, stored, drawing, run)
    return told(*stored, drawing, run)


def _came(user: str | None, talked: Talked, key: str) -> Callable[[Any], Came]:
    from memoir_engine.store import remembered

    session_id = talked.session_id or talked.conversation
    return lambda tx: remembered.came(tx, user, key, session_id, talked.messages, talked.numbers)


async def _extract(engine: Engine, user: str | None, talked: Talked, run: Run) -> ExtractionResult:
    from memoir_engine.facts.telling import as_memories, as_relations

    drawing = Drawing(talked.conversation, began_ms=run.clock.tick_ms())
    if talked.messages:
        await drawn(engine, user, talked.conversation, timed(talked.messages, run, drawing), drawing, run)
        measured(drawing, run)
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
    said: Said,
    extraction: Extraction,
    shown: Sequence[Spoken],
    drawing: Drawing,
    run: Run,
) -> tuple[Remembered, Became, FactPlan] | Before:
    """Compared and committed, again when the facts moved; or what somebody else made of it meanwhile. Raises FactsMoved."""
    from memoir_engine.facts.consolidating import Material, consolidate, standing
    from memoir_engine.store import remembering
    from memoir_engine.store.owners import owner_key

    cut_at = {cut.id: at for at, cut in enumerate(said.cuts)}
    material = Material(extraction.merged.facts, extraction.links, shown, engine.resolved.config.zone, cut_at)
    action_id, most = new_id(engine.clock.now()), engine.resolved.config.session.max_messages
    ask = Asking(engine, run, RememberingCancelled())
    for _ in range(PLANS):
        known, came = await standing(material, owner_key(user), engine.nearness, run, _came(user, talked, said.key))
        if came.whole is not None:
            return came.whole
        here = replace(said, numbers=came.numbers[len(talked.messages) - len(said.messages) :], last=came.last)
        plan = await consolidate(material, known, owner_key(user), engine.nearness, ask, run)
        if not run.cancellation.begin_commit():
            raise RememberingCancelled()

        def write(tx: Any, plan: FactPlan = plan, here: Said = here) -> tuple[Remembered, Became] | None:
            done = remembering.remember(
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


def _said(talked: Talked, key: str, new: Sequence[Message], extraction: Extraction, drawing: Drawing) -> Said:
    """new: what facts were drawn from, the end of the conversation."""
    from memoir_engine.store.fact_plan import Said

    cuts, lost = drawing.made.cuts if drawing.made else (), {one.cut_id for one in extraction.failures}
    failed = frozenset(at for at, cut in enumerate(cuts) if cut.id in lost)
    return Said(talked.conversation, key, talked.session_id or talked.conversation, new, cuts, failed=failed)


async def _seen_again(engine: Engine, talked: Talked, known: Before, drawing: Drawing, run: Run) -> RememberResult:
    from memoir_engine.store import remembering

    action_id = new_id(engine.clock.now())
    await engine.db.awrite(
        lambda tx: remembering.seen_again(
            tx, known, actor=run.actor.name, clock=engine.clock, action_id=action_id, run_id=run.id
        ),
        operation=f"that {talked.conversation!r} came again",
    )
    return result(drawing, run, action_id, {}, talked.session_id, seen_again=True)
