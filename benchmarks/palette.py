"""What a key in the palette takes: the engine's search for names, and the browser from a key to its results.

The memory has a hundred thousand short chunks, ten thousand facts, each added by an action of its own, and two thousand sources
that are stored and not filed; all made. The keys are those of words that are common, rare, and nowhere, in Latin letters and
others; each beginning of a word is one search, as one types it. In the browser the app serves that memory from its own process,
and a key counts until what the engine found for the words stands in the list and is painted: by the browser's own clock, since a
driver that looks from outside sees it up to a tenth of a second later.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import pages_large, reviewing
from benchmarks.app import browser_page, served, wait_for_health, wait_until_drawn
from benchmarks.frame import Size, figure, percentile, quiet
from memoir_engine import Memory

FEATURES, APP = ("search",), True
CHUNKS = {"full": 100_000, "small": 40}
FACTS = {"full": 10_000, "small": 20}
SOURCES = {"full": 2_000, "small": 10}
ROUNDS = {"full": 5, "small": 1}
TYPED = (
    "garden",
    "minutes 17",
    "tea in box 42",
    "nowhere to be found",
    "sourdough",
    "übersicht",
    "議事録",
    "mia",
    "added a fact",
)
IN_BROWSER = ("minutes 17", "tea in box 42", "nowhere")
AIM_MS = 100.0
PATIENCE_MS = 60_000
POLL_MS = 10
WATCH = """field => {
  const dialog = field.closest('dialog');
  let began = 0, wanted = null;
  window.paletteTook = [];
  dialog.addEventListener('keydown', () => { began = performance.now(); }, true);
  field.addEventListener('input', () => { wanted = field.value.trim(); }, true);
  new MutationObserver(() => {
    if (!wanted || dialog.dataset.answered !== wanted) return;
    wanted = null;
    requestAnimationFrame(() => setTimeout(() => window.paletteTook.push(performance.now() - began)));
  }).observe(dialog, { attributes: true, attributeFilter: ['data-answered'] });
}"""


@quiet()
def main(size: Size) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reviewing.fill(folder, CHUNKS[size])
        pages_large.learn(folder, FACTS[size])
        store(folder, SOURCES[size])
        return measured(folder, size)


def measured(folder: Path, size: Size) -> dict[str, Any]:
    """Measure in a memory that is filled."""
    with Memory(data_dir=folder, model="offline") as memory:
        chunks, facts = memory.overview().chunks, sum(memory.facts.counts(pages_large.USER).values())
    engine, found = in_engine(folder, ROUNDS[size])
    browser = in_browser(folder, ROUNDS[size])
    return {
        "title": "A key in the palette, in a large memory",
        "sizes": {"chunks": chunks, "facts": facts, "sources": SOURCES[size], "keys": len(list(beginnings(TYPED)))},
        "figures": [
            figure("the engine, a key", engine, "ms", aim=AIM_MS),
            figure("the engine, a key, p95", [percentile(engine, 0.95)], "ms", aim=AIM_MS),
            figure("the engine, the slowest key", [max(engine)], "ms"),
            figure("matches of all keys", [float(found)], "matches"),
            figure("in a browser, from a key to its results", browser, "ms", aim=AIM_MS),
            figure("in a browser, from a key to its results, p95", [percentile(browser, 0.95)], "ms"),
        ],
    }


def store(folder: Path, sources: int) -> None:
    """Store this many texts by name, which asks no model."""
    with Memory(data_dir=folder, model="offline", vector_store="off") as memory:
        for n in range(sources):
            memory.add_knowledge(f"minutes {n} of the board", f"The board met for the {n}th time and agreed on item {n}.")


def beginnings(typed: tuple[str, ...]) -> Iterator[str]:
    """Yield what stands in the field after each key."""
    for words in typed:
        yield from (words[:end] for end in range(1, len(words) + 1) if words[end - 1] != " ")


def in_engine(folder: Path, rounds: int) -> tuple[list[float], int]:
    """Return the milliseconds of each key, and how many matches one round has."""
    taken: list[float] = []
    with Memory(data_dir=folder, model="offline") as memory:
        memory.find("nothing yet")  # loads the feature
        for _ in range(rounds):
            found = 0
            for words in beginnings(TYPED):
                began = time.perf_counter()
                found += len(memory.find(words))
                taken.append((time.perf_counter() - began) * 1_000)
    return taken, found


def in_browser(folder: Path, rounds: int) -> list[float]:
    """Return the milliseconds from each key until the palette has the engine's results for what stands in the field."""
    taken: list[float] = []
    with browser_page() as page, served(folder) as app:
        wait_for_health(app)
        page.goto(app.url)
        wait_until_drawn(page)
        page.get_by_role("button", name="Find or do").click()
        field = page.get_by_role("combobox", name="Find or do")
        field.evaluate(WATCH)
        for _ in range(rounds):
            for words in IN_BROWSER:
                field.fill("")
                for key in words:
                    page.keyboard.type(key)
                    if key != " ":
                        page.wait_for_function("window.paletteTook.length", timeout=PATIENCE_MS, polling=POLL_MS)
                        taken.append(page.evaluate("window.paletteTook.pop()"))
    return taken
