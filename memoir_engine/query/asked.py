"""What a question's services know of the model: something to ask, and what comes back.

Source: DESIGN §3 (services receive what they need from the facade).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Protocol

from memoir_engine.prompts import Prompt


class Answered(Protocol):
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


Ask = Callable[[Prompt], Awaitable[Answered]]
