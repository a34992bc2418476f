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
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from memoir_engine.config import MemoirConfig, Secrets
from memoir_engine.errors import ModelError, ModelRejectedRequest, ModelReplyInvalid
from memoir_engine.ledger import Paid
from memoir_engine.llm import forms
from memoir_engine.llm.attempts import Answered, Asking, Reply
from memoir_engine.llm.forms import Mode
from memoir_engine.llm.providers import OFFLINE, Choice, build, choose, require_installed
from memoir_engine.llm.quiet import quiet_litellm
from memoir_engine.llm.rows import instructions_of
from memoir_engine.llm.wire import recording_client
from memoir_engine.prompts import Prompt
from memoir_engine.run import Run

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

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
        return forms.modes_from(self._mode or forms.usual_mode(profile), profile)

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
            self._temperature = self._temperature and forms.takes_temperature(dict(model.profile))
            self._seats[loop] = Seat(model, http, asyncio.Semaphore(self.config.max_concurrency))
        return self._seats[loop]

    def _import_all(self) -> None:
        import pydantic_ai.direct

        if self.is_offline:
            import memoir_engine.llm.offline.model  # noqa: F401

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

    text = forms.feedback(answered.problem)
    call = next((part for part in answered.response.parts if part.part_kind == "tool-call"), None)
    told = UserPromptPart(text) if call is None else ToolReturnPart(call.tool_name, text, call.tool_call_id)
    return [answered.response, ModelRequest(parts=[told], instructions=answered.instructions)]


def _passing(error: ModelError) -> bool:
    return error.retryable and not isinstance(error, ModelReplyInvalid)
