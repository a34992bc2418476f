"""Generator of docs/benchmarks.md from the JSON results; nothing in the page is typed by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import ages
from benchmarks.frame import ROOT

INTRODUCTION = """# Benchmarks

Written by `make bench` from `benchmarks/results/`; nothing here is typed. A median stands beside the number of its runs. Where a
figure has an aim, ✓ says it was reached. Times depend on the machine and its load: read ratios first. † marks a figure that is
older than the code it measures, by the history of git when this page was written.
"""
OLDER = "†"


def markdown(folder: Path, root: Path = ROOT) -> str:
    """Draw the page. root: the repository whose history tells the age of the figures."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    sections = (line for result in results for line in _section(result, ages.of(result, root)))
    return "\n".join([INTRODUCTION, *sections]).rstrip() + "\n"


def undated(page: str) -> str:
    """Remove what depends on git's history, which goes on while the results stay."""
    told = re.sub(r"^- Commit .*\n", "", page, flags=re.M)
    return re.sub(rf" {OLDER} \|$", " |", re.sub(rf"\| {OLDER} \|$", "|  |", told, flags=re.M), flags=re.M)


def _section(result: dict[str, Any], age: ages.Age) -> Iterator[str]:
    yield from (f"## {result['name']}", "", f"{result['title']}", "")
    yield "| figure | median | unit | runs | aim | |"
    yield "|---|---:|---|---:|---:|---|"
    for figure in result["figures"]:
        yield _row(figure, older=age.is_older)
    yield ""
    yield from (f"- {note}" for note in [*result.get("notes", []), *_notes(result["figures"])])
    if result.get("absent"):
        yield f"- {_absent(result)}."
    if result["sizes"]:
        yield f"- Sizes: {_pairs(result['sizes'])}."
    yield f"- Taken {result['taken_at']} on {_pairs(result['machine'])}; {_pairs(result['versions'])}."
    yield f"- {age}"
    yield ""


def lacking(result: dict[str, Any]) -> str:
    """Describe missing data on the command line; empty if nothing was missing."""
    return f" ({_absent(result)})" if result.get("absent") else ""


def _absent(result: dict[str, Any]) -> str:
    sets = ", ".join(result["absent"])
    return (
        f"without the data of {sets}, absent beside the repository: texts of our own stand in, and what needs labels is left out"
    )


def _row(figure: dict[str, Any], *, older: bool) -> str:
    aim, mark = "", ""
    if "aim" in figure:
        aim = f"{'≤' if figure['better'] == 'lower' else '≥'} {_number(figure['aim'])}"
        mark = "✓" if figure["reached"] else "✗"
    marks = f"{mark} {OLDER}".strip() if older else mark
    cells = (figure["name"], _number(figure["median"]), figure["unit"], str(len(figure["runs"])), aim, marks)
    return f"| {' | '.join(cells)} |"


def _notes(figures: list[dict[str, Any]]) -> Iterator[str]:
    yield from (f"{figure['name']}: {figure['note']}" for figure in figures if figure.get("note"))


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {_number(value)}" for name, value in values.items())


def _number(value: Any) -> str:
    """Format three significant digits; whole numbers in groups of three."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{round(value):,}".replace(",", " ")
    return f"{value:.3g}"
