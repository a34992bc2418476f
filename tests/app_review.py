"""Helpers for the Review page in a real browser by keyboard, and for the engine's record of it."""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from app_browser import PATIENCE_MS
from memoir_engine import Memory, ReviewItem

BOUNCE_S = 0.35  # the desk takes the same key sooner than this for a bounce
SMALL = {"chunk_min_tokens": 8, "chunk_max_tokens": 30, "model": "offline"}
SUBJECTS = (
    "The sourdough starter number {n} lives in the cold room and is fed with rye flour, water and patience.",
    "The harbour festival of year {n} earned a surplus of euros, and the board decided to repair the quay.",
    "Pump {n} of the swimming pool needs a new seal, since water drips onto the electric motor below.",
)


def fill(folder: Path, items: int) -> None:
    """Ingest this many distinct chunks on several subjects."""
    sentences = [SUBJECTS[n % len(SUBJECTS)].format(n=n) for n in range(items)]
    with Memory(data_dir=folder, **SMALL) as memory:
        memory.ingest_text("\n\n".join(sentences), name="notes.txt").raise_for_error()
        assert memory.overview().chunks == items


def opened(folder: Path) -> Memory:
    return Memory(data_dir=folder, **SMALL)


def every_item(folder: Path) -> dict[int, ReviewItem]:
    with opened(folder) as memory:
        return {item.chunk_id: item for item in memory.review.queue(state=None, limit=500).items}


def verdicts(folder: Path) -> list[tuple[str, str]]:
    """Return (verb, actor) of every recorded decision, oldest first."""
    with opened(folder) as memory:
        actions = memory.audit.actions(limit=500)
    return [(one.verb, one.actor) for one in reversed(actions) if one.verb in ("approve", "reject", "skip", "refile", "undo")]


class Desk:
    """Review desk of one reviewer."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.box: Locator = page.locator(".review")
        self._pressed: dict[str, float] = defaultdict(float)

    @property
    def key(self) -> str:
        return str(self.box.get_attribute("data-key"))

    @property
    def chunk(self) -> int:
        return int(self.key.partition("-")[0])

    def ready(self) -> None:
        """Wait until the item shown can be decided."""
        expect(self.box).to_have_attribute("data-ready", "true", timeout=PATIENCE_MS)

    def press(self, key: str) -> None:
        """Press a key as a person would: not the same one twice within a moment."""
        rest = self._pressed[key] + BOUNCE_S - time.monotonic()
        if rest > 0:
            self.page.wait_for_timeout(rest * 1_000)
        self.page.keyboard.press(key)
        self._pressed[key] = time.monotonic()  # now, since a busy browser gets a key some time after it was sent

    def decide(self, key: str) -> int:
        """Press the key for the item shown and wait for the next; return the chunk decided."""
        self.ready()
        before, chunk = self.key, self.chunk
        self.press(key)
        expect(self.box).not_to_have_attribute("data-key", before, timeout=PATIENCE_MS)
        return chunk

    def saved(self) -> None:
        expect(self.box).to_have_attribute("data-waiting", "0", timeout=PATIENCE_MS)

    def say_who(self, name: str) -> None:
        self.page.locator(".st-key-head-review").get_by_role("button", name="Enter your name").click()
        field = self.page.get_by_role("textbox", name="Your name").last
        field.fill(name)
        field.press("Enter")
        self.ready()
