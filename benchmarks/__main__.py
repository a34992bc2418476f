"""`python -m benchmarks [NAME …] [--small] [--results FOLDER] [--table]`: run, write one JSON each, draw the table."""

from __future__ import annotations

import argparse
import importlib
import tempfile
from pathlib import Path
from types import ModuleType

from benchmarks import ages, data, frame, table

MEASURES = "def main(size"  # what makes a module of this folder a benchmark; the others are their frame
READS = "READS = ("


def names() -> list[str]:
    return _holding(MEASURES)


def reading() -> list[str]:
    """List the benchmarks that read the public data sets."""
    return _holding(READS)


def always() -> list[str]:
    """List the benchmarks that run without being named."""
    return [name for name in names() if not getattr(load(name), "ONLY_BY_NAME", False)]


def _holding(beginning: str) -> list[str]:
    """List modules of this folder with a line that begins so, without importing them."""
    every = Path(__file__).parent.glob("*.py")
    return sorted(path.stem for path in every if f"\n{beginning}" in path.read_text(encoding="utf-8"))


def load(name: str) -> ModuleType:
    return importlib.import_module(f"benchmarks.{name}")


def run(name: str, size: frame.Size, results: Path) -> Path:
    print(f"{name} ({size}) …", flush=True)
    benchmark, commit = load(name), ages.now()
    recorded = frame.record(name, size, benchmark.main(size), absent=data.absent(benchmark), commit=commit)
    path = frame.write(results, recorded)
    print(f"{name} → {path}{table.lacking(recorded)}", flush=True)
    return path


def main() -> None:
    known = names()
    arguments = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure through the public API.")
    arguments.add_argument(
        "names", nargs="*", metavar="NAME", help=f"when none is given, all but the largest: {', '.join(known)}"
    )
    arguments.add_argument("--small", action="store_true", help="small sizes, kept apart from the documented results")
    arguments.add_argument("--results", type=Path, help="where the JSON files go")
    arguments.add_argument("--table", action="store_true", help="measure nothing, draw the table anew with the ages of today")
    given = arguments.parse_args()
    if unknown := set(given.names) - set(known):
        arguments.error(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    results = given.results or (Path(tempfile.mkdtemp(prefix="benchmarks-")) if given.small else frame.RESULTS)
    for name in () if given.table else given.names or always():
        run(name, "small" if given.small else "full", results)
    if results == frame.RESULTS:
        frame.TABLE.write_text(table.markdown(results), encoding="utf-8")


if __name__ == "__main__":
    main()
