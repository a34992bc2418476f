"""One attempt at a model, measured and written down, and the sum of all attempts as a `Reply`.

Invariant: every request that was begun has its row, also one that failed or was cancelled; neither row nor event holds a key.
Source: DESIGN §2.6; MEMOIR 4.4, 9 (responses).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from memoir_engine.config import MemoirConfig, Secrets
from memoir_engine.errors import ModelError, ModelReplyCut, ModelReplyInvalid
from memoir_engine.ledger import Attempt, Paid, ended
from memoir_engine.llm import forms
from memoir_engine.llm.forms import Mode
from memoir_engine.llm.providers import Choice
from memoir_engine.llm.refusals import one_line, retry_after_s, translated
from memoir_engine.llm.rows import Measure, fingerprint, handed_over, instructions_of
from memoir_engine.llm.wire import exchange
from memoir_engine.prompts import Prompt
from memoir_engine.run import Run

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model


@dataclass(frozen=True)
class Reply:
    """An answer with what it took. Sums run over all attempts of this ask.

    value: the checked answer; None only for a per-item prompt whose reply does not fit as a whole.
    data: the decoded JSON. cost: USD; None when the price is not known. deterministic: temperature 0 was sent and taken.
    """

    value: BaseModel | None
    data: dict[str, Any]
    call_id: int
    attempts: int
    latency_ms: float
    model: str
    tokens_prompt: int
    tokens_completion: int
    cost: float | None
    timestamp: datetime
    reused: bool
    deterministic: bool


@dataclass(frozen=True)
class Answered:
    """A reply that came back and stands in the ledger. `problem` is empty when it can be used."""

    response: ModelResponse
    instructions: str
    value: BaseModel | None
    data: dict[str, Any]
    problem: str
    temperature_sent: bool


@dataclass
class Asking:
    """The attempts of one `ask`, counted together."""

    prompt: Prompt
    run: Run
    choice: Choice
    config: MemoirConfig
    secrets: Secrets
    params: dict[str, Any]
    written: list[tuple[int, Attempt]] = field(default_factory=list)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.prompt, self.choice, self.params)

    async def attempt(
        self, model: Model, messages: list[ModelMessage], mode: Mode, settings: dict[str, Any]
    ) -> Answered | tuple[ModelError, float]:
        """One request, one row. Returns the reply, or our error with the seconds the server asked to wait."""
        measure = self._measure(mode, settings)
        try:
            response = await self._request(model, messages, mode, measure)
        except asyncio.CancelledError:
            # the request is out and may be billed: its row is written although nobody waits for it any more
            await asyncio.shield(self.record(measure.failed("cancelled")))
            raise
        except Exception as error:  # translated once, here; unknown classes become ModelError with their name
            ours = translated(error, self.choice, self.config.timeout_s, self.secrets)
            await self.record(measure.failed(str(ours)))
            return ours, retry_after_s(error) or 0.0
        return await self._read(response, measure)

    async def reuse(self, paid: Paid) -> Reply | None:
        """The paid answer as an attempt of its own, which cost nothing; None when it does not fit after all."""
        try:
            data = forms.decode(paid.reply)
        except forms.Undecodable:
            return None
        value, problem = forms.problem_of(self.prompt.schema, data)
        if problem and not self.prompt.per_item:
            return None
        await self.record(self._measure("native", {}).reused(paid))
        return self._sum(value, data, reused=True, deterministic=self.config.temperature == 0)

    def reply(self, answered: Answered) -> Reply:
        exact = self.choice.provider == "offline" or (self.config.temperature == 0 and answered.temperature_sent)
        return self._sum(answered.value, answered.data, reused=False, deterministic=exact)

    async def record(self, row: Attempt) -> int:
        call_id = await self.run.ledger.record(row)
        self.written.append((call_id, row))
        self.run.emit(ended(call_id, row))
        return call_id

    async def _request(
        self,
        model: Model,
        messages: list[ModelMessage],
        mode: Mode,
        measure: Measure,
    ) -> ModelResponse:
        from pydantic_ai.direct import model_request
        from pydantic_ai.settings import ModelSettings

        parameters = forms.request_parameters(mode, self.prompt)
        if self.choice.provider in ("offline", "xai"):
            measure.wire.sent = handed_over(messages, forms.wire_schema(self.prompt.schema), measure.settings)
        token = exchange.set(measure.wire)
        try:
            # the HTTP client's timeouts count silence; a server that drips would hold an attempt for ever
            async with asyncio.timeout(None if self.choice.provider == "offline" else self.config.timeout_s):
                asked = ModelSettings(**measure.settings)  # type: ignore[typeddict-item]  # only keys ModelSettings has
                return await model_request(model, messages, model_settings=asked, model_request_parameters=parameters)
        finally:
            exchange.reset(token)

    async def _read(self, response: ModelResponse, measure: Measure) -> Answered | tuple[ModelError, float]:
        """Write the row with the verdict on the reply, then hand out the reply, or why the model will not give one."""
        text = forms.reply_text(response)
        refused = self._refusal(response)
        value, data, problem = (None, {}, "") if refused else self._checked(text)
        said = refused or (ModelReplyInvalid(model=self.choice.named, problem=problem) if problem else None)
        await self.record(await measure.answered(response, text, str(said) if said else None))
        if refused is not None:
            return refused, 0.0
        return Answered(response, instructions_of(self.prompt), value, data, problem, measure.temperature_sent())

    def _checked(self, text: str) -> tuple[BaseModel | None, dict[str, Any], str]:
        """(value, data, problem): a per-item prompt lets any JSON object pass, its caller checks the items."""
        try:
            data = forms.decode(text)
        except forms.Undecodable as broken:
            return None, {}, str(broken)
        value, problem = forms.problem_of(self.prompt.schema, data)
        passes = self.prompt.per_item and data and all(isinstance(data.get(name), list) for name in self.prompt.lists)
        return value, data, "" if passes else problem

    def _measure(self, mode: Mode, settings: dict[str, Any]) -> Measure:
        number = len(self.written) + 1
        return Measure(self.prompt, self.run, self.choice, self.secrets, self.fingerprint, number, mode, settings)

    def _refusal(self, response: ModelResponse) -> ModelError | None:
        """The model stopped: asking the same again would end the same."""
        if response.finish_reason == "length":
            return ModelReplyCut(model=self.choice.named)
        details = response.provider_details or {}
        if response.finish_reason == "content_filter" or details.get("refusal"):
            said = details.get("refusal") or "the provider's content filter stopped it"
            return ModelReplyInvalid(model=self.choice.named, problem=f"it refused: {one_line(self.secrets.scrub(str(said)))}")
        return None

    def _sum(self, value: BaseModel | None, data: dict[str, Any], *, reused: bool, deterministic: bool) -> Reply:
        rows = [row for _, row in self.written]
        last_id, last = self.written[-1]
        return Reply(
            value=value,
            data=data,
            call_id=last_id,
            attempts=len(rows),
            latency_ms=round(sum(row.latency_ms for row in rows), 3),
            model=last.model,
            tokens_prompt=sum(row.tokens_prompt for row in rows),
            tokens_completion=sum(row.tokens_completion for row in rows),
            cost=None if last.cost is None else sum(row.cost or 0.0 for row in rows),
            timestamp=rows[0].started_at,
            reused=reused,
            deterministic=deterministic,
        )
