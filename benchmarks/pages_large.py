"""Time from a click to a page drawn, in a memory of a hundred thousand chunks and ten thousand facts.

The chunks are short and the facts of one person, all made; what is measured is what a page reads and draws, not what is in it.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import ages, pages, reviewing
from benchmarks.app import browser_page, served, wait_for_health, wait_until_drawn
from benchmarks.frame import Size, figure, quiet
from memoir_engine import Memory

FEATURES, APP = ages.FEATURES, True
CHUNKS = {"full": 100_000, "small": 40}
FACTS = {"full": 10_000, "small": 20}
ROUNDS = {"full": 5, "small": 1}
AIM_REVIEW_S = 1.0  # until its first item stands there
USER = "mia"
THINGS = "tea figs rain owls chess boats jazz bread soup hats maps bells lamps kites roses plums drums masks coins shells".split()


@quiet()
def main(size: Size) -> dict[str, Any]:
    os.environ |= reviewing.REVIEWER
    with tempfile.TemporaryDirectory() as name:
        chunks, facts = reviewing.fill(Path(name), CHUNKS[size]), learn(Path(name), FACTS[size])
        switches = pages.in_browser(Path(name), ROUNDS[size], pages.PAGES[size])
        items = first_items(Path(name), ROUNDS[size])
    every = [run for runs in switches.values() for run in runs]
    return {
        "title": "Seconds from a click to a page drawn, in a large memory",
        "sizes": {"chunks": chunks, "facts": facts, "pages": len(switches), "rounds": ROUNDS[size]},
        "figures": [
            figure("click to drawn in a browser, all pages", every, "s", aim=pages.AIM_S, note=pages.IN_BROWSER),
            *(figure(f"click to {page} drawn", runs, "s") for page, runs in switches.items()),
            figure("click to the first item of Review with its evidence", items, "s", aim=AIM_REVIEW_S),
        ],
    }


def first_items(folder: Path, rounds: int) -> list[float]:
    """Return the seconds from a click on Review until its first item can be decided, after a warm-up round.

    The page is drawn in full some time later: what the next keys will show is fetched before they are pressed.
    """
    taken: list[float] = []
    with browser_page() as page, served(folder) as app:
        wait_for_health(app)
        page.goto(app.url)
        wait_until_drawn(page)
        for number in range(rounds + 1):
            started = time.perf_counter()
            page.locator("[data-testid=stSidebarNavLink]", has_text="Review").click()
            page.locator(".review[data-ready=true]").wait_for(timeout=reviewing.PATIENCE_MS)
            if number:
                taken.append(time.perf_counter() - started)
            wait_until_drawn(page, heading="review")
            page.locator("[data-testid=stSidebarNavLink]", has_text="Settings").click()
            wait_until_drawn(page, heading="settings")
    return taken


def learn(folder: Path, facts: int) -> int:
    """Add this many facts of one person by hand, which asks no model; return their number."""
    with Memory(data_dir=folder, model="offline") as memory:
        for n in range(facts):
            memory.facts.add(f"Keeps {n} {THINGS[n % len(THINGS)]} in box {n}", USER)
        return sum(memory.facts.counts(USER).values())
