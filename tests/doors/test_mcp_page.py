"""Each row of the comparison in docs/mcp.md does what it says; the commands on the page are taken as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from typer.testing import CliRunner

from machine import REPOSITORY
from memoir_engine import Memory
from memoir_engine.api.cli import app
from memoir_engine.api.doors import mcp_server
from scripts.mcp_page import ROWS, ComparedTool

LEASE = "The lease of the office ends with three months' notice. " * 3


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.server}-{row.theirs}")
def test_what_another_server_offers_can_be_done_here(row: ComparedTool, tmp_path: Path):
    with Memory(model="offline", data_dir=tmp_path / "memory") as memory:
        memory.ingest_text(LEASE, name="lease.txt").raise_for_error()
        facts = [memory.facts.add(words, "ana").fact_id for words in ("Lives in Bern", "Owns a red bicycle")]
        leaf = next(category for category in memory.tree.all() if category.is_leaf)
        beside = memory.review.create(leaf.parent_id, "Papers").events[0].body["category"]
        ids = {"{fact}": facts[0], "{other}": facts[1], "{leaf}": leaf.id, "{leaf2}": beside}

        async def ask() -> list[Any]:
            async with Client(mcp_server.make_server(lambda _: memory)) as client:
                return [await client.call_tool(name, filled(arguments, ids)) for name, arguments in row.calls]

        answers = anyio.run(ask)
        assert [answer.structured_content for answer in answers if answer.is_error] == []
        assert all(answer.structured_content["recorded_as"] for answer in answers)
        assert memory.audit.verify().ok


def filled(value: Any, ids: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {name: filled(one, ids) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, ids) for one in value]
    return ids.get(value, value) if isinstance(value, str) else value


def test_the_commands_of_the_page_are_taken_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMOIR_MODEL", "offline")
    page = (REPOSITORY / "docs" / "mcp.md").read_text(encoding="utf-8")
    assert 'memoir tokens make "Ana\'s desk" --roles viewer --user ana --expires-at 2027-06-30T00:00:00Z' in page
    given = ["tokens", "make", "Ana's desk", "--roles", "viewer", "--user", "ana", "--expires-at", "2999-06-30T00:00:00Z"]
    made = CliRunner().invoke(app, [*given, "--data-dir", str(tmp_path)])
    assert (made.exit_code, "secret: mem_" in made.stdout) == (0, True)
    options = set(re.findall(r"memoir mcp[^`\n]*?(--[a-z-]+)", page)) | {"--http", "--role", "--host"}
    shown = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["mcp", "--help"]).stdout
    assert [option for option in sorted(options) if option not in shown] == []
    both = CliRunner().invoke(app, ["mcp", "--http", "8010", "--user", "ana", "--data-dir", str(tmp_path)])
    assert both.exit_code == 2
