"""The model as one run sees it: under its cap, cancelled with it, and answered by a fall-back where one is configured.

Invariant: a cap on cost is held before a call is made; what was paid for before costs nothing.
Source: MEMOIR 7.4; API `max_cost`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Protocol

from memoir_engine.core.errors import CostCapReached, CostUnknown, MemoirError, ModelError
from memoir_engine.core.errors.model import FALLEN_BACK, UNAVAILABLE
from memoir_engine.core.events import Warned
from memoir_engine.core.run import Run
from memoir_engine.models.client import ModelClient, Reply
from memoir_engine.models.price_list import cost
from memoir_engine.prompts import Prompt
from memoir_engine.runtime.engine import Engine

# === asked: What a question's services know of the model: something to ask, and what comes back.
#
# Source: DESIGN §3 (services receive what they need from the facade).


class QuestionReply(Protocol):
    @property
    def data(self) -> Any: ...
    @property
    def value(self) -> Any: ...
    @property
    def call_id(self) -> int: ...
    @property
    def latency_ms(self) -> float: ...
    @property
    def timestamp(self) -> datetime: ...
    @property
    def model(self) -> str: ...
    @property
    def tokens_prompt(self) -> int: ...
    @property
    def tokens_completion(self) -> int: ...
    @property
    def cost(self) -> float | None: ...
    @property
    def deterministic(self) -> bool: ...


AskQuestion = Callable[[Prompt], Awaitable[QuestionReply]]


# === asking: How facts ask a model, as the run of the caller has it.
#
# Source: DESIGN §2.4, §2.6.


class FactsReply(Protocol):
    """What a call brings back, as far as facts need it."""

    @property
    def data(self) -> Any: ...


class AskAboutFacts(Protocol):
    def __call__(self, prompt: Prompt, *, reuse: bool = True) -> Awaitable[FactsReply]: ...


# === capped


class Asking:
    """The model as one run sees it: capped, and stopped when somebody cancels. client: asked in place of the configured one."""

    def __init__(self, engine: Engine, run: Run, stopped: MemoirError, client: ModelClient | None = None) -> None:
        self._engine = engine
        self._run = run
        self._stopped = stopped
        self.warnings: list[str] = []  # that another model answers, and why
        self._client = client or engine.client
        self._cap = engine.resolved.config.max_cost
        self._in_flight = 0.0  # what the calls under way may cost

    async def __call__(self, prompt: Prompt, *, reuse: bool = True) -> Reply:
        if self._run.cancellation.asked:
            raise self._stopped
        if self._cap is None:
            return await self._asked(prompt, reuse)
        unpriced = await asyncio.to_thread(self._unpriced)
        if unpriced is not None:
            return await self._repeated(prompt, reuse, CostUnknown(cap=self._cap, model=unpriced))
        return await self._within(self._cap, prompt, reuse)

    async def _within(self, cap: float, prompt: Prompt, reuse: bool) -> Reply:
        """The cap holds before a call is made, those under way included: afterwards it would be paid for.

        What the run has spent before it was resumed counts too.
        """
        likely, spent = await asyncio.to_thread(self._likely, prompt), self._run.ledger.spent
        if spent >= cap or spent + self._in_flight + likely > cap:
            return await self._repeated(prompt, reuse, CostCapReached(spent=spent, likely=likely, cap=cap))
        self._in_flight += likely
        try:
            return await self._asked(prompt, reuse)
        finally:
            self._in_flight -= likely

    async def _repeated(self, prompt: Prompt, reuse: bool, refused: MemoirError) -> Reply:
        """Nothing may be asked; but what was paid for before costs nothing."""
        paid = await self._client.repeat(prompt, self._run) if reuse else None
        if paid is None:
            raise refused
        return paid

    async def _asked(self, prompt: Prompt, reuse: bool) -> Reply:
        """By the model that is configured; by its fall-back, where there is one, once it is not to be had (MEMOIR 7.4)."""
        client, fallback = self._client, self._engine.fallback
        try:
            return await client.ask(prompt, self._run, reuse=reuse)
        except UNAVAILABLE as failed:
            if fallback is None or client is fallback:
                raise
            self._fall_back(fallback, failed)
            return await fallback.ask(prompt, self._run, reuse=reuse)

    def _fall_back(self, fallback: ModelClient, failed: ModelError) -> None:
        """For the rest of the run: asking a model that is down before each call would cost its whole patience every time."""
        if self._client is not fallback:
            self._client = fallback
            self.warnings.append(FALLEN_BACK.format(name=fallback.name, failed=failed))
            self._run.emit(Warned("model", self.warnings[-1]))

    def _unpriced(self) -> str | None:
        """Whoever may be asked and has no known price, by name; the fall-back too, before anything is asked."""
        clients = filter(None, (self._client, self._engine.fallback))
        return next((client.name for client in clients if cost(client.choice, 1, 1) is None), None)

    def _likely(self, prompt: Prompt) -> float:
        """What the prompt alone will cost at least."""
        tokens = self._engine.tokens.count(prompt.instructions) + self._engine.tokens.count(prompt.text)
        return cost(self._client.choice, tokens, 0) or 0.0
