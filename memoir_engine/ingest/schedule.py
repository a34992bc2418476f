"""The order in which chunks are asked about: streams, waves, batches.

A stream is the chunks that came to one category, in position order. Its batches go out in waves of 1, 2, 4, 8, 8, …;
a wave sees what the waves before it in the same stream decided, and nothing else. Its batches are in flight together,
and so are those of other streams.
Invariant: which chunks share a batch, and what a batch sees, depends on positions only, never on time or on how many calls may
be in flight; so the same model gives the same tree at any concurrency.
Source: DESIGN §8.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

# === gate: How many calls are in flight, and whose turn is next: the upper level first, then who came first.
#
# Upper levels decide what lower ones may ask, so letting them pass keeps every lane busy to the end.
# Invariant: this decides when a call is made, never what it asks.
# Source: DESIGN §8 ("the wall clock is decided by calls in flight").


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


# === waves


FIRST_WAVES = (1, 2, 4)
LATER_WAVES = 8

Outcome = TypeVar("Outcome")


class Stream:
    """Positions waiting for one parent's choice. Fed in position order, ended once."""

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
        """The next `size` positions; fewer only when the stream has ended, none when it is done."""
        while len(self._waiting) < size and not self._ended:
            self._changed.clear()
            await self._changed.wait()
        batch, self._waiting = self._waiting[:size], self._waiting[size:]
        return batch


class ChildStreams:
    """The streams below one: opened as their category is first chosen, each position passed on once, in order."""

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
    """Batches in wave `wave`, counted from 0. Small first waves, so that names are shared before many are asked for."""
    return FIRST_WAVES[wave] if wave < len(FIRST_WAVES) else LATER_WAVES


async def run_wave(
    stream: Stream,
    width: int,
    size: int,
    classify: Callable[[list[int]], Awaitable[Outcome]],
    in_order: Callable[[Outcome], None] = lambda _: None,
) -> list[Outcome]:
    """Send up to `width` batches as they fill; their outcomes in batch order. Empty when the stream is done.

    in_order: told each outcome once it and all before it in the wave are there, so what is certain need not wait for the rest.
    """
    outcomes: dict[int, Outcome] = {}
    told = 0

    async def send(number: int, batch: list[int]) -> None:
        nonlocal told
        outcomes[number] = await classify(batch)
        while told in outcomes:
            in_order(outcomes[told])
            told += 1

    async with asyncio.TaskGroup() as group:
        for number in range(width):
            batch = await stream.next_batch(size)
            if not batch:
                break
            group.create_task(send(number, batch))
    return [outcomes[number] for number in sorted(outcomes)]
