"""LangGraph's own conformance suite, on each database: the base and every extended capability that it detects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from memoir_engine import Memory
from memoir_engine.langgraph import MemoirCheckpointSaver


@pytest.mark.req("SESSION 4.3")
def test_the_saver_passes_every_capability(database_url: str, tmp_path: Path) -> None:
    with Memory(database_url=database_url, data_dir=tmp_path / "data", model="offline") as memory:

        @checkpointer_test(name="memoir")
        async def ours() -> AsyncIterator[MemoirCheckpointSaver]:
            yield MemoirCheckpointSaver(memory)

        report = asyncio.run(validate(ours))
    failures = {name: result.failures for name, result in report.results.items() if result.failures}
    assert failures == {}
    assert {name for name, result in report.results.items() if result.passed} == {one.value for one in Capability}
