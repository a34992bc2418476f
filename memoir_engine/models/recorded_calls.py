"""The one path to a model: an attempt is in the ledger before its answer is used, and repeated while a failure may pass.

Invariant: an answer leaves `attempt` only after `ledger.record` has returned; if recording fails, no further request is made.
Every request that was begun has its row, also one that failed or was cancelled. Retries are ours, with those of the SDKs switched
off, so that nothing is asked unseen.
Source: DESIGN §2.6, §9; MEMOIR 7.4; MEMOLLA §1 (30 s, two retries, exponential back-off).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from memoir_engine.core.config import MemoirConfig, Secrets
from memoir_engine.core.errors import ModelError, ModelReplyInvalid
from memoir_engine.core.run import Attempt, Run, to_call_ended
from memoir_engine.models.attempt_row import Exchange, exchange
from memoir_engine.models.providers import OFFLINE, Choice, retry_after_s, translated

if TYPE_CHECKING:
    from httpx2 import AsyncClient

Sleep = Callable[[float], Awaitable[None]]
Model = TypeVar("Model")
Response = TypeVar("Response")
Outcome = TypeVar("Outcome")

FIRST_WAIT_S = 0.5  # doubled with each retry
LONGEST_WAIT_S = 60.0  # a server that asks for more has refused, as far as a waiting person is concerned


@dataclass(frozen=True)
class Failure:
    """An attempt without an answer, and the seconds the server asked to wait."""

    error: ModelError
    wait_s: float = 0.0


@dataclass
class Seat(Generic[Model]):
    """The model, connections and gate of one event loop: they cannot move between loops."""

    model: Model
    http: AsyncClient | None
    gate: asyncio.Semaphore


class Measured(Protocol):
    """One attempt from its beginning on."""

    @property
    def wire(self) -> Exchange: ...

    def failed(self, error: str) -> Attempt:
        """Return the row of an attempt that brought no answer."""
        ...


@dataclass
class RecordedCalls:
    """The attempts at one answer, or of one turn with tools."""

    run: Run
    config: MemoirConfig
    choice: Choice
    secrets: Secrets
    sleep: Sleep
    written: list[tuple[int, Attempt]] = field(default_factory=list)

    async def record(self, row: Attempt) -> int:
        call_id = await self.run.ledger.record(row)
        self.written.append((call_id, row))
        self.run.emit(to_call_ended(call_id, row))
        return call_id

    async def patiently(
        self,
        seat: Seat[Any],
        attempt: Callable[[int], Awaitable[Outcome | Failure]],
        can_ask_otherwise: Callable[[ModelError], bool] = lambda _: False,
    ) -> Outcome:
        """Repeat a numbered attempt while its failure may pass. Raises ModelError."""
        retries = 0
        while True:
            async with seat.gate:
                outcome = await attempt(retries + 1)
            if not isinstance(outcome, Failure):
                return outcome
            error, wait_s = outcome.error, outcome.wait_s
            if can_ask_otherwise(error):
                continue
            if not error.retryable or isinstance(error, ModelReplyInvalid):
                raise error
            if retries >= self.config.max_retries or wait_s > LONGEST_WAIT_S:
                raise error
            await self.sleep(max(wait_s, FIRST_WAIT_S * 2**retries))
            retries += 1

    async def attempt(
        self,
        measure: Measured,
        send: Coroutine[Any, Any, Response],
        read: Callable[[Response], Awaitable[tuple[Outcome | Failure, Attempt]]],
    ) -> Outcome | Failure:
        """Send one request and write its row. read: makes the outcome and the row of a response."""
        token = exchange.set(measure.wire)
        try:
            # the HTTP client's timeouts count silence; a server that drips would hold an attempt for ever
            async with asyncio.timeout(None if self.choice.provider == OFFLINE else self.config.timeout_s):
                response = await send
        except asyncio.CancelledError:
            # the request is out and may be billed: its row is written although nobody waits for it any more
            await asyncio.shield(self.record(measure.failed("cancelled")))
            raise
        except Exception as error:  # translated once, here; unknown classes become ModelError with their name
            ours = translated(error, self.choice, self.config.timeout_s, self.secrets)
            await self.record(measure.failed(str(ours)))
            return Failure(ours, retry_after_s(error) or 0.0)
        finally:
            exchange.reset(token)
        outcome, row = await read(response)
        await self.record(row)
        return outcome
