"""Startup: importing the engine, the server's health, the first page in a browser."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import ages
from benchmarks.app import COMPILED, browser_page, served, wait_for_health, wait_until_drawn
from benchmarks.frame import ROOT, Size, figure

FEATURES, APP = ages.FEATURES, True
IMPORT = "import time; t = time.perf_counter(); import memoir_engine; print(time.perf_counter() - t)"
IMPORT_MEMORY = "import time; t = time.perf_counter(); from memoir_engine import Memory; print(time.perf_counter() - t)"


def main(size: Size) -> dict[str, Any]:
    imports, starts = (11, 5) if size == "full" else (1, 1)
    start()  # the very first one compiles the source
    health, pages = zip(*[start() for _ in range(starts)], strict=True)
    return {
        "title": "Seconds from nothing to a page that is drawn",
        "sizes": {"imports": imports, "starts": starts},
        "figures": [
            figure("import memoir_engine", [imported(IMPORT) for _ in range(imports)], "s", aim=0.3),
            figure("from memoir_engine import Memory", [imported(IMPORT_MEMORY) for _ in range(imports)], "s", aim=0.3),
            figure("health answers after a start", health, "s", aim=2.0),
            figure(
                "first page is drawn after a start",
                pages,
                "s",
                aim=4.0,
                note="empty memory; the browser is already open; not the first start of all, which compiles the source",
            ),
        ],
    }


def imported(code: str) -> float:
    """Return the seconds of the import alone, in a fresh interpreter."""
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | COMPILED, capture_output=True, text=True, check=True
    )
    return float(ran.stdout)


def start() -> tuple[float, float]:
    """Return the seconds from the start of the process until health answers, and until the first page is drawn."""
    with tempfile.TemporaryDirectory() as folder, browser_page() as page, served(Path(folder)) as app:
        healthy = wait_for_health(app)
        page.goto(app.url)
        wait_until_drawn(page)
        return healthy, time.perf_counter() - app.started
