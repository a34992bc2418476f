"""A model of pydantic-ai whose every request is a row of the ledger before its answer is used.

Invariant: as with `ask`: retries are ours, each attempt has its row, and if a row cannot be written nothing more is asked.
Text is shown while it comes in, each word once, however often it is asked for; its row is written before the turn goes on, also
when somebody stops it. Once the model is not to be had, the fall-back answers for the rest of the turn, where one is configured.
Source: DESIGN §2.6; SESSION 4.2; MEMOIR 7.4.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel

from memoir_engine.core.config import MemoirConfig
from memoir_engine.core.errors import ModelError, ModelReplyInvalid
from memoir_engine.core.errors.model import FALLEN_BACK, UNAVAILABLE
from memoir_engine.core.events import Warned
from memoir_engine.core.run import Run, to_call_ended
from memoir_engine.models.attempt_row import Measure, exchange, fingerprint
from memoir_engine.models.client import ModelClient, Seat
from memoir_engine.models.error_mapping import retry_after_s, translated
from memoir_engine.models.providers import Choice
from memoir_engine.prompts import Prompt, chat
from memoir_engine.text.restartable_stream import RestartableStream

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.settings import ModelSettings

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0

_WORD = re.compile(r"\s*\S+\s*")

OnText = Callable[[str], None]
Guard = Callable[[str], Awaitable[None]]  # what is about to be sent; raises where it may not be


class FreeText(BaseModel):
    """A reply in words."""


@dataclass
class Talking:
    """One turn's requests, counted together. client: who is asked; fallback: who is, once that one is not to be had."""

    run: Run
    client: ModelClient
    seat: Seat
    guard: Guard
    on_text: OnText | None = None
    fallback: ModelClient | None = None
    words: RestartableStream | None = None  # of the request under way
    written: list[int] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def choice(self) -> Choice:
        return self.client.choice

    @property
    def config(self) -> MemoirConfig:
        return self.client.config

    async def fall_back(self, to: ModelClient, failed: ModelError) -> None:
        self.client, self.fallback, self.seat = to, None, await to.seat()
        self.warnings.append(FALLEN_BACK.format(name=to.name, failed=failed))
        self.run.emit(Warned("model", self.warnings[-1]))

    async def record(self, row: Any) -> int:
        call_id = await self.run.ledger.record(row)
        self.written.append(call_id)
        self.run.emit(to_call_ended(call_id, row))
        return call_id


class LedgeredModel(WrapperModel):
    """`wrapped`, seen by the ledger of a run."""

    def __init__(self, wrapped: Model, talking: Talking) -> None:
        super().__init__(wrapped)
        self.talking = talking

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        talking, told = self.talking, _handed(messages, model_request_parameters)
        await talking.guard(told)
        talking.words = None if talking.on_text is None else RestartableStream(talking.on_text)
        try:
            return await self._patiently(messages, model_request_parameters, told)
        except UNAVAILABLE as failed:
            if talking.fallback is None:
                raise
            await talking.fall_back(talking.fallback, failed)
        self.wrapped = talking.seat.model
        return await self._patiently(messages, model_request_parameters, told)

    async def _patiently(self, messages: list[ModelMessage], parameters: ModelRequestParameters, told: str) -> ModelResponse:
        """One answer, asked for again where the failure may pass. Raises ModelError."""
        talking, retries = self.talking, 0
        while True:
            async with talking.seat.gate:
                outcome = await self._attempt(messages, talking.client.settings(), parameters, told, retries + 1)
            if not isinstance(outcome, tuple):
                return outcome
            error, wait_s = outcome
            if not error.retryable or isinstance(error, ModelReplyInvalid):
                raise error
            if retries >= talking.config.max_retries or wait_s > LONGEST_WAIT_S:
                raise error
            await talking.client.sleep(max(wait_s, FIRST_WAIT_S * 2**retries))
            retries += 1

    async def _attempt(
        self,
        messages: list[ModelMessage],
        settings: dict[str, Any],
        parameters: ModelRequestParameters,
        told: str,
        number: int,
    ) -> ModelResponse | tuple[ModelError, float]:
        talking = self.talking
        prompt = Prompt(chat.PURPOSE, chat.VERSION, "", told, FreeText)
        mark = fingerprint(prompt, talking.choice, {"temperature": talking.config.temperature})
        measure = Measure(prompt, talking.run, talking.choice, talking.client.secrets, mark, number, "text", settings)
        if talking.choice.provider in ("offline", "xai"):
            measure.wire.sent = told
        try:
            response = await self._sent(messages, cast("ModelSettings", settings), parameters, measure, talking.words)
        except asyncio.CancelledError:
            await asyncio.shield(talking.record(measure.failed("cancelled")))
            raise
        except Exception as error:  # translated once, here
            ours = translated(error, talking.choice, talking.config.timeout_s, talking.client.secrets)
            await talking.record(measure.failed(str(ours)))
            return ours, retry_after_s(error) or 0.0
        await talking.record(await measure.answered(response, _reply(response), None))
        return response

    async def _sent(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings,
        parameters: ModelRequestParameters,
        measure: Measure,
        words: RestartableStream | None,
    ) -> ModelResponse:
        talking = self.talking
        token = exchange.set(measure.wire)
        if words is not None:
            words.anew()
        try:
            async with asyncio.timeout(None if talking.choice.provider == "offline" else talking.config.timeout_s):
                if words is not None and talking.choice.provider != "offline":
                    return await self._streamed(messages, settings, parameters, measure, words)
                response = await self.wrapped.request(messages, settings, parameters)
        finally:
            exchange.reset(token)
        if words is not None:
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
        said: list[str] = []
        async with self.wrapped.request_stream(messages, settings, parameters) as stream:
            async for event in stream:
                part = event.part if event.event_kind == "part_start" else getattr(event, "delta", None)
                piece = getattr(part, "content", None) or getattr(part, "content_delta", None)
                if (
                    isinstance(piece, str)
                    and piece
                    and getattr(part, "part_kind", getattr(part, "part_delta_kind", "")) == "text"
                ):
                    said.append(piece)
                    measure.wire.received = "".join(said)
                    words(piece)
            words.whole()
            return stream.get()


def _handed(messages: list[ModelMessage], parameters: ModelRequestParameters) -> str:
    """The conversation as it goes to the model, for the price before it is sent, and for models that speak no HTTP."""
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
    """The words; and the calls it asks for, where there are any."""
    calls = [
        {"name": part.tool_name, "args": part.args, "id": part.tool_call_id}
        for part in response.parts
        if part.part_kind == "tool-call"
    ]
    text = response.text or ""
    return json.dumps({"text": text, "tool_calls": calls}, ensure_ascii=False, default=str) if calls else text
