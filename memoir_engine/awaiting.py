"""The work of a run, waited for by somebody who may leave.

Invariant: whoever leaves cancels the run, unless its commit has begun; what it came to is known all the same.
Source: DESIGN §7.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TypeVar

from memoir_engine.run import Run

Result = TypeVar("Result")


async def outcome(task: asyncio.Task[Result], run: Run) -> Result:
    """What the work came to, also when whoever waits for it leaves first."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.done() and run.cancellation.ask():
            task.cancel()
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    return task.result()
