"""A model for pydantic-ai's agent whose every request is a row of the ledger before its answer is used.

Invariant: as for one prompt (`RecordedCalls`): retries are ours, each attempt has its row, and if a row cannot be written nothing
more is asked. Text is shown while it comes in, each word once, however often it is asked for; its row is written before the turn
goes on, also when somebody stops it. Once the model is unavailable, a configured fallback answers for the rest of the turn.
Source: DESIGN §2.6; SESSION 4.2; MEMOIR 7.4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel

from memoir_engine.core.errors.system import FALLEN_BACK, UNAVAILABLE
from memoir_engine.core.events import Warned
from memoir_engine.core.run import Attempt, Run
from memoir_engine.models.attempt_row import Measure, fingerprint
from memoir_engine.models.client import Answer, Failure, ModelClient, RecordedCalls, Seat
from memoir_engine.prompts import Prompt, chat
from memoir_engine.text.restartable_stream import RestartableStream

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.settings import ModelSettings

_WORD = re.compile(r"\s*\S+\s*")

OnText = Callable[[str], None]
Guard = Callable[[str], Awaitable[None]]  # given the body about to be sent; raises if it may not be


class FreeText(BaseModel):
    """A reply in free text."""


@dataclass
class Turn:
    """The requests of one turn, counted together. client: the model asked; fallback: the one asked if that is unavailable."""

    run: Run
    client: ModelClient
    seat: Seat
    guard: Guard
    on_text: OnText | None = None
    fallback: ModelClient | None = None
    written: list[tuple[int, Attempt]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class LedgeredModel(WrapperModel):
    """A model whose requests are recorded calls of a run."""

    def __init__(self, wrapped: Model, turn: Turn) -> None:
        super().__init__(wrapped)
        self.turn = turn

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        turn, body = self.turn, _body(messages, model_request_parameters)
        await turn.guard(body)
        words = None if turn.on_text is None else RestartableStream(turn.on_text)
        try:
            return await self._answer(messages, model_request_parameters, body, words)
        except UNAVAILABLE as failed:
            fallback = turn.fallback
            if fallback is None:
                raise
            turn.client, turn.fallback, turn.seat = fallback, None, await fallback.seat()
            turn.warnings.append(FALLEN_BACK.format(name=turn.client.name, failed=failed))
            turn.run.emit(Warned("model", turn.warnings[-1]))
        self.wrapped = turn.seat.model
        return await self._answer(messages, model_request_parameters, body, words)

    async def _answer(
        self, messages: list[ModelMessage], parameters: ModelRequestParameters, body: str, words: RestartableStream | None
    ) -> ModelResponse:
        turn, client = self.turn, self.turn.client
        calls = RecordedCalls(turn.run, client, turn.written)
        prompt = Prompt(chat.PURPOSE, chat.VERSION, "", body, FreeText)
        mark = fingerprint(prompt, client.choice, {"temperature": client.config.temperature})

        async def attempt(number: int) -> Answer | Failure:
            settings = client.settings()
            measure = Measure(prompt, turn.run, client.choice, client.secrets, mark, number, "text", settings)
            if client.speaks_no_http:
                measure.wire.sent = body
            send = self._send(messages, cast("ModelSettings", settings), parameters, measure, words)
            return await calls.attempt(measure, send, lambda response: Answer(response, _reply(response)))

        return (await calls.patiently(turn.seat, attempt)).response

    async def _send(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings,
        parameters: ModelRequestParameters,
        measure: Measure,
        words: RestartableStream | None,
    ) -> ModelResponse:
        if words is None:
            return await self.wrapped.request(messages, settings, parameters)
        words.anew()
        if not self.turn.client.is_offline:
            return await self._streamed(messages, settings, parameters, measure, words)
        response = await self.wrapped.request(messages, settings, parameters)
        for piece in _WORD.findall(response.text or ""):
            words(piece)
        words.whole()
        return response

    async def _streamed(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings,
        parameters: ModelRequestParameters,
        measure: Measure,
        words: RestartableStream,
    ) -> ModelResponse:
        pieces: list[str] = []
        async with self.wrapped.request_stream(messages, settings, parameters) as stream:
            async for event in stream:
                part = event.part if event.event_kind == "part_start" else getattr(event, "delta", None)
                piece = getattr(part, "content", None) or getattr(part, "content_delta", None)
                if (
                    isinstance(piece, str)
                    and piece
                    and getattr(part, "part_kind", getattr(part, "part_delta_kind", "")) == "text"
                ):
                    pieces.append(piece)
                    measure.wire.received = "".join(pieces)
                    words(piece)
            words.whole()
            return stream.get()


def _body(messages: list[ModelMessage], parameters: ModelRequestParameters) -> str:
    """Return the conversation as it goes to the model: to estimate its price before, and for models that speak no HTTP."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.kind == "request" and message.instructions and not turns:
            turns.append({"role": "system", "content": message.instructions})
        for part in message.parts:
            content = getattr(part, "content", None) or getattr(part, "args", None)
            turns.append({"role": part.part_kind, "content": content})
    tools = [tool.name for tool in parameters.function_tools]
    return json.dumps({"messages": turns, "tools": tools}, ensure_ascii=False, default=str)


def _reply(response: ModelResponse) -> str:
    """Return the text; with the tool calls, if there are any."""
    calls = [
        {"name": part.tool_name, "args": part.args, "id": part.tool_call_id}
        for part in response.parts
        if part.part_kind == "tool-call"
    ]
    text = response.text or ""
    return json.dumps({"text": text, "tool_calls": calls}, ensure_ascii=False, default=str) if calls else text
