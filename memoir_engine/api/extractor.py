"""The verbs of both faces of the facade that remember, recall and extract.

Invariant: a twin has its verb's very parameters and adds nothing.
Source: API "Facts"; CHUNK 7, 13.4.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from memoir_engine.core.errors import InvalidSetting, MemoirError
from memoir_engine.core.results.facts import ExtractionResult, RecalledFact, RememberResult
from memoir_engine.core.run import Actor
from memoir_engine.facts.recall import Moment, recall
from memoir_engine.facts.remember import acting_for, extract_verb, remember_verb
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.runner import OnEvent, Verb, listeners

if TYPE_CHECKING:
    from memoir_engine.api.memory import AsyncMemory

T = TypeVar("T")
Messages = Sequence[Any]


class AsyncRecollects:
    """The verbs as coroutines have them."""

    _engine: Engine
    _actor: Actor

    async def remember(
        self,
        messages: Messages | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
        *,
        on_event: OnEvent | None = None,
    ) -> RememberResult:
        """Draw facts from a conversation, let them meet what is known of the user, and store what comes of it.

        messages: in any shape that sessions take; None reads the session. They are kept in the session, or in one of their own.
        A conversation that was remembered before changes nothing; that it came again is recorded.
        Raises NothingExtracted (every cut failed), FactsNotYours, MessageRefused, SessionNotFound, and what keeps the model away.
        """
        verb = remember_verb(self._engine, self._actor, messages, user_id, session_id, listeners(on_event))
        return await self._engine.loop.bridge(_performed(self._engine, acting_for(self._actor, user_id), verb), verb="remember")

    async def recall(
        self,
        text: str,
        user_id: str | None = None,
        limit: int = 10,
        include_outdated: bool = True,
        as_of: Moment | None = None,
        valid_at: datetime | str | None = None,
        *,
        status: str | None = None,
        type: str | None = None,
    ) -> tuple[RecalledFact, ...]:
        """The facts of the user that score highest for a text, each outdated one with what is in force in its stead; nearest
        first, but of one subject the active ones before the outdated ones.

        as_of: what was believed then (a seq or an aware time). valid_at: only what was true then. status, type: only these.
        """
        asked = recall(
            self._engine,
            self._actor,
            text,
            user_id=user_id,
            limit=limit,
            include_outdated=include_outdated,
            as_of=as_of,
            valid_at=valid_at,
            status=status,
            type=type,
        )
        return await self._engine.loop.bridge(asked, verb="recall")


class Recollects:
    """The same, waited for."""

    _async: AsyncMemory

    def _wait(self, verb: str, coroutine: Coroutine[Any, Any, T]) -> T:
        raise NotImplementedError

    def remember(
        self,
        messages: Messages | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
        *,
        on_event: OnEvent | None = None,
    ) -> RememberResult:
        """Draw facts from a conversation, let them meet what is known of the user, and store what comes of it.

        messages: in any shape that sessions take; None reads the session. They are kept in the session, or in one of their own.
        A conversation that was remembered before changes nothing; that it came again is recorded.
        Raises NothingExtracted (every cut failed), FactsNotYours, MessageRefused, SessionNotFound, and what keeps the model away.
        """
        return self._wait("remember", self._async.remember(messages, user_id, session_id, on_event=on_event))

    def recall(
        self,
        text: str,
        user_id: str | None = None,
        limit: int = 10,
        include_outdated: bool = True,
        as_of: Moment | None = None,
        valid_at: datetime | str | None = None,
        *,
        status: str | None = None,
        type: str | None = None,
    ) -> tuple[RecalledFact, ...]:
        """The facts of the user that score highest for a text, each outdated one with what is in force in its stead; nearest
        first, but of one subject the active ones before the outdated ones.

        as_of: what was believed then (a seq or an aware time). valid_at: only what was true then. status, type: only these.
        """
        asked = self._async.recall(text, user_id, limit, include_outdated, as_of, valid_at, status=status, type=type)
        return self._wait("recall", asked)


def _remembers(value: object) -> bool:
    return isinstance(value, Recollects | AsyncRecollects)


class MemoryExtractor:
    """Facts of a conversation, before they meet what is known: nothing is stored but what was asked and answered (CHUNK 7, 13.4).

    memory: whose model, settings and ledger are used. Long conversations are cut as the settings say.
    """

    def __init__(self, memory: Recollects | AsyncRecollects) -> None:
        if not _remembers(memory):
            advice = "Give a Memory or an AsyncMemory, or a view of one."
            raise InvalidSetting(name="memory", value=memory, problem="it is no Memory", advice=advice)
        self._memory = memory

    def extract(
        self,
        messages: Messages,
        conversation_id: str = "conversation",
        user_id: str | None = None,
        *,
        on_event: OnEvent | None = None,
    ) -> ExtractionResult:
        """Waits; on an event loop use `extract_async`.

        Raises NothingExtracted when every cut failed, or the first did and `conversation.fail_fast` is on.
        """
        engine, actor = self._own()
        verb = extract_verb(engine, actor, messages, conversation_id, user_id, listeners(on_event))
        return engine.loop.wait(_performed(engine, acting_for(actor, user_id), verb), verb="extract")

    async def extract_async(
        self,
        messages: Messages,
        conversation_id: str = "conversation",
        user_id: str | None = None,
        *,
        on_event: OnEvent | None = None,
    ) -> ExtractionResult:
        engine, actor = self._own()
        verb = extract_verb(engine, actor, messages, conversation_id, user_id, listeners(on_event))
        return await engine.loop.bridge(_performed(engine, acting_for(actor, user_id), verb), verb="extract")

    def _own(self) -> tuple[Engine, Actor]:
        inner = self._memory._async if isinstance(self._memory, Recollects) else self._memory
        return inner._engine, inner._actor


async def _performed(engine: Engine, actor: Actor, verb: Verb[T | MemoirError]) -> T:
    outcome = await engine.runner.perform(verb, actor)
    if isinstance(outcome, MemoirError):
        raise outcome
    return outcome
