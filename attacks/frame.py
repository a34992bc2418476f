"""What an attack reports, and the table it is drawn into.

Invariant: a figure is counted by the attack that made it; nothing in the table is typed. What is listed as harm has to be nought;
what has not been looked at yet is not listed.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import ages
from benchmarks.frame import ROOT, machine

RESULTS = ROOT / "attacks" / "results"
PAGE = ROOT / "docs" / "security.md"
BEGIN, END = "<!-- written by make attack -->", "<!-- until here -->"


class NotInstalled(Exception):
    """What an attack needs is not on this machine."""


@dataclass(frozen=True)
class Outcome:
    """What an attack has done up to a moment.

    done: what was tried, counted. harm: what must not happen, counted, noughts included.
    """

    title: str
    done: dict[str, int]
    harm: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not any(self.harm.values())


def stamp(name: str, size: int) -> dict[str, Any]:
    """Return what is known of an attack before it begins. size: how much is asked for."""
    return {"name": name, "size": size, "commit": ages.now(), "machine": machine()}


def write(folder: Path, stamp: dict[str, Any], outcome: Outcome, *, cut_off: bool = False) -> Path:
    """Write what was done up to now. cut_off: its end has not come yet; if nothing is written after this, it never did."""
    folder.mkdir(parents=True, exist_ok=True)
    path, taken_at = folder / f"{stamp['name']}.json", datetime.now(UTC).isoformat(timespec="seconds")
    recorded = stamp | {"taken_at": taken_at, "cut_off": cut_off} | asdict(outcome)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(recorded, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(unfinished, path)
    return path


def drawn(page: str, folder: Path = RESULTS) -> str:
    """Return the page with the table of these results between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{table(folder)}\n{END}{rest.partition(END)[2]}"


def table(folder: Path) -> str:
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    rows = ["| attack | what was done | what must not happen | taken |", "|---|---|---|---|", *map(_row, results)]
    notes = [f"- {result['title']}: {note}" for result in results for note in result["notes"]]
    return "\n".join([*rows, "", *notes]).rstrip()


def _row(result: dict[str, Any]) -> str:
    taken = f"{result['taken_at'][:10]}, {result['machine']['cores']} cores, commit {result['commit'] or 'unknown'}"
    if result.get("cut_off"):
        taken += f", cut off before its end ({_counted({'asked for': result['size']})})"
    return f"| {result['title']} | {_counted(result['done'])} | {_counted(result['harm'])} | {taken} |"


def _counted(counts: dict[str, int]) -> str:
    return "; ".join(f"{what}: {count:,}".replace(",", " ") for what, count in counts.items())


def of_tests(module: str) -> Any:
    """Import one of the modules that tests share: servers, processes, faults."""
    folder = str(ROOT / "tests")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(module)


@contextmanager
def databases(kind: str, folder: Path) -> Iterator[Any]:
    """Yield a function that gives the address of another empty database of this kind. Raises NotInstalled if there is none."""
    if kind == "sqlite":
        files = iter(range(1_000_000))
        yield lambda: f"sqlite:///{folder / f'{next(files)}.db'}"
        return
    there = of_tests("machine")
    if (there.postgresql_bin() if kind == "postgresql" else there.mariadbd()) is None:
        raise NotInstalled(f"{kind} is not installed here")
    server = getattr(of_tests("servers"), f"new_{kind}")()
    try:
        yield server.fresh_url
    finally:
        server.stop()


def named(counts: Counter[str], names: tuple[str, ...]) -> dict[str, int]:
    """Return the named counts, in this order; one that never happened is nought."""
    return {name: counts[name] for name in names}
