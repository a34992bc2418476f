"""Timing, figures and the record of a benchmark run.

Invariant: a figure keeps every run it was made from; medians and ratios are computed from these, never typed.
"""

from __future__ import annotations

import json
import logging
import math
import os
import platform
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

Size = Literal["full", "small"]
Better = Literal["lower", "higher"]

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
TABLE = ROOT / "docs" / "benchmarks.md"
PACKAGES = ("memoir-engine", "streamlit", "sqlalchemy", "pydantic-ai-slim", "litellm", "tiktoken", "numpy", "bm25s")


@contextmanager
def quiet() -> Iterator[None]:
    """Log errors only, so that logging many thousand calls is no part of a figure."""
    log = logging.getLogger("memoir_engine")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def timed(work: Callable[[], Any], *, runs: int, warm: int = 0) -> list[float]:
    """Return the seconds of each run, after `warm` runs that do not count."""
    for _ in range(warm):
        work()
    taken = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return taken


def figure(
    name: str, runs: Sequence[float], unit: str, *, aim: float | None = None, better: Better = "lower", note: str = ""
) -> dict[str, Any]:
    """Describe one measurement. `aim`: limit for the median: upper, or lower if higher is better."""
    values = [float(run) for run in runs]
    made: dict[str, Any] = {"name": name, "unit": unit, "median": statistics.median(values), "runs": values, "better": better}
    if aim is not None:
        made["aim"] = aim
        made["reached"] = made["median"] <= aim if better == "lower" else made["median"] >= aim
    return made | ({"note": note} if note else {})


def ratio(name: str, ours: dict[str, Any], theirs: dict[str, Any], *, aim: float | None = None) -> dict[str, Any]:
    """Compare medians, ours to theirs: above 1 we are ahead, whichever direction is better."""
    pair = (ours["median"], theirs["median"])
    ahead = pair[0] / pair[1] if ours["better"] == "higher" else pair[1] / pair[0]
    return figure(name, [ahead], "×", aim=aim, better="higher")


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` (0..1) of the values lie, nearest rank."""
    ranked = sorted(values)
    rank = math.ceil(share * len(ranked) - 1e-9)  # 0.95 × 100 is a little more than 95 in floats
    return ranked[max(rank, 1) - 1]


def record(name: str, size: Size, measured: dict[str, Any], *, absent: Sequence[str] = (), commit: str = "") -> dict[str, Any]:
    """Add environment and versions to the measurements.

    absent: missing data sets. commit: of the code, "" if unknown.
    """
    versions = {package: _version(package) for package in (*PACKAGES, *measured.get("packages", ()))}
    stamp = {"name": name, "size": size, "taken_at": datetime.now(UTC).isoformat(timespec="seconds")}
    kept = {key: value for key, value in measured.items() if key != "packages"}
    lacking = {"absent": [*absent]} if absent else {}
    stamp |= {"commit": commit} if commit else {}
    return stamp | kept | lacking | {"machine": machine(), "versions": {key: value for key, value in versions.items() if value}}


def machine() -> dict[str, Any]:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "memory_gb": round(pages / 2**30, 1),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "load_before": round(os.getloadavg()[0], 2),
    }


def write(folder: Path, recorded: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{recorded['name']}.json"
    path.write_text(json.dumps(recorded, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def missing(packages: Sequence[str]) -> list[str]:
    """List libraries to compare with that are not installed; `make bench` installs them."""
    return [package for package in packages if _version(package) is None]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
