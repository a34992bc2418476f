"""Webhooks, by which programs are told of changes. Source: docs/decisions/0136."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True)
class WebhookState:
    """A webhook and how far it was told. address: by its host alone. seq: of the last event it was told of, or did not ask for.
    owed: events since then.

    state: `retrying` was not taken and is tried again at `retry_at`; `stopped` was answered with 410, and waits for
    `webhooks.deliver`. problem: why it was not taken, else empty.
    """

    name: str
    address: str
    events: tuple[str, ...]
    state: Literal["up to date", "owed", "retrying", "stopped"]
    seq: int
    owed: int
    delivered_at: datetime | None
    retry_at: datetime | None
    problem: str = ""
