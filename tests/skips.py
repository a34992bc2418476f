"""Skips are reported and justified.

Invariant: a skip for lack of something says `missing …` (machine.missing); in CI, where everything is there, every skip
fails but one that says `not applicable …`. What was left out stands at the end of the run, counted by reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

import machine

NEVER_HERE = "not applicable"  # how a skip begins that holds on every machine

Report = pytest.TestReport | pytest.CollectReport


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    report = yield
    return judged(report, in_ci=machine.IN_CI)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    report = yield
    return judged(report, in_ci=machine.IN_CI)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left_out = Counter(reason(report) for report in terminalreporter.stats.get("skipped", []))
    if left_out:
        terminalreporter.section("left out")
    for text, count in sorted(left_out.items()):
        terminalreporter.write_line(f"{count} × {text}")


def judged(report: Report, *, in_ci: bool) -> Report:
    """Return the report, failed if CI does not accept its skip."""
    if in_ci and report.skipped and not hasattr(report, "wasxfail"):
        text = reason(report)
        if not text.startswith(NEVER_HERE):
            report.outcome = "failed"
            report.longrepr = f"left out in CI, where nothing may be: {text}"
    return report


def reason(report: Report) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")
