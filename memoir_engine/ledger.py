"""What is written down of each attempt at a model, before its answer is used.

Invariant: `record` has committed when it returns; if it raises, the answer is not used and no further call is made.
The model adapter knows only this protocol; the store stands behind it.
Source: DESIGN §2.6; `../docs/architecture.md` (evidence first).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from memoir_engine.events import CallEnded


@dataclass(frozen=True)
class Attempt:
    """One request to a model. `prompt` is the body that went over the wire, `reply` what came back, both verbatim.

    fingerprint: sha256 of model, parameters, prompt version, exact text and exact schema: equal fingerprints ask the same.
    reused_from: the call whose paid answer this one repeats; then it cost nothing and took no time at the model.
    """

    run_id: str
    purpose: str
    prompt_version: str
    fingerprint: str
    model: str
    provider: str
    output_mode: str
    params: dict[str, Any]
    attempt: int
    started_at: datetime
    latency_ms: float
    tokens_prompt: int
    tokens_completion: int
    tokens_estimated: bool
    cost: float | None
    prompt: str
    reply: str | None
    error: str | None = None
    reused_from: int | None = None


@dataclass(frozen=True)
class Paid:
    """An answer that an uncommitted run of the same source already paid for."""

    call_id: int
    reply: str
    model: str
    tokens_prompt: int
    tokens_completion: int


def ended(call_id: int, attempt: Attempt) -> CallEnded:
    """What a run tells of an attempt that is written down."""
    return CallEnded(
        call_id=call_id,
        purpose=attempt.purpose,
        model=attempt.model,
        attempt=attempt.attempt,
        tokens_prompt=attempt.tokens_prompt,
        tokens_completion=attempt.tokens_completion,
        latency_ms=attempt.latency_ms,
        cost=attempt.cost,
        error=attempt.error,
        reused=attempt.reused_from is not None,
    )


class Ledger(Protocol):
    @property
    def sent(self) -> int:
        """How many attempts of the run went to a model, in all its processes; what was answered from the ledger did not."""
        ...

    @property
    def reused(self) -> int:
        """How many answers of the run were taken from the ledger."""
        ...

    @property
    def spent(self) -> float:
        """USD that the attempts of the run have cost in all its openings, as far as it is known."""
        ...

    async def record(self, attempt: Attempt) -> int:
        """Write it durably; the id of its row."""
        ...

    async def paid(self, fingerprint: str) -> Paid | None:
        """The answer to re-use, if an uncommitted run of the same source has one."""
        ...
