"""What really goes over the wire, caught at the HTTP client.

Invariant: bodies only. Headers, and with them the Authorization, are never looked at.
The messages we hand to pydantic-ai are not what is sent (it adds schemas, notes and settings), so the ledger keeps the
body. Concurrent requests stay apart because a context variable holds one `Exchange` per attempt.
Source: MEMOIR 9.11 (provider parameters recorded); DESIGN §10.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Request, Response


@dataclass
class Exchange:
    """One attempt: what was sent, and what came back as far as it came."""

    sent: str | None = None
    received: str | None = None
    status: int | None = None


exchange: ContextVar[Exchange | None] = ContextVar("memoir_exchange", default=None)


def recording_client(timeout_s: float) -> AsyncClient:
    """An HTTP client that fills the current `exchange`."""
    from pydantic_ai.models import create_async_httpx2_client

    client = create_async_httpx2_client(timeout=timeout_s)
    client.event_hooks = {"request": [_sent], "response": [_received]}
    return client


async def _sent(request: Request) -> None:
    current = exchange.get()
    if current is not None:
        current.sent = (await request.aread()).decode("utf-8", "replace")


async def _received(response: Response) -> None:
    current = exchange.get()
    if current is not None:
        current.status = response.status_code
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            return  # whoever asked for it reads it as it comes, and notes what came
        await response.aread()
        current.received = response.text
