"""What an attack reports, and the table it is drawn into.

Invariant: a figure is counted by the attack that made it; nothing in the table is typed. What is listed as harm has to be nought.
"""

from __future__ import annotations

import importlib
import json
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
SERVERS = ("postgresql", "mariadb")


@dataclass(frozen=True)
class Outcome:
    """done: what was tried, counted. harm: what must not happen, counted, noughts included."""

    title: str
    done: dict[str, int]
    harm: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not any(self.harm.values())


def write(folder: Path, name: str, size: int, outcome: Outcome) -> Path:
    stamp = {"name": name, "size": size, "taken_at": datetime.now(UTC).isoformat(timespec="seconds"), "commit": ages.now()}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    recorded = stamp | asdict(outcome) | {"machine": machine()}
    path.write_text(json.dumps(recorded, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
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
    """Yield a function that gives the address of another empty database of this kind. Raises LookupError if there is none."""
    if kind == "sqlite":
        files = iter(range(1_000_000))
        yield lambda: f"sqlite:///{folder / f'{next(files)}.db'}"
        return
    there = of_tests("machine")
    if (there.postgresql_bin() if kind == "postgresql" else there.mariadbd()) is None:
        raise LookupError(f"{kind} is not installed here")
    server = getattr(of_tests("servers"), f"new_{kind}")()
    try:
        yield server.fresh_url
    finally:
        server.stop()


def summed(counters: list[Counter[str]], names: tuple[str, ...]) -> dict[str, int]:
    """Add up the named counts, in this order; one that never happened is nought."""
    whole = sum(counters, Counter())
    return {name: whole[name] for name in names}
