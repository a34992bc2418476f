"""Reports of what was tested: skips in CI, criteria and their proofs."""

from __future__ import annotations

import re

import pytest

import criteria
import machine
import skips
from machine import REPOSITORY

SPECIFICATION = REPOSITORY.parent / "shared" / "spec"


def skipped(reason: str) -> pytest.TestReport:
    location = ("tests/x.py", 1, f"Skipped: {reason}")
    return pytest.TestReport("tests/x.py::test", ("x", 1, "test"), {}, "skipped", location, "setup")


def test_in_ci_a_skip_for_lack_of_something_fails_and_says_what_is_missing():
    report = skips.judged(skipped(machine.missing("PostgreSQL", "install postgresql")), in_ci=True)
    assert report.failed
    assert "missing PostgreSQL: install postgresql" in str(report.longrepr)


@pytest.mark.parametrize(
    ("reason", "in_ci"),
    [
        pytest.param("missing PostgreSQL", False, id="at home"),
        pytest.param("not applicable: SQLite has no roles", True, id="never here"),
    ],
)
def test_other_skips_stay_skips(reason: str, in_ci: bool):
    assert skips.judged(skipped(reason), in_ci=in_ci).skipped


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch):
    known = {"1.1": {"a", "n"}, "1.2": {"a", "f"}, "1.4": {"a", "s"}, "1.5": {"n"}, "2.1": {"never run"}}
    monkeypatch.setattr(criteria, "bearers", {f"MEMOIR {key}": tests for key, tests in known.items()})
    outcomes = {"a": "passed", "f": "failed", "s": "skipped", "n": skips.NEVER_HERE}
    monkeypatch.setattr(criteria, "outcomes", outcomes)


@pytest.mark.parametrize(
    ("criterion", "state"),
    [
        ("MEMOIR 1.1", "proved"),
        ("MEMOIR 1.2", "broken"),
        ("MEMOIR 1.3", "open"),
        ("MEMOIR 1.4", "left out"),
        ("MEMOIR 1.5", "open"),
        ("MEMOIR 2.1", "broken"),
    ],
)
def test_a_criterion_is_proved_when_every_test_that_bears_it_and_can_be_run_passed(proofs: None, criterion: str, state: str):
    assert criteria.state(criterion) == state


def test_a_complete_document_owes_what_is_not_proved(proofs: None, monkeypatch: pytest.MonkeyPatch):
    titles = {"1.1": "one", "1.2": "two", "1.3": "three", "1.4": "four"}
    listed = {"MEMOIR": {"complete": True, "criteria": titles}, "CHUNK": {"complete": False, "criteria": {"1.1": "counted"}}}
    monkeypatch.setattr(criteria, "documents", lambda: listed)
    assert criteria.owed() == ["MEMOIR 1.2", "MEMOIR 1.3"]


def test_the_list_names_the_five_documents_and_as_many_criteria_as_they_have():
    counted = {name: len(document["criteria"]) for name, document in criteria.documents().items()}
    assert counted == {"MEMOIR": 149, "CHUNK": 75, "MEMOLLA": 22, "SESSION": 30, "TIMEM": 11}


@pytest.mark.parametrize(("name", "file"), [("CHUNK", "001-conversation"), ("SESSION", "003-session")])
def test_numbered_criteria_of_a_document_are_all_on_the_list(name: str, file: str):
    found = sorted(SPECIFICATION.glob(f"{file}*.md"))
    if not found:
        pytest.skip("not applicable: the specification is not beside the repository")
    requirements = re.split(r"^### Requirement (\d+).*$", found[0].read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    numbers = {
        f"{requirement}.{number}"
        for requirement, text in zip(requirements[::2], requirements[1::2], strict=True)
        for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)
    }
    assert set(criteria.documents()[name]["criteria"]) == numbers
