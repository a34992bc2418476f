"""The model as one run sees it: enforces its cost cap, cancellation and fallback model.

Invariant: a cost cap is checked before a call is made; answers paid for before cost nothing.
Source: MEMOIR 7.4; API `max_cost`; DESIGN §2.4, §2.6.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from memoir_engine.core.errors import CostCapReached, CostUnknown, MemoirError, ModelError
from memoir_engine.core.errors.system import FALLEN_BACK, UNAVAILABLE
from memoir_engine.core.events import Warned
from memoir_engine.core.run import Run
from memoir_engine.models.client import ModelClient, Reply
from memoir_engine.models.providers import cost
from memoir_engine.prompts import Prompt
from memoir_engine.runtime.engine import Engine


class Ask(Protocol):
    """Ask the model of a run; `reuse=False` when the same prompt was just answered wrongly."""

    def __call__(self, prompt: Prompt, *, reuse: bool = True) -> Awaitable[Reply]: ...


class Asking:
    """The model as one run sees it: capped, and stopped when somebody cancels. client: asked in place of the configured one."""

    def __init__(self, engine: Engine, run: Run, stopped: Callable[[], MemoirError], client: ModelClient | None = None) -> None:
        self._engine = engine
        self._run = run
        self._stopped = stopped
        self.warnings: list[str] = []  # that another model answers, and why
        self._client = client or engine.client
        self._cap = engine.resolved.config.max_cost
        self._in_flight = 0.0  # what the calls under way may cost

    async def __call__(self, prompt: Prompt, *, reuse: bool = True) -> Reply:
        """Ask the configured model; its fallback, where there is one, once it is unavailable (MEMOIR 7.4)."""
        if self._run.cancellation.asked:
            raise self._stopped()
        likely = 0.0
        if self._cap is not None:
            unpriced, likely = await asyncio.to_thread(self._prices, prompt)
            refused = self._refusal(self._cap, unpriced, likely)
            if refused is not None:  # nothing may be asked; but what was paid for before costs nothing
                paid = await self._client.repeat(prompt, self._run) if reuse else None
                if paid is None:
                    raise refused
                return paid
        client, fallback = self._client, self._engine.fallback
        self._in_flight += likely
        try:
            return await client.ask(prompt, self._run, reuse=reuse)
        except UNAVAILABLE as failed:
            if fallback is None or client is fallback:
                raise
            self._fall_back(fallback, failed)
            return await fallback.ask(prompt, self._run, reuse=reuse)
        finally:
            self._in_flight -= likely

    def _prices(self, prompt: Prompt) -> tuple[str | None, float]:
        """Return the name of a model that may be asked and has no known price, and what the prompt alone costs at least (USD)."""
        clients = filter(None, (self._client, self._engine.fallback))
        unpriced = next((client.name for client in clients if cost(client.choice, 1, 1) is None), None)
        if unpriced is not None:
            return unpriced, 0.0
        tokens = self._engine.tokens.count(prompt.instructions) + self._engine.tokens.count(prompt.text)
        return None, cost(self._client.choice, tokens, 0) or 0.0

    def _refusal(self, cap: float, unpriced: str | None, likely: float) -> MemoirError | None:
        """Return why the call may not be made. The cap holds before a call, those in flight included: afterwards it is paid for.

        What the run has spent before it was resumed counts too.
        """
        if unpriced is not None:
            return CostUnknown(cap=cap, model=unpriced)
        spent = self._run.ledger.spent
        if spent >= cap or spent + self._in_flight + likely > cap:
            return CostCapReached(spent=spent, likely=likely, cap=cap)
        return None

    def _fall_back(self, fallback: ModelClient, failed: ModelError) -> None:
        """Switch this run to the fallback model: trying one that is down before each call would cost all its retries."""
        if self._client is not fallback:
            self._client = fallback
            self.warnings.append(FALLEN_BACK.format(name=fallback.name, failed=failed))
            self._run.emit(Warned("model", self.warnings[-1]))
