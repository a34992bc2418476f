"""How many calls are in flight, and whose turn is next: the upper level first, then who came first.

Upper levels decide what lower ones may ask, so letting them pass keeps every lane busy to the end.
Invariant: this decides when a call is made, never what it asks.
Source: DESIGN §8 ("the wall clock is decided by calls in flight").
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """At most `lanes` at once."""

    def __init__(self, lanes: int) -> None:
        self._free = lanes
        self._came = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def turn(self, level: int) -> AsyncIterator[None]:
        await self._enter(level)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, level: int) -> None:
        if self._free and not self._waiting:
            self._free -= 1
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._came += 1
        heapq.heappush(self._waiting, (level, self._came, mine))
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():  # let through in the moment it was called off
                self._leave()
            raise

    def _leave(self) -> None:
        """The lane goes to the next who still waits, or stays free."""
        while self._waiting:
            _, _, next_one = heapq.heappop(self._waiting)
            if not next_one.done():
                next_one.set_result(None)
                return
        self._free += 1
