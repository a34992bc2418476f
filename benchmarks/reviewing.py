"""Time of thirty decisions by keyboard in a real browser: what the app adds to a person's reading.

The next key is pressed once the next item stands there with its evidence, and no key twice within 0.35 s, which the desk takes
for a bounce; the time waited for that counts.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import ages
from benchmarks.app import browser_page, served, wait_for_health, wait_until_drawn
from benchmarks.frame import Size, figure, percentile
from memoir_engine import Memory

FEATURES, APP = ages.FEATURES, True
AIM_S = 60.0  # for thirty
DECISIONS = 30
KEYS = "axs"  # approve, reject, skip
BOUNCE_S = 0.35
PATIENCE_MS = 60_000
REVIEWER = {"MEMOIR_REVIEWER": "benchmark"}
SMALL: dict[str, Any] = {"model": "offline", "chunk_min_tokens": 8, "chunk_max_tokens": 30}
SUBJECTS = (
    "The sourdough starter number {n} lives in the cold room and is fed with rye flour, water and patience.",
    "The harbour festival of year {n} earned a surplus of euros, and the board decided to repair the quay.",
    "Pump {n} of the swimming pool needs a new seal, since water drips onto the electric motor below.",
)


def main(size: Size) -> dict[str, Any]:
    decisions = DECISIONS if size == "full" else 4
    os.environ |= REVIEWER
    with tempfile.TemporaryDirectory() as folder:
        chunks = fill(Path(folder), 2 * decisions)
        each, saving = decide(Path(folder), decisions)
    aim = AIM_S * decisions / DECISIONS
    return {
        "title": "Seconds to review by keys alone",
        "sizes": {"chunks": chunks, "decisions": decisions},
        "figures": [
            figure(f"{decisions} decisions, until all are saved", [sum(each) + saving], "s", aim=aim),
            figure("from a key to the next item with its evidence", each, "s"),
            figure("from a key to the next item with its evidence, p95", [percentile(each, 0.95)], "s"),
            figure("from the last key until all is saved", [saving], "s"),
        ],
    }


def fill(folder: Path, chunks: int) -> int:
    """Ingest this many distinct short chunks; return their number."""
    sentences = [SUBJECTS[n % len(SUBJECTS)].format(n=n) for n in range(chunks)]
    with Memory(data_dir=folder, **SMALL) as memory:
        memory.ingest_text("\n\n".join(sentences), name="notes.txt").raise_for_error()
        return memory.overview().chunks


def decide(folder: Path, decisions: int) -> tuple[list[float], float]:
    """Return the seconds from each key to the next decidable item, and from the last key until all is saved."""
    taken: list[float] = []
    pressed: dict[str, float] = {}
    with browser_page() as page, served(folder) as app:
        wait_for_health(app)
        page.goto(f"{app.url}/review")
        wait_until_drawn(page, heading="review")
        shown = _next(page, "")
        for number in range(decisions):
            key, started = KEYS[number % len(KEYS)], time.perf_counter()
            page.wait_for_timeout(max(0.0, pressed.get(key, -1.0) + BOUNCE_S - started) * 1_000)
            pressed[key] = time.perf_counter()
            page.keyboard.press(key)
            shown = _next(page, shown)
            taken.append(time.perf_counter() - started)
        started = time.perf_counter()
        page.locator(".review[data-waiting='0']").wait_for(timeout=PATIENCE_MS)
        saving = time.perf_counter() - started
    _all_there(folder, decisions)
    return taken, saving


def _next(page: Any, before: str) -> str:
    """Wait for an item other than `before` that can be decided."""
    box = page.locator(f".review[data-ready=true]:not([data-key='{before}'])")
    box.wait_for(timeout=PATIENCE_MS)
    return str(box.get_attribute("data-key"))


def _all_there(folder: Path, decisions: int) -> None:
    with Memory(data_dir=folder, **SMALL) as memory:
        counts = memory.review.queue().counts
    if sum(counts.values()) - counts["unreviewed"] != decisions:
        raise RuntimeError(f"{decisions} decisions were made, and the memory has {counts}")
