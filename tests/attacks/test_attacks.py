"""Each attack in its short form does no harm; the table in docs/security.md is drawn from the results that are kept."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from attacks import __main__ as harness
from attacks import frame


@pytest.mark.slow
@pytest.mark.full("an attack in its short form")
@pytest.mark.parametrize("name", harness.NAMES)
def test_an_attack_does_no_harm(name: str, tmp_path: Path):
    attack = importlib.import_module(f"attacks.{name}")
    outcome = attack.main(attack.SHORT, tmp_path)
    assert sum(outcome.done.values()) > 0
    assert dict(outcome.harm) == dict.fromkeys(outcome.harm, 0)


def test_the_page_shows_what_the_harness_found_and_nothing_else():
    page = frame.PAGE.read_text(encoding="utf-8")
    assert frame.drawn(page) == page
    assert {path.stem for path in frame.RESULTS.glob("*.json")} == set(harness.NAMES)
