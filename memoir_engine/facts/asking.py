"""How facts ask a model, as the run of the caller has it.

Source: DESIGN §2.4, §2.6.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

from memoir_engine.prompts import Prompt


class Answered(Protocol):
    """What a call brings back, as far as facts need it."""

    @property
    def data(self) -> Any: ...


class Ask(Protocol):
    def __call__(self, prompt: Prompt, *, reuse: bool = True) -> Awaitable[Answered]: ...
