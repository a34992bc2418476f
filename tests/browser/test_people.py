"""A person's data in a real browser: found in the list, taken along, and erased after a look at what goes."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import expect

from app_browser import PATIENCE_MS, Served, Visit, cells
from memoir_engine import Memory

HOSTILE = "I love <img src=x onerror=alert(1)> **lakes** in Bern."


@pytest.fixture
def known(tmp_path: Path) -> None:
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.remember([{"role": "user", "content": f"I live in Bern. {HOSTILE}"}], user_id="ana", session_id="a-1")
        memory.remember([{"role": "user", "content": "I live in Rome."}], user_id="ben", session_id="b-1")


HEADINGS = "() => [...document.querySelectorAll('main :is(h1, h2, h3, h4)')].map(one => Number(one.tagName[1]))"
WIDEST = """() => Math.max(...[...document.querySelectorAll('.st-key-people-panel :is(p, li, h2, input, button, canvas)')]
  .map(one => one.getBoundingClientRect().right))"""


def test_on_a_narrow_screen_the_panel_is_whole_and_headings_follow_each_other(known: None, served: Served, visit: Visit):
    page = visit(f"{served()}/people?user=ana&erase=1")
    page.set_viewport_size({"width": 390, "height": 844})
    why = page.locator(".st-key-people-panel li", has_text="Erasure records")
    expect(why).to_contain_text("without a word", timeout=PATIENCE_MS)
    page.wait_for_function(f"({WIDEST})() <= 390")  # the screen became narrow while the page was drawn
    levels = page.evaluate(HEADINGS)
    assert levels[0] == 1 and 2 in levels
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))


def test_a_person_is_opened_taken_along_and_erased(known: None, served: Served, visit: Visit, tmp_path: Path):
    page = visit(f"{served()}/people")
    expect(page.locator(".st-key-people-table")).to_be_visible(timeout=PATIENCE_MS)
    expect(cells(page, "ana")).to_have_count(1, timeout=PATIENCE_MS)
    page.goto(f"{page.url}?user=ana")
    expect(page.get_by_role("link", name="See them on the timeline")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator("main img[src=x]")).to_have_count(0)
    with page.expect_download(timeout=PATIENCE_MS) as taken:
        page.get_by_role("button", name="Export all data").click()
    taken.value.save_as(tmp_path / "ana.zip")
    with ZipFile(tmp_path / "ana.zip") as archive:
        assert json.loads(archive.read("manifest.json"))["user_id"] == "ana"
        assert HOSTILE in json.loads(archive.read("messages.jsonl").splitlines()[0])["content"]

    page.get_by_role("button", name="Erase this person").click()
    panel = page.locator(".st-key-people-panel")
    expect(panel).to_contain_text("What will stay, and why", timeout=PATIENCE_MS)
    page.get_by_role("textbox", name="Reason").fill("she asked for it")
    page.get_by_role("textbox", name="Type “ana” to confirm").fill("ana")
    page.locator(".st-key-people-go button").click()
    expect(page.get_by_text("All data about ana was erased.")).to_be_visible(timeout=PATIENCE_MS)
    expect(cells(page, "ana")).to_have_count(0, timeout=PATIENCE_MS)
    expect(cells(page, "ben")).to_have_count(1)
