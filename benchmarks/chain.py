"""Verification of the chain (links, digests, replay), over as many events as public verbs make in reasonable time.

The events are made by ingesting short sentences with tiny chunks into one level of categories: each filing is an event,
so a chain grows by thousands in one verb. A million is extrapolated from what was measured, and named so.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.frame import Size, figure, timed
from memoir_engine import Memory

FEATURES = ("audit", "ingest")
EVENTS = {"full": 100_000, "small": 2_000}
AIM_S = 5.0
MILLION = 1_000_000
WORDS = "river stone window market engine letter garden winter bridge silver number paper forest signal harbour copper".split()
SENTENCES = 5_000  # in one text
SETTINGS: dict[str, Any] = {
    "model": "offline",
    "hierarchy_depth": 1,
    "category_limit": 16,
    "batch_size": 50,
    "chunk_min_tokens": 4,
    "chunk_max_tokens": 12,
}


def main(size: Size) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, Memory(data_dir=Path(folder), **SETTINGS) as memory:
        grow(memory, EVENTS[size])
        check = memory.audit.verify()
        if not check.ok:
            raise RuntimeError(f"the chain does not verify: {check.problem}")
        links = timed(lambda: memory.audit.verify(links_only=True), runs=5 if size == "full" else 1)
        runs = timed(memory.audit.verify, runs=3 if size == "full" else 1)
    scaled = [run * MILLION / check.checked for run in links]
    return {
        "title": "Seconds to verify the chain: links, digests and replay",
        "sizes": {"events": check.checked},
        "figures": [
            figure(
                "links of a million events, extrapolated", scaled, "s", aim=AIM_S, note="in proportion to the events measured"
            ),
            figure(f"links of {check.checked:,} events".replace(",", " "), links, "s"),
            figure(f"links, digests and replay of {check.checked:,} events".replace(",", " "), runs, "s"),
            figure("links followed", [check.checked / run for run in links], "1/s", better="higher"),
        ],
    }


def grow(memory: Memory, events: int) -> None:
    """Ingest texts until the chain has at least this many events."""
    for number, text in enumerate(texts(min(SENTENCES, events))):
        memory.ingest_text(text, name=f"text {number}").raise_for_error()
        if memory.audit.head().seq >= events:
            return


def texts(sentences: int) -> Iterator[str]:
    """Yield an endless, reproducible series of distinct texts."""
    chance = random.Random(20261121)
    while True:
        yield " ".join(f"The {' '.join(chance.choices(WORDS, k=5))} {chance.randrange(10**6)}." for _ in range(sentences))
