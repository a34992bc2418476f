"""Proof of the specification's criteria: the list, the markers, the report.

Invariant: a marker names only criteria of tests/criteria.toml; a criterion is proved when a test that bears it passed, and
every other one did, too, or can be run on no machine. A document marked complete there owes every criterion in a full run;
what was left out for lack of something is said to be so, is not called proved, and in CI fails by itself.
Under pytest-xdist every worker collects the markers and hands them over at its end; outcomes reach the controller as reports,
and the controller alone judges.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import skips

LIST = Path(__file__).with_name("criteria.toml")

bearers: dict[str, set[str]] = defaultdict(set)  # criterion -> tests that bear its marker
outcomes: dict[str, str] = {}  # test -> one of WORST
WORST = ("passed", skips.NEVER_HERE, "skipped", "failed")  # the further behind, the more it counts


def documents() -> dict[str, dict]:
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def titles() -> dict[str, str]:
    """Return every criterion as it is cited, `MEMOIR 2A.9`, with its title."""
    return {f"{name} {key}": title for name, document in documents().items() for key, title in document["criteria"].items()}


@cache
def _listed() -> frozenset[str]:
    return frozenset(titles())


def state(criterion: str) -> str:
    """Return proved, broken (a test bearing it failed or did not run), left out (one could not run here), or open."""
    found = {outcomes.get(test, "failed") for test in bearers.get(criterion, ())} - {skips.NEVER_HERE}
    if "failed" in found:
        return "broken"
    if "skipped" in found:
        return "left out"
    return "proved" if found else "open"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--criteria", metavar="FILE", help="write which criteria are proved to FILE (Markdown)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    known = titles()
    for item in items:
        for criterion in named(item):
            bearers[criterion].add(item.nodeid)
    unknown = [f"{test} names {criterion!r}" for criterion in bearers if criterion not in known for test in bearers[criterion]]
    if unknown and not is_worker(config):  # a worker that ends here takes the controller with it: there, the test fails
        raise pytest.UsageError("not in tests/criteria.toml:\n  " + "\n  ".join(unknown))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    unknown = set(named(item)) - _listed()
    if unknown:
        pytest.fail(f"{item.nodeid} names {', '.join(map(repr, sorted(unknown)))}, not in tests/criteria.toml", pytrace=False)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    never = report.skipped and skips.reason(report).startswith(skips.NEVER_HERE)
    outcome = skips.NEVER_HERE if never else report.outcome
    outcomes[report.nodeid] = max(outcomes.get(report.nodeid, "passed"), outcome, key=WORST.index)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a whole run if a complete document has an open or broken criterion; a partial run cannot tell."""
    if is_worker(session.config):
        session.config.workeroutput["bearers"] = {criterion: sorted(tests) for criterion, tests in bearers.items()}
        return
    target = session.config.getoption("--criteria")
    if target:
        (session.config.rootpath / target).write_text(markdown(), encoding="utf-8")
    if is_whole(session.config) and owed() and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take a worker's markers; a crashed one has none, and its replacement reports the same."""
    for criterion, tests in getattr(node, "workeroutput", {}).get("bearers", {}).items():
        bearers[criterion].update(tests)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.collectonly:
        return
    terminalreporter.section("criteria")
    for name, document in documents().items():
        states = [state(f"{name} {key}") for key in document["criteria"]]
        broken = "".join(f", {states.count(kind)} {kind}" for kind in ("broken", "left out") if kind in states)
        complete = ", held to completeness" if document["complete"] else ""
        terminalreporter.write_line(f"{name}: {states.count('proved')} of {len(states)} proved{broken}{complete}")
    for criterion in owed() if is_whole(config) else ():
        terminalreporter.write_line(f"OWED {criterion}: {titles()[criterion]} ({state(criterion)})", red=True)


def named(item: pytest.Item) -> Iterator[str]:
    """Yield the criteria that the test's markers name."""
    yield from (argument for mark in item.iter_markers("req") for argument in mark.args)


def is_worker(config: pytest.Config) -> bool:
    """Check whether this is a worker of pytest-xdist, which runs tests and judges nothing."""
    return hasattr(config, "workerinput")


def is_whole(config: pytest.Config) -> bool:
    """Check whether this run had every test: the whole tree, and not its quick tier."""
    return is_of_the_whole_tree(config) and not config.getoption("--quick")


def is_of_the_whole_tree(config: pytest.Config) -> bool:
    """Check that no part was named, nothing deselected, and it was not only a collection."""
    options = config.option
    parts = [(config.invocation_params.dir / argument).resolve() for argument in config.args]
    everything = parts == [config.rootpath / "tests"]
    last_failed = getattr(options, "lf", False)  # of a plugin that may be switched off
    return everything and not (options.keyword or options.markexpr or last_failed or options.collectonly or options.maxfail)


def owed() -> list[str]:
    """List criteria of complete documents that are broken or open."""
    complete = [name for name, document in documents().items() if document["complete"]]
    return [criterion for criterion in titles() if criterion.split(" ")[0] in complete and state(criterion) in ("broken", "open")]


def markdown() -> str:
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Criteria and their proofs"
    yield ""
    yield "Written by `make criteria` from a run of the whole suite. Titles are ours; the specification decides."
    for name, document in documents().items():
        yield from ("", f"## {name}", "", "| criterion | title | state | tests |", "|---|---|---|---|")
        for key, title in document["criteria"].items():
            tests = sorted({test.split("[")[0] for test in bearers.get(f"{name} {key}", ())})
            yield f"| {key} | {title} | {state(f'{name} {key}')} | {'<br>'.join(f'`{test}`' for test in tests)} |"
