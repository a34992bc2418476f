"""`ask(prompt)`: one checked answer, and a ledger row for every attempt at it before the answer is used.

Invariant: an answer leaves this module only after `ledger.record` of its attempt has returned; if recording fails, no
further request is made. Retries are ours, with those of the SDKs switched off, so that nothing is asked unseen. A model
that fails is never replaced here; a fall-back that somebody configured is the run's business.
Source: DESIGN §2.6, §9; MEMOIR 2A.8, 5.1–5.3, 7.4, 9.11; MEMOLLA §1 (30 s, two retries, exponential back-off).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel

from memoir_engine.core.config import MemoirConfig, Secrets
from memoir_engine.core.errors import ModelError, ModelRejectedRequest, ModelReplyCut, ModelReplyInvalid
from memoir_engine.core.run import Attempt, Paid, Run, to_call_ended
from memoir_engine.models import output_mode
from memoir_engine.models.attempt_row import Measure, exchange, fingerprint, handed_over, instructions_of, recording_client
from memoir_engine.models.error_mapping import one_line, retry_after_s, translated
from memoir_engine.models.output_mode import Mode
from memoir_engine.models.price_list import quiet_litellm
from memoir_engine.models.providers import OFFLINE, Choice, build, choose, require_installed
from memoir_engine.prompts import Prompt

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model


# === attempts: One attempt at a model, measured and written down, and the sum of all attempts as a `Reply`.
#
# Invariant: every request that was begun has its row, also one that failed or was cancelled; neither row nor event holds
# a key.
# Source: DESIGN §2.6; MEMOIR 4.4, 9 (responses).


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
            data = output_mode.decode(paid.reply)
        except output_mode.Undecodable:
            return None
        value, problem = output_mode.problem_of(self.prompt.schema, data)
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
        self.run.emit(to_call_ended(call_id, row))
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

        parameters = output_mode.request_parameters(mode, self.prompt)
        if self.choice.provider in ("offline", "xai"):
            measure.wire.sent = handed_over(messages, output_mode.wire_schema(self.prompt.schema), measure.settings)
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
        text = output_mode.reply_text(response)
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
            data = output_mode.decode(text)
        except output_mode.Undecodable as broken:
            return None, {}, str(broken)
        value, problem = output_mode.problem_of(self.prompt.schema, data)
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


# === client


Sleep = Callable[[float], Awaitable[None]]

OUTPUT_RETRIES = 2  # further answers asked for when one does not fit the schema
FIRST_WAIT_S = 0.5  # doubled with each retry
LONGEST_WAIT_S = 60.0  # a server that asks for more has refused, as far as somebody waiting is concerned


@dataclass
class Seat:
    """What belongs to one event loop: connections and locks cannot move between loops."""

    model: Model
    http: AsyncClient | None
    gate: asyncio.Semaphore


@dataclass
class ModelClient:
    """The configured model. Make it with `open`; one per memory."""

    config: MemoirConfig
    secrets: Secrets
    choice: Choice
    sleep: Sleep = asyncio.sleep
    _seats: WeakKeyDictionary[asyncio.AbstractEventLoop, Seat] = field(default_factory=WeakKeyDictionary)
    _mode: Mode | None = None  # what the server turned out to take; per base URL and model, as this client is
    _temperature: bool = True  # False once the model has refused one

    @classmethod
    def open(cls, config: MemoirConfig, secrets: Secrets, *, sleep: Sleep = asyncio.sleep) -> ModelClient:
        """Choose the model and check that it can be built. Loads nothing heavy and contacts nobody."""
        choice = choose(config, secrets)
        require_installed(choice)
        return cls(config, secrets, choice, sleep)

    @property
    def name(self) -> str:
        return self.choice.model

    @property
    def provider(self) -> str:
        return self.choice.provider

    @property
    def is_offline(self) -> bool:
        return self.choice.provider == OFFLINE

    @property
    def output_mode(self) -> Mode | None:
        """The mode the server took last; None before the first answer."""
        return self._mode

    def warm_up(self) -> threading.Thread:
        """Import in the background what the first question would otherwise wait for."""
        thread = threading.Thread(target=self._import_all, name="memoir-warm-up", daemon=True)
        thread.start()
        return thread

    async def ask(self, prompt: Prompt, run: Run, *, seed_reply: Paid | None = None, reuse: bool = True) -> Reply:
        """The answer to one prompt.

        seed_reply: a paid answer already at hand, taken instead of looking for one; reuse=False looks for none, for
        asking again what was answered wrongly.
        With `prompt.per_item` a reply that is JSON but does not fit the schema is returned with `value` None.
        Raises ModelError subclasses; whatever `run.ledger.record` raises.
        """
        asking = self._asking(prompt, run)
        repeated = await _repeated(asking, seed_reply) if reuse or seed_reply else None
        return repeated or await self._answered(prompt, asking)

    async def repeat(self, prompt: Prompt, run: Run) -> Reply | None:
        """The answer that was paid for before, at no cost; None where there is none, and nothing is asked."""
        return await _repeated(self._asking(prompt, run), None)

    async def close(self) -> None:
        """End the connections of the running loop."""
        seat = self._seats.pop(asyncio.get_running_loop(), None)
        if seat is not None and seat.http is not None:
            await seat.http.aclose()

    def _asking(self, prompt: Prompt, run: Run) -> Asking:
        return Asking(prompt, run, self.choice, self.config, self.secrets, self._shown_params())

    async def _answered(self, prompt: Prompt, asking: Asking) -> Reply:
        """Ask until a reply fits: feedback in the same conversation after one that does not."""
        seat = await self.seat()
        messages = _first_messages(prompt)
        for left in range(OUTPUT_RETRIES, -1, -1):
            answered = await self._requested(seat, messages, asking)
            if not answered.problem:
                return asking.reply(answered)
            if not left:
                break
            messages = [*messages, *_correction(answered)]
        raise ModelReplyInvalid(model=self.choice.named, problem=answered.problem)

    async def _requested(self, seat: Seat, messages: list[ModelMessage], asking: Asking) -> Answered:
        """One reply that came back, whatever it says: retried on passing failures, asked otherwise where refused."""
        modes = list(self._modes(seat))
        retries = 0
        while True:
            async with seat.gate:
                outcome = await asking.attempt(seat.model, messages, modes[0], self.settings())
            if isinstance(outcome, Answered):
                self._mode = modes[0]
                return outcome
            error, wait_s = outcome
            if self._settles(error, modes):
                continue
            if not _passing(error) or retries >= self.config.max_retries or wait_s > LONGEST_WAIT_S:
                raise error
            await self.sleep(max(wait_s, FIRST_WAIT_S * 2**retries))
            retries += 1

    def _settles(self, error: ModelError, modes: list[Mode]) -> bool:
        """Whether the same can be asked another way: without a temperature, or in a lower output mode."""
        if not isinstance(error, ModelRejectedRequest):
            return False
        if self._temperature and "temperature" in error.message.lower():
            self._temperature = False
            return True
        if len(modes) > 1:
            modes.pop(0)
            return True
        return False

    def _modes(self, seat: Seat) -> tuple[Mode, ...]:
        if self.config.output_mode != "auto":
            return (self.config.output_mode,)
        profile: dict[str, Any] = dict(seat.model.profile)
        return output_mode.modes_from(self._mode or output_mode.usual_mode(profile), profile)

    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {"timeout": self.config.timeout_s, "max_retries": 0}
        if self.choice.provider == "xai":
            settings = {}  # its SDK takes neither; the deadline of the attempt holds for all
        if self._temperature:
            settings["temperature"] = self.config.temperature
        return settings

    def _shown_params(self) -> dict[str, Any]:
        return {"temperature": self.config.temperature, "output_mode": self.config.output_mode}

    async def seat(self) -> Seat:
        """Model, connections and gate of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._seats:
            await asyncio.to_thread(self._import_all)  # seconds the first time; the loop only waits
        if loop not in self._seats:
            http = None if self.is_offline else recording_client(self.config.timeout_s)
            model = build(self.choice, self.secrets, http)
            self._temperature = self._temperature and output_mode.takes_temperature(dict(model.profile))
            self._seats[loop] = Seat(model, http, asyncio.Semaphore(self.config.max_concurrency))
        return self._seats[loop]

    def _import_all(self) -> None:
        import pydantic_ai.direct

        if self.is_offline:
            return
        import pydantic_ai.models.openai  # noqa: F401

        quiet_litellm()


async def _repeated(asking: Asking, given: Paid | None) -> Reply | None:
    paid = given or await asking.run.ledger.paid(asking.fingerprint)
    return None if paid is None else await asking.reuse(paid)


def _first_messages(prompt: Prompt) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    return [ModelRequest(parts=[UserPromptPart(prompt.text)], instructions=instructions_of(prompt))]


def _correction(answered: Answered) -> list[ModelMessage]:
    """The bad reply, and what was wrong with it, as the next turn of the conversation."""
    from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart

    text = output_mode.feedback(answered.problem)
    call = next((part for part in answered.response.parts if part.part_kind == "tool-call"), None)
    told = UserPromptPart(text) if call is None else ToolReturnPart(call.tool_name, text, call.tool_call_id)
    return [answered.response, ModelRequest(parts=[told], instructions=answered.instructions)]


def _passing(error: ModelError) -> bool:
    return error.retryable and not isinstance(error, ModelReplyInvalid)
