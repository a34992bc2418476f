"""The order in which chunks are asked about: streams, waves, batches; and a gate that limits the calls in flight.

A stream holds the chunks of one category, in position order. Its batches go out in waves of 1, 2, 4, 8, 8, …; a wave sees what
the earlier waves of its stream decided, and nothing else. Its batches are in flight together, and so are those of other streams.
Invariant: which chunks share a batch, and what a batch sees, depends on positions only, never on time or concurrency; so the same
model gives the same tree at any concurrency. The gate decides when a call is made, never what it asks.
Source: DESIGN §8.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

FIRST_WAVES = (1, 2, 4)
LATER_WAVES = 8

Outcome = TypeVar("Outcome")


class Gate:
    """A gate for at most `lanes` calls at once. Upper levels go first, then first come, first served.

    Upper levels decide what lower ones may ask, so letting them pass keeps every lane busy to the end.
    """

    def __init__(self, lanes: int) -> None:
        self._free = lanes
        self._arrivals = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def turn(self, level: int) -> AsyncIterator[None]:
        if self._free and not self._waiting:
            self._free -= 1
        else:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._arrivals += 1
            heapq.heappush(self._waiting, (level, self._arrivals, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # admitted in the moment of its cancellation
                    self._leave()
                raise
        try:
            yield
        finally:
            self._leave()

    def _leave(self) -> None:
        """Hand the lane to the next that still waits, or free it."""
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class Stream:
    """Positions that wait for a choice below one parent. Fed in position order, ended once."""

    def __init__(self, parent: int, level: int) -> None:
        self.parent = parent
        self.level = level
        self._waiting: list[int] = []
        self._ended = False
        self._changed = asyncio.Event()

    def feed(self, positions: Iterable[int]) -> None:
        self._waiting.extend(positions)
        self._changed.set()

    def end(self) -> None:
        self._ended = True
        self._changed.set()

    async def next_batch(self, size: int) -> list[int]:
        """Return the next `size` positions; fewer only when the stream has ended, none when it is done."""
        while len(self._waiting) < size and not self._ended:
            self._changed.clear()
            await self._changed.wait()
        batch, self._waiting = self._waiting[:size], self._waiting[size:]
        return batch


class ChildStreams:
    """Streams below one stream: each opened when its category is first chosen; each position passed on once, in order."""

    def __init__(self, above: Stream, depth: int, follow: Callable[[Stream], object]) -> None:
        self._level = above.level + 1
        self._deepest = above.level >= depth
        self._follow = follow
        self._streams: dict[int, Stream] = {}
        self._passed: set[int] = set()

    def pass_on(self, category: int, position: int) -> None:
        if self._deepest or position in self._passed:
            return
        self._passed.add(position)
        if category not in self._streams:
            self._streams[category] = Stream(category, self._level)
            self._follow(self._streams[category])
        self._streams[category].feed((position,))

    def end(self) -> None:
        for stream in self._streams.values():
            stream.end()


def wave_width(wave: int) -> int:
    """Return the batches in wave `wave` (from 0). The first waves are small, so that names are shared early."""
    return FIRST_WAVES[wave] if wave < len(FIRST_WAVES) else LATER_WAVES


async def run_wave(
    stream: Stream,
    width: int,
    size: int,
    classify: Callable[[list[int]], Awaitable[Outcome]],
    in_order: Callable[[Outcome], None] = lambda _: None,
) -> list[Outcome]:
    """Send up to `width` batches as they fill; return their outcomes in batch order, none when the stream is done.

    in_order: called with each outcome once all before it in the wave are there; certain choices need not wait for the rest.
    """
    outcomes: dict[int, Outcome] = {}
    passed = 0

    async def send(number: int, batch: list[int]) -> None:
        nonlocal passed
        outcomes[number] = await classify(batch)
        while passed in outcomes:
            in_order(outcomes[passed])
            passed += 1

    async with asyncio.TaskGroup() as group:
        for number in range(width):
            batch = await stream.next_batch(size)
            if not batch:
                break
            group.create_task(send(number, batch))
    return [outcomes[number] for number in sorted(outcomes)]
