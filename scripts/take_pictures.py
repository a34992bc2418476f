"""Screenshots of the running app for README and docs, light and dark, with the sample corpus loaded.

Invariant: pictures come from the app as it is and from samples of our own; run it again and they are true again.
Usage, from the root of the repository: python -m scripts.take_pictures
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal

from benchmarks.app import browser_page, served, wait_for_health, wait_until_drawn
from benchmarks.frame import ROOT
from memoir_engine import Memory

PICTURES = ROOT / "docs" / "pictures"
QUESTION = "How cold is Lake Tern in May, and how many water birds winter on it?"  # spans two branches of the samples
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def prepare(folder: Path) -> dict[str, str]:
    """Load the samples and ask a question; return the address of each picture."""
    with Memory(data_dir=folder, model="offline") as memory:
        memory.jobs.wait(memory.start("load_samples"))
        for run in memory.jobs.list(limit=100):
            memory.jobs.wait(run.id)
        asked = memory.query(QUESTION, safety_net=3).raise_for_error()
        return {"path": f"ask?run={asked.run_id}", "tree": f"tree?chunk={asked.used_chunks[0].chunk_id}"}


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        addresses = prepare(Path(name))
        with served(Path(name)) as app:
            wait_for_health(app)
            for theme in THEMES:
                with browser_page(theme) as page:
                    for picture, address in addresses.items():
                        page.goto(f"{app.url}/{address}")
                        wait_until_drawn(page)
                        page.screenshot(path=PICTURES / f"{picture}_{theme}.png")
                        print(f"docs/pictures/{picture}_{theme}.png")


if __name__ == "__main__":
    main()
