"""The verb create_summary: what a session or a document says, in a few sentences.

Invariant: every call is in the ledger of its run and under its cap; a text too long for one call is summarised in parts, and the
summaries of the parts once more. A session is read for its user only.
Source: MEMOLLA F-04, E003, E006, §1 (30 s, two retries, exponential back-off, to be overridden by options).
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memoir_engine.core import validation
from memoir_engine.core.errors import InvalidSetting, MemoirError, QueryCancelled, SummaryTargetUnclear, TargetNotFound
from memoir_engine.core.run import Actor, Run
from memoir_engine.models.client import ModelClient
from memoir_engine.prompts import summarise
from memoir_engine.prompts.summarise import SourceKind
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.model import Asking
from memoir_engine.runtime.runner import Verb
from memoir_engine.store.conversations import messages
from memoir_engine.store.db.types import Tx
from memoir_engine.store.sources import knowledge, sources
from memoir_engine.text.chunks import cut
from memoir_engine.text.summary import summarise as summary_summarise
from memoir_engine.text.terms import tokens

NAME = "create_summary"
MAX_CHARS = 1200
LEAST_CHARS = 20
ROUNDS = 8  # each at least halves the text
Summarizer = Callable[[str], Any]  # the text → its summary, or an awaitable of it
_OPTIONS = ("timeout", "timeout_s", "max_retries", "model", "max_chars", "summarizer")


@dataclass(frozen=True)
class SummaryOptions:
    """settings: those of MemoirConfig that are overridden for this call. summarizer: who summarises in the model's place."""

    max_chars: int = MAX_CHARS
    settings: Mapping[str, Any] = field(default_factory=dict)
    summarizer: Summarizer | None = None


@dataclass(frozen=True)
class SummaryTarget:
    """subject: of the run, where what it holds has to go with what it is about."""

    kind: SourceKind
    name: str
    text: str
    subject: str | None = None


def to_options(value: object) -> SummaryOptions:
    """As a caller gives them. Raises InvalidSetting naming the option."""
    if value is None:
        return SummaryOptions()
    known = f"Known are {', '.join(_OPTIONS)}; timeout and timeout_s are the same."
    if not isinstance(value, Mapping):
        raise InvalidSetting(name="options", value=value, problem="it must be a dict", advice=known)
    unknown = sorted(str(name) for name in value if name not in _OPTIONS)
    if unknown:
        raise InvalidSetting(name="options", value=unknown[0], problem="there is no such option", advice=known)
    if value.get("timeout") is not None and value.get("timeout_s") is not None:
        raise InvalidSetting(name="timeout", value=value["timeout"], problem="timeout_s is given too", advice="Give one of them.")
    summarizer = value.get("summarizer")
    if summarizer is not None and not callable(summarizer):
        advice = "Give a function that takes the text and returns its summary, or leave it out."
        raise InvalidSetting(name="summarizer", value=summarizer, problem="it cannot be called", advice=advice)
    chars = validation.whole("max_chars", value.get("max_chars", MAX_CHARS), least=LEAST_CHARS)
    named = {"timeout": "timeout_s", "timeout_s": "timeout_s", "max_retries": "max_retries", "model": "model"}
    return SummaryOptions(
        chars, {ours: value[theirs] for theirs, ours in named.items() if value.get(theirs) is not None}, summarizer
    )


async def create_summary(engine: Engine, actor: Actor, session_id: object, doc_id: object, options: object) -> str:
    """Raises SummaryTargetUnclear (E003), TargetNotFound (E006), InvalidSetting; what keeps the model away."""
    if (session_id is None) == (doc_id is None):
        raise SummaryTargetUnclear()
    wanted = to_options(options)
    target = await engine.db.aread(lambda tx: _target(tx, actor, session_id, doc_id))
    if not target.text.strip():
        return ""
    if wanted.summarizer is not None:
        return await _by(wanted.summarizer, target.text)
    outcome = await engine.runner.perform(_verb(engine, target, wanted), actor)
    if isinstance(outcome, MemoirError):
        raise outcome
    return outcome


def _verb(engine: Engine, target: SummaryTarget, options: SummaryOptions) -> Verb[str | MemoirError]:
    client = _client(engine, options)

    async def work(run: Run) -> str:
        try:
            return await _summarise(engine, target, options.max_chars, Asking(engine, run, QueryCancelled(), client))
        finally:
            if client is not None:
                await client.close()

    named = "session_id" if target.kind == "conversation" else "doc_id"
    request = {named: target.name, "chars": len(target.text), "max_chars": options.max_chars, **options.settings}
    return Verb(NAME, request, target.subject, work, lambda _run, error: error, QueryCancelled, _record)


def _record(outcome: str | MemoirError) -> dict[str, Any]:
    """Numbers only: the summary stands in the reply that gave it."""
    return {"chars": len(outcome)} if isinstance(outcome, str) else {}


def _client(engine: Engine, options: SummaryOptions) -> ModelClient | None:
    """One of its own where something is overridden. Raises InvalidSetting and what a model that cannot be had is refused for."""
    if not options.settings:
        return None
    resolved = engine.resolved
    config = type(resolved.config)(**{**resolved.config.model_dump(exclude_unset=False), **options.settings})
    return ModelClient.open(config, resolved.secrets)


async def _summarise(engine: Engine, target: SummaryTarget, max_chars: int, ask: Asking) -> str:
    """In parts while it is too long for one call, then as a whole."""
    text, summaries = target.text, 0
    cap = engine.resolved.config.max_token_budget // 2  # the instructions, the frame and the answer need room, too
    for _ in range(ROUNDS):
        parts = await asyncio.to_thread(_parts, engine, text, cap)
        if len(parts) == 1:
            break
        chars = max(LEAST_CHARS, min(max_chars, cap))
        asked = [
            summarise.SummaryRequest(target.kind, target.name, part, chars, (number, len(parts)), summaries)
            for number, part in enumerate(parts, 1)
        ]
        told = await _all(ask, asked)
        text, summaries = "\n\n".join(one[: 2 * chars] for one in told), len(parts)
    (whole,) = await _all(ask, [summarise.SummaryRequest(target.kind, target.name, text, max_chars, None, summaries)])
    if len(whole) > max_chars:  # a model counts badly: asked once more, of its own summary
        (again,) = await _all(ask, [summarise.SummaryRequest(target.kind, target.name, whole, max_chars, None, 1)])
        whole = min(whole, again, key=len)
    return await asyncio.to_thread(_within, whole, max_chars)


def _within(told: str, max_chars: int) -> str:
    """What is still too long is left with its most telling sentences."""
    return told if len(told) <= max_chars else summary_summarise(told, max_chars=max_chars, tokenise=tokens)


async def _all(ask: Asking, asked: list[Any]) -> list[str]:
    try:
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(ask(summarise.build(one), reuse=False)) for one in asked]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [summarise.Summary.model_validate(call.result().data).summary for call in calls]


def _parts(engine: Engine, text: str, cap: int) -> list[str]:
    pieces = cut(text, engine.tokens, minimum=cap // 2, maximum=cap, delimiters=engine.resolved.config.delimiters)
    return [text[piece.start : piece.end] for piece in pieces]


def _target(tx: Tx, actor: Actor, session_id: object, doc_id: object) -> SummaryTarget:
    """What is to be summarised, whole. Raises TargetNotFound, also for a session of somebody else."""
    if doc_id is not None:
        source = knowledge.find(tx, validation.text("doc_id", doc_id))
        if source is None:
            raise TargetNotFound()
        return SummaryTarget("document", source.doc_id or source.name, sources.text(tx, source.id))
    named = validation.text("session_id", session_id)
    session = messages.find(tx, actor.user, named)
    if session is None or (session.cleared_seq is not None and not session.messages):  # as sessions.get answers
        raise TargetNotFound()
    told = (f"{one.name or one.role}: {one.text}" for one in messages.of_session(tx, session) if one.text)
    return SummaryTarget("conversation", named, "\n".join(told), messages.subject_of(session.number))


async def _by(summarizer: Summarizer, text: str) -> str:
    """Somebody else's function, in a thread of its own: it may take its time. What it raises is the caller's."""
    told = summarizer(text) if inspect.iscoroutinefunction(summarizer) else await asyncio.to_thread(summarizer, text)
    said = await told if inspect.isawaitable(told) else told
    if not isinstance(said, str):
        advice = "Let it return the summary as a str."
        raise InvalidSetting(name="summarizer", value=type(said).__name__, problem="it returned no text", advice=advice)
    return said
