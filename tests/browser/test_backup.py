"""A backup made, checked, shown and restored in the browser; and a file that is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_browser import Served, Visit, cells, fill, ready
from memoir_engine import Memory


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """The file of a memory that went on afterwards."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.add_knowledge("first", "Tea is grown in Uji.")
        memory.export(tmp_path / "backup.zip")
        memory.add_knowledge("second", "Coffee is grown in Huila.")
    return tmp_path / "backup.zip"


def give(page: Page, file: Path) -> None:
    """Choose a file and have it checked."""
    page.locator(".st-key-memory-restore input[type=file]").set_input_files(file)
    page.locator(".st-key-restore-check button:enabled").click()


def test_a_backup_is_shown_before_it_replaces_and_every_tab_sees_it(backup: Path, served: Served, visit: Visit):
    url = served()
    page, other = visit(f"{url}/settings?group=storage"), visit(f"{url}/sources")
    expect(cells(other, "second")).to_have_count(1)
    give(page, backup)
    expect(page.get_by_text("The backup is complete")).to_be_visible()
    expect(page.locator(".st-key-memory-restore").get_by_role("row", name="Sources")).to_have_text("Sources21")
    expect(page.get_by_text("This memory has gone on since")).to_be_visible()
    page.get_by_role("button", name="Replace this memory").click()
    expect(page.get_by_text("Nothing was replaced")).to_be_visible()
    fill(page, "Type “replace” to confirm", "replace")
    page.get_by_role("button", name="Replace this memory").click()
    expect(page.get_by_text("The backup was restored")).to_be_visible()
    other.reload()
    ready(other)
    expect(cells(other, "first")).to_have_count(1)
    expect(cells(other, "second")).to_have_count(0)


def test_a_backup_that_was_made_in_the_app_holds_the_whole_memory(backup: Path, tmp_path: Path, served: Served, visit: Visit):
    page = visit(f"{served()}/settings?group=storage")
    page.get_by_role("button", name="Make a backup").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "made.zip")
    with Memory.import_(tmp_path / "made.zip", data_dir=tmp_path / "again", model="offline") as again:
        assert [source.name for source in again.sources.list()] == ["second", "first"]


def test_a_file_that_is_no_backup_is_refused_in_words(backup: Path, tmp_path: Path, served: Served, visit: Visit):
    cut = tmp_path / "cut.zip"
    cut.write_bytes(backup.read_bytes()[:-100])
    page = visit(f"{served()}/settings?group=storage")
    give(page, cut)
    expect(page.locator(".st-key-memory-restore")).to_contain_text("cannot be imported")
    expect(page.get_by_role("button", name="Replace this memory")).to_have_count(0)
