"""How long a page takes to be drawn again, with the long texts loaded."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.app import browser_page, served, wait_for_health, wait_until_drawn
from benchmarks.frame import ROOT, Size, figure, longtext, timed
from memoir_engine import Memory

AIM_S = 0.3
SCRIPT = str(ROOT / "ui" / "main.py")


def main(size: Size) -> dict[str, Any]:
    files, reruns = (longtext(), 15) if size == "full" else (longtext()[:1], 2)
    with tempfile.TemporaryDirectory() as folder:
        chunks = load(Path(folder), files)
        scripts = {path.stem: rerun_script(Path(folder), path, reruns) for path in sorted((ROOT / "pages").glob("*.py"))}
        switches = in_browser(Path(folder), list(scripts), 5 if size == "full" else 1)
    return {
        "title": "Seconds until a page is drawn again",
        "sizes": {"files": len(files), "chunks": chunks, "pages": len(scripts), "reruns": reruns},
        "figures": [
            figure("a page's script, all pages", [run for runs in scripts.values() for run in runs], "s", aim=AIM_S),
            *(figure(f"script of {name}", runs, "s", aim=AIM_S) for name, runs in scripts.items()),
            *(
                figure(f"{name} loaded in a browser", runs, "s", note="a whole load, not a rerun")
                for name, runs in switches.items()
            ),
        ],
    }


def load(folder: Path, files: list[Path]) -> int:
    """Ingest the files with the offline model; the number of their chunks."""
    with Memory(data_dir=folder, model="offline") as memory:
        return sum(memory.ingest_file(path.read_bytes(), name=path.name).raise_for_error().chunks for path in files)


def rerun_script(folder: Path, path: Path, reruns: int) -> list[float]:
    """Seconds of each rerun of the page's script, without a browser."""
    import os

    from streamlit.testing.v1 import AppTest

    os.environ |= {"MEMOIR_DATA_DIR": str(folder), "MEMOIR_MODEL": "offline"}
    app = AppTest.from_file(SCRIPT, default_timeout=120).run()
    app.switch_page(str(path)).run()
    if app.exception:
        raise RuntimeError(f"{path.name} failed: {app.exception[0].value}")
    return timed(app.run, runs=reruns, warm=1)


def in_browser(folder: Path, names: list[str], loads: int) -> dict[str, list[float]]:
    """Seconds until each page is drawn when its address is opened."""
    taken: dict[str, list[float]] = {name: [] for name in names}
    with browser_page() as page, served(folder) as app:
        wait_for_health(app)
        page.goto(app.url)
        wait_until_drawn(page)
        for _ in range(loads):
            for name in names:
                started = time.perf_counter()
                page.goto(f"{app.url}/{name}")
                wait_until_drawn(page)
                taken[name].append(time.perf_counter() - started)
    return taken
