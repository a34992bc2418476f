"""The test call of the Settings page: does the model answer, in which form, how fast.

Invariant: it is a call like any other, with its row in the ledger and its cost.
"""

from __future__ import annotations

from dataclasses import dataclass

from memoir_engine.errors import ModelError
from memoir_engine.llm.attempts import Reply
from memoir_engine.llm.client import ModelClient
from memoir_engine.prompts import ping
from memoir_engine.run import Run


@dataclass(frozen=True)
class ModelCheck:
    """`error` and `remedy` are None when the model answered; `output_mode` is the one it took."""

    ok: bool
    model: str
    provider: str
    server: str
    output_mode: str | None
    latency_ms: float
    cost: float | None
    deterministic: bool
    error: str | None = None
    remedy: str | None = None


async def check_model(client: ModelClient, run: Run) -> ModelCheck:
    """Ask once; never an answer paid for before."""
    began_ms = run.clock.tick_ms()
    try:
        reply = await client.ask(ping.build(), run, reuse=False)
    except ModelError as error:
        return _checked(client, latency_ms=run.clock.tick_ms() - began_ms, error=error)
    return _checked(client, latency_ms=reply.latency_ms, reply=reply)


def _checked(
    client: ModelClient, *, latency_ms: float, reply: Reply | None = None, error: ModelError | None = None
) -> ModelCheck:
    return ModelCheck(
        ok=error is None,
        model=client.name,
        provider=client.provider,
        server=client.choice.server,
        output_mode=client.output_mode if reply else None,
        latency_ms=latency_ms,
        cost=reply.cost if reply else None,
        deterministic=reply.deterministic if reply else False,
        error=str(error) if error else None,
        remedy=error.remedy if error else None,
    )
