"""`python -m attacks [NAME …] [--size N] [--short] [--results FOLDER] [--table]`: attack, write one JSON each, draw the table."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

from attacks import frame

NAMES = ("kills", "reads", "files", "rows", "writers", "injection")


def run(name: str, size: int | None, results: Path, *, short: bool = False) -> frame.Outcome:
    attack = importlib.import_module(f"attacks.{name}")
    size = size or (attack.SHORT if short else attack.SIZE)
    print(f"{name} ({size} {attack.UNIT}) …", flush=True)
    with tempfile.TemporaryDirectory(prefix="memoir-") as folder:
        outcome: frame.Outcome = attack.main(size, Path(folder))
    path = frame.write(results, name, size, outcome)
    print(f"{name} → {path}: {outcome.done} {'ok' if outcome.ok else 'HARM'} {outcome.harm}", flush=True)
    return outcome


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m attacks", description="Attack memories made for it, and count.")
    arguments.add_argument("names", nargs="*", choices=[[], *NAMES], metavar="NAME", help=f"by default all: {', '.join(NAMES)}")
    arguments.add_argument("--size", type=int, help="how much of each, in its own unit")
    arguments.add_argument(
        "--short", action="store_true", help="the sizes of the suite of tests, kept apart from the documented results"
    )
    arguments.add_argument("--results", type=Path, help="where the JSON files go")
    arguments.add_argument("--table", action="store_true", help="attack nothing, draw the table anew")
    given = arguments.parse_args()
    results = given.results or (Path(tempfile.mkdtemp(prefix="attacks-")) if given.short else frame.RESULTS)
    outcomes = [] if given.table else [run(name, given.size, results, short=given.short) for name in given.names or NAMES]
    if results == frame.RESULTS:
        frame.PAGE.write_text(frame.drawn(frame.PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit(not all(outcome.ok for outcome in outcomes))


if __name__ == "__main__":
    main()
