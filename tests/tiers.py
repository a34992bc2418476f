"""Two tiers: `pytest` runs everything; `pytest --quick`, used by `make test`, leaves out what adds little.

Left out there are
- tests marked `full(why)`;
- of the tests of a module that run on a database server, all but every fifth (the first is always run), and all that are marked
  `slow`: SQLite runs them all.

Invariant: nothing is left out of a run without `--quick`, and a test that is named by its own id is never left out.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

ON_A_SERVER = ("postgresql", "mariadb")
ONE_IN = 5
BEYOND_THE_SAMPLE = "on a database server, beyond the sample of one in five"

left: Counter[str] = Counter()  # why -> how many tests were left to the full run


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="what `make test` runs: see tests/tiers.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    kept, dropped, counts = [], [], Counter[tuple[str, str]]()
    for item in items:
        why = None if _named(item, config) else _why_left(item, counts)
        if why is None:
            kept.append(item)
        else:
            dropped.append(item)
            left[why] += 1
    items[:] = kept
    config.hook.pytest_deselected(items=dropped)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left"] = dict(left)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take a worker's counts: every worker collects the same tests, so the last one's hold."""
    left.clear()
    left.update(getattr(node, "workeroutput", {}).get("left", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if left:
        terminalreporter.section("left to `make test-all`")
    for why, count in sorted(left.items()):
        terminalreporter.write_line(f"{count} × {why}")


def _why_left(item: pytest.Item, counts: Counter[tuple[str, str]]) -> str | None:
    mark = item.get_closest_marker("full")
    if mark is not None:
        return str(mark.args[0])
    for server in ON_A_SERVER:
        if item.get_closest_marker(server) is not None:
            if item.get_closest_marker("slow") is not None:
                return BEYOND_THE_SAMPLE
            counts[str(item.path), server] += 1
            if counts[str(item.path), server] % ONE_IN != 1:
                return BEYOND_THE_SAMPLE
    return None


def _named(item: pytest.Item, config: pytest.Config) -> bool:
    return any(argument.endswith(item.nodeid) for argument in config.args)
