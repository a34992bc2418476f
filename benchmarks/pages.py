"""Time to redraw a page with the long texts loaded."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import ages, data
from benchmarks.app import browser_page, served, wait_for_health, wait_until_drawn
from benchmarks.frame import ROOT, Size, figure, timed
from memoir_engine import Memory

FEATURES, APP = ages.FEATURES, True
READS = ("longtext",)
AIM_S = 0.3
PAGES = {"full": None, "small": 3}  # the first of them
IN_BROWSER = "server, wire and drawing together, the driver of the browser included"
SCRIPT = str(ROOT / "ui" / "main.py")


def main(size: Size) -> dict[str, Any]:
    every = data.longtexts()
    files, reruns, rounds = (every, 15, 5) if size == "full" else (dict([*every.items()][:1]), 2, 1)
    with tempfile.TemporaryDirectory() as folder:
        chunks = load(Path(folder), files)
        paths = sorted((ROOT / "pages").glob("*.py"))[: PAGES[size]]
        scripts = {path.stem: rerun_script(Path(folder), path, reruns) for path in paths}
        switches = in_browser(Path(folder), rounds, PAGES[size])
    return {
        "title": "Seconds until a page is drawn again",
        "sizes": {"files": len(files), "chunks": chunks, "pages": len(scripts), "reruns": reruns, "rounds": rounds},
        "figures": [
            figure("a page's script, all pages", _all(scripts), "s", aim=AIM_S),
            *(figure(f"script of {name}", runs, "s") for name, runs in scripts.items()),
            figure("click to drawn in a browser, all pages", _all(switches), "s", aim=AIM_S, note=IN_BROWSER),
            *(figure(f"click to {name} drawn", runs, "s") for name, runs in switches.items()),
        ],
    }


def load(folder: Path, files: dict[str, str]) -> int:
    """Ingest the files with the offline model; return the number of chunks."""
    with Memory(data_dir=folder, model="offline") as memory:
        return sum(memory.ingest_file(text.encode(), name=name).raise_for_error().chunks for name, text in files.items())


def rerun_script(folder: Path, path: Path, reruns: int) -> list[float]:
    """Return the seconds of each rerun of the page's script, without a browser."""
    import os

    from streamlit.testing.v1 import AppTest

    os.environ |= {"MEMOIR_DATA_DIR": str(folder), "MEMOIR_MODEL": "offline"}
    app = AppTest.from_file(SCRIPT, default_timeout=120).run()
    app.switch_page(str(path)).run()
    if app.exception:
        raise RuntimeError(f"{path.name} failed: {app.exception[0].value}")
    return timed(app.run, runs=reruns, warm=1)


def in_browser(folder: Path, rounds: int, most: int | None) -> dict[str, list[float]]:
    """Return the seconds from a click on a page's link until the page is drawn, per link, after a warm-up round."""
    taken: dict[str, list[float]] = {}
    with browser_page() as page, served(folder) as app:
        wait_for_health(app)
        page.goto(app.url)
        wait_until_drawn(page)
        links = page.locator("[data-testid=stSidebarNavLink]")
        count = min(links.count(), most or links.count())
        for number in range(count * (rounds + 1)):
            link = links.nth(number % count)
            name = link.inner_text().split("\n")[-1]  # before it stands the name of its icon
            started = time.perf_counter()
            link.click()
            wait_until_drawn(page, heading=name)
            if number >= count:
                taken.setdefault(name, []).append(time.perf_counter() - started)
    return taken


def _all(runs: dict[str, list[float]]) -> list[float]:
    return [run for each in runs.values() for run in each]
