"""Blocks of the documents run as they stand and print what the page shows below them. Source: STYLE 18."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from machine import REPOSITORY
from memoir_engine import CHUNKERS, EMBEDDERS, STRATEGIES
from scripts import page_blocks

REGISTRIES = (CHUNKERS, EMBEDDERS, STRATEGIES)


@pytest.fixture
def _plugged() -> Iterator[None]:
    """Take away what a page registers."""
    kept = [dict(registry._known) for registry in REGISTRIES]
    yield
    for registry, known in zip(REGISTRIES, kept, strict=True):
        registry._known.clear()
        registry._known.update(known)


@pytest.mark.usefixtures("_plugged")
@pytest.mark.parametrize("page", page_blocks.pages(), ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_the_blocks_of_a_page_run_and_print_what_it_shows(page: Path):
    now, shown = page_blocks.drawn(page), page.read_text(encoding="utf-8")
    assert page_blocks.steady(now) == page_blocks.steady(shown), "run: make docs"


def test_a_block_shows_what_it_prints_and_keeps_what_varies(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nprint('at', '2026-11-26')\n```\n\n```output\nat 2024-01-01\n```\n\n```sh\necho one\n```\n", encoding="utf-8"
    )
    assert page_blocks.drawn(page) == page.read_text(encoding="utf-8") + "\n```output\none\n```\n"


def test_what_a_block_no_longer_prints_is_taken_from_the_page(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```python\nname = 'Ana'\n```\n\n```output\nAna\n```\n", encoding="utf-8")
    assert page_blocks.drawn(page) == "```python\nname = 'Ana'\n```\n"


def test_a_block_that_is_not_run_says_why():
    blocks = [block for page in page_blocks.pages() for block in page_blocks.blocks(page.read_text(encoding="utf-8"))]
    reasons = [block.reason for block in blocks if block.reason is not None]
    assert reasons
    assert [reason for reason in reasons if len(reason.split()) < 3] == []


def test_a_command_that_fails_stops_the_drawing(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```sh\nfalse\n```\n", encoding="utf-8")
    with pytest.raises(page_blocks.subprocess.CalledProcessError):
        page_blocks.drawn(page)
