"""Every benchmark runs in its small size, so that none rots; the table is drawn from the results. Times are not checked."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import machine
from benchmarks import __main__ as runner
from benchmarks import ages, data, frame, table

IN_A_BROWSER = {"startup", "pages", "pages_large", "reviewing", "first_answer"}


@pytest.fixture(autouse=True)
def _as_from_the_command_line(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run at the root of the repository and restore the environment afterwards."""
    monkeypatch.chdir(machine.REPOSITORY)
    with mock.patch.dict(os.environ):
        yield


@pytest.mark.slow
@pytest.mark.full("a benchmark in its small size")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", runner.names())
def test_a_benchmark_runs_in_its_small_size_without_the_data(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Data it does not declare in `READS` is not there either."""
    asked: set[str] = set()
    monkeypatch.setattr(data, "FOLDER", tmp_path / "nothing is here")
    found = data.find
    monkeypatch.setattr(data, "find", lambda path: (asked.add(path.split("/")[0]), found(path))[1])
    recorded = small(name, tmp_path)
    assert sorted(asked) == sorted(recorded.get("absent", []))
    assert recorded["figures"] or asked
    assert (" absent beside the repository" in table.markdown(tmp_path)) == bool(asked)


@pytest.mark.slow
@pytest.mark.full("a benchmark in its small size")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", runner.reading())
def test_a_benchmark_that_reads_data_runs_in_its_small_size_with_it(name: str, tmp_path: Path):
    if not machine.DATA.is_dir():
        pytest.skip(machine.missing("data", "the public data sets are not beside the repository"))
    recorded = small(name, tmp_path)
    assert recorded["figures"]
    assert "absent" not in recorded


def small(name: str, folder: Path) -> dict[str, Any]:
    """Return the benchmark's recorded measurements."""
    if name in IN_A_BROWSER and machine.chromium() is None:
        pytest.skip(machine.missing("Chromium", "install chromium, or run: playwright install chromium"))
    written = runner.run(name, "small", folder)
    recorded: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))
    assert recorded["title"]
    assert recorded.get("commit", "") == ages.now()
    assert [made["name"] for made in recorded["figures"] if not math.isfinite(made["median"])] == []
    assert f"## {name}" in table.markdown(folder)
    return recorded


def test_the_largest_run_when_they_are_named_alone():
    named = set(runner.names()) - set(runner.always())
    assert {"search_large", "search_large_hybrid"} <= named
    assert "search" not in named


def test_the_table_in_the_docs_is_drawn_from_the_results():
    """Ages are ignored: they were computed when the page was written."""
    page = frame.TABLE.read_text(encoding="utf-8")
    assert table.undated(page) == table.undated(table.markdown(frame.RESULTS)), "run: python -m benchmarks --table"


def test_documented_results_are_of_the_full_size():
    results = [json.loads(path.read_text(encoding="utf-8")) for path in frame.RESULTS.glob("*.json")]
    assert [result["name"] for result in results if result["size"] != "full"] == []


def test_a_figure_is_the_median_of_its_runs_and_knows_whether_it_reached_its_aim():
    made = frame.figure("rerun", [0.2, 0.5, 0.1], "s", aim=0.3)
    assert (made["median"], made["reached"]) == (0.2, True)
    assert frame.figure("speed", [10.0], "MB/s", aim=12.0, better="higher")["reached"] is False


def test_a_ratio_above_one_is_ahead_whichever_way_the_figures_point():
    slow, fast = frame.figure("theirs", [4.0], "s"), frame.figure("ours", [2.0], "s")
    assert frame.ratio("ahead", fast, slow)["median"] == 2.0
    few, many = frame.figure("theirs", [5.0], "MB/s", better="higher"), frame.figure("ours", [15.0], "MB/s", better="higher")
    assert frame.ratio("ahead", many, few)["median"] == 3.0


def test_a_percentile_is_one_of_the_values():
    assert frame.percentile([5, 1, 4, 2, 3], 0.5) == 3
    assert frame.percentile(range(1, 101), 0.95) == 95
