"""A model of pydantic-ai whose every request is a row of the ledger before its answer is used.

Invariant: as with `ask`: retries are ours, each attempt has its row, and if a row cannot be written nothing more is asked.
Text is shown while it comes in; its row is written before the turn goes on, also when somebody stops it.
Source: DESIGN §2.6; SESSION 4.2.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel

from memoir_engine.config import MemoirConfig, Secrets
from memoir_engine.errors import ModelError, ModelReplyInvalid
from memoir_engine.ledger import ended
from memoir_engine.llm.providers import Choice
from memoir_engine.llm.refusals import retry_after_s, translated
from memoir_engine.llm.rows import Measure, fingerprint
from memoir_engine.llm.wire import exchange
from memoir_engine.prompts import Prompt, chat
from memoir_engine.run import Run

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
    """One turn's requests, counted together. gate: how many requests may be in flight."""

    run: Run
    choice: Choice
    config: MemoirConfig
    secrets: Secrets
    gate: asyncio.Semaphore
    sleep: Callable[[float], Awaitable[None]]
    guard: Guard
    on_text: OnText | None = None
    written: list[int] = field(default_factory=list)

    async def record(self, row: Any) -> int:
        call_id = await self.run.ledger.record(row)
        self.written.append(call_id)
        self.run.emit(ended(call_id, row))
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
        talking, retries = self.talking, 0
        told = _handed(messages, model_request_parameters)
        await talking.guard(told)
        while True:
            async with talking.gate:
                outcome = await self._attempt(messages, model_settings, model_request_parameters, told, retries + 1)
            if not isinstance(outcome, tuple):
                return outcome
            error, wait_s = outcome
            if not error.retryable or isinstance(error, ModelReplyInvalid):
                raise error
            if retries >= talking.config.max_retries or wait_s > LONGEST_WAIT_S:
                raise error
            await talking.sleep(max(wait_s, FIRST_WAIT_S * 2**retries))
            retries += 1

    async def _attempt(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        told: str,
        number: int,
    ) -> ModelResponse | tuple[ModelError, float]:
        talking = self.talking
        shown = dict(settings or {})
        prompt = Prompt(chat.PURPOSE, chat.VERSION, "", told, FreeText)
        mark = fingerprint(prompt, talking.choice, {"temperature": talking.config.temperature})
        measure = Measure(prompt, talking.run, talking.choice, talking.secrets, mark, number, "text", shown)
        if talking.choice.provider in ("offline", "xai"):
            measure.wire.sent = told
        try:
            response = await self._sent(messages, settings, parameters, measure)
        except asyncio.CancelledError:
            await asyncio.shield(talking.record(measure.failed("cancelled")))
            raise
        except Exception as error:  # translated once, here
            ours = translated(error, talking.choice, talking.config.timeout_s, talking.secrets)
            await talking.record(measure.failed(str(ours)))
            return ours, retry_after_s(error) or 0.0
        await talking.record(await measure.answered(response, _reply(response), None))
        return response

    async def _sent(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        measure: Measure,
    ) -> ModelResponse:
        talking = self.talking
        token = exchange.set(measure.wire)
        try:
            async with asyncio.timeout(None if talking.choice.provider == "offline" else talking.config.timeout_s):
                if talking.on_text is not None and talking.choice.provider != "offline":
                    return await self._streamed(messages, settings, parameters, measure, talking.on_text)
                response = await self.wrapped.request(messages, settings, parameters)
        finally:
            exchange.reset(token)
        if talking.on_text is not None:
            for piece in _WORD.findall(response.text or ""):
                talking.on_text(piece)
        return response

    async def _streamed(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        measure: Measure,
        on_text: OnText,
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
                    on_text(piece)
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
