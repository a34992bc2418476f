"""Every example runs as it stands, offline, and does what docs/examples.md says of it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from streamlit.testing.v1 import AppTest

from machine import REPOSITORY
from scripts import notebooks
from scripts.page_blocks import steady

EXAMPLES = REPOSITORY / "examples"


def run(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> int | str | None:
    """Run an example as a program and return what it ends with."""
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    try:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    except SystemExit as ended:
        return ended.code
    return 0


def test_every_example_is_on_the_page_of_examples():
    page = (REPOSITORY / "docs" / "examples.md").read_text(encoding="utf-8")
    programs = [path.name for path in sorted(EXAMPLES.iterdir()) if path.suffix in (".py", ".ipynb")]
    assert [name for name in programs if f"(../examples/{name})" not in page] == []


def test_the_support_agent_answers_from_the_handbook_and_knows_its_customer(monkeypatch, capsys):
    assert run("support_agent.py", monkeypatch=monkeypatch) == 0
    printed = capsys.readouterr().out
    assert "agent:    A refund takes five working days. [1]" in printed
    assert "known:    - Lives in Lyon" in printed
    assert "outdated | Lives in Lyon | 'I live in Lyon'" in printed
    assert "active   | Moved to Bern" in printed


def test_the_audit_of_an_export_says_who_did_what_and_what_is_left(monkeypatch, capsys):
    assert run("audit_export.py", monkeypatch=monkeypatch) == 0
    printed = capsys.readouterr().out
    assert "log: whole" in printed
    assert "rules.txt: signed by Mia (valid)" in printed
    assert "chunks that nobody has reviewed: 1" in printed
    assert "Mia: approve × 1" in printed


def test_the_audit_refuses_an_export_that_was_altered(monkeypatch, capsys, tmp_path: Path):
    whole, altered = tmp_path / "whole.zip", tmp_path / "altered.zip"
    runpy.run_path(str(EXAMPLES / "audit_export.py"))["sample"](whole)
    with ZipFile(whole) as before, ZipFile(altered, "w") as after:
        for name in before.namelist():
            after.writestr(name, before.read(name).replace(b"two euros a week", b"ten euros a week"))
    assert run("audit_export.py", str(altered), monkeypatch=monkeypatch) == 1
    assert "REFUSED" in capsys.readouterr().out


@pytest.mark.filterwarnings("default")
def test_what_is_said_in_the_chat_is_known_corrected_and_undone():
    app = AppTest.from_file(str(EXAMPLES / "chat_app.py"), default_timeout=120).run()
    app.chat_input[0].set_value("I live in Lyon.").run()
    assert [known.value for known in app.sidebar.text_input] == ["Lives in Lyon"]

    app.sidebar.text_input[0].set_value("Lives in Lille").run()
    app.sidebar.button[0].click().run()
    assert [known.value for known in app.sidebar.text_input] == ["Lives in Lille"]

    app.sidebar.button[-1].click().run()
    assert [known.value for known in app.sidebar.text_input] == ["Lives in Lyon"]
    assert not app.exception


def test_the_cells_of_the_notebook_give_what_it_shows():
    path = EXAMPLES / "tour.ipynb"
    assert steady(notebooks.drawn(path)) == steady(path.read_text(encoding="utf-8")), "run: make docs"
