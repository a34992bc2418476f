"""Every benchmark runs in its small size, so that none rots; the table is drawn from the results. Times are not looked at."""

from __future__ import annotations

import importlib.util
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

import machine
from benchmarks import __main__ as runner
from benchmarks import frame, table

IN_A_BROWSER = {"startup", "pages", "reviewing"}
ON_DATA = {
    "fact_quality",
    "pages",
    "chunking",
    "cutting",
    "ingestion",
    "query",
    "review",
    "search",
    "search_large",
    "search_large_hybrid",
}


@pytest.fixture(autouse=True)
def _as_from_the_command_line(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """At the root of the repository; what a benchmark sets in the environment is put back."""
    monkeypatch.chdir(machine.REPOSITORY)
    with mock.patch.dict(os.environ):
        yield


BESIDE_PEERS = {"checkpoints": "langgraph.checkpoint.sqlite", "search": "rank_bm25", "sessions": "langchain_community"}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", runner.names())
def test_a_benchmark_runs_in_its_small_size(name: str, tmp_path: Path):
    if name in IN_A_BROWSER and machine.chromium() is None:
        pytest.skip(machine.missing("Chromium", "install chromium, or run: playwright install chromium"))
    if name in ON_DATA and not machine.DATA.is_dir():
        pytest.skip(machine.missing("data", "the public data sets are not beside the repository"))
    if name in BESIDE_PEERS and importlib.util.find_spec(BESIDE_PEERS[name]) is None:
        pytest.skip("not applicable: the peers it is measured beside come with `make bench`")
    measured = runner.load(name).main("small")
    assert measured["title"] and measured["sizes"]
    medians = {made["name"]: made["median"] for made in measured["figures"]}
    assert medians and all(math.isfinite(median) for median in medians.values())
    written = frame.write(tmp_path, frame.record(name, "small", measured))
    assert f"## {name}" in table.markdown(written.parent)


def test_the_largest_run_when_they_are_named_alone():
    named = set(runner.names()) - set(runner.always())
    assert {"search_large", "search_large_hybrid"} <= named
    assert "search" not in named


def test_the_table_in_the_docs_is_drawn_from_the_results():
    assert frame.TABLE.read_text(encoding="utf-8") == table.markdown(frame.RESULTS), "run: make bench"


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
