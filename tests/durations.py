"""Duration of the run and its ten slowest tests, printed at the end and written down with `--times FILE`.

In the file the lines between `<!-- make test -->` and `<!-- end -->` are replaced (or those of `make test-all`, by what was run).
Only a run of a whole tier is written down.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import criteria

SLOWEST = 10

seconds: dict[str, float] = defaultdict(float)  # test -> its setup, call and teardown
_began = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", metavar="FILE", help="write how long the run took into FILE (Markdown)")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    seconds[report.nodeid] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not criteria.is_of_the_whole_tree(config):
        return
    terminalreporter.section("times")
    for test in _slowest():
        terminalreporter.write_line(f"{seconds[test]:7.1f} s  {test}")
    terminalreporter.write_line(f"{_clock(_took())} in all, {_workers(config)}")
    target = config.getoption("--times")
    if target:
        _write(config.rootpath / target, config)


def _slowest() -> list[str]:
    return sorted(seconds, key=seconds.__getitem__, reverse=True)[:SLOWEST]


def _write(path: Path, config: pytest.Config) -> None:
    command = "make test" if config.getoption("--quick") else "make test-all"
    block = "\n".join((f"<!-- {command} -->", *_lines(command, config), "<!-- end -->"))
    old = re.compile(rf"<!-- {command} -->.*?<!-- end -->", re.DOTALL)
    text = path.read_text(encoding="utf-8")
    path.write_text(old.sub(lambda _: block, text), encoding="utf-8")


def _lines(command: str, config: pytest.Config) -> Iterator[str]:
    where = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    taken = datetime.datetime.now(datetime.UTC).date()
    yield f"`{command}`: **{_clock(_took())}** for {len(seconds):,} tests, {_workers(config)}; taken {taken} on {where}."
    yield from ("", "| seconds | the ten slowest |", "|---:|---|")
    yield from (f"| {seconds[test]:.1f} | `{test}` |" for test in _slowest())
    yield from ("", "| folder | tests | seconds |", "|---|---:|---:|")
    folders: dict[str, list[float]] = defaultdict(list)
    for test, took in seconds.items():
        folders[test.split("/")[1]].append(took)
    for folder, times in sorted(folders.items(), key=lambda entry: -sum(entry[1])):
        yield f"| {folder} | {len(times):,} | {sum(times):,.0f} |"


def _workers(config: pytest.Config) -> str:
    count = len(getattr(config.option, "tx", None) or ())
    return f"{count} workers" if count else "one process"


def _took() -> float:
    return time.monotonic() - _began


def _clock(length: float) -> str:
    minutes, rest = divmod(round(length), 60)
    return f"{minutes} min {rest:02} s"
