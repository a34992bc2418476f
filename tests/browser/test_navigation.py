"""Going from page to page: one press of Back for one page, and a page's own entry leads to its beginning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_browser import BAKERY, Served, Visit, ready
from memoir_engine import Memory, SampleMemory


def go(page: Page, name: str) -> None:
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    ready(page)


def test_in_the_sample_every_page_is_one_press_of_back_away(tmp_path: Path, served: Served, visit: Visit):
    SampleMemory(tmp_path / "memory" / "sample").make()
    page = visit(f"{served()}/?sample=1")
    for name in ("Sources", "People"):
        go(page, name)
        expect(page).to_have_url(re.compile(rf"/{name.lower()}\?sample=1$"))
    page.go_back()
    expect(page.get_by_role("heading", name="Sources", level=1)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/sources\?sample=1$"))
    ready(page)
    page.go_back()
    expect(page).to_have_url(re.compile(r"/\?sample=1$"))
    expect(page.get_by_text("You are in the sample memory")).to_be_visible()
    page.locator(".st-key-sample-leave button").click()
    expect(page.get_by_text("You are in the sample memory")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("sample"))


@pytest.fixture
def filled(tmp_path: Path) -> dict[str, str]:
    """Address of something opened on each page."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        source = memory.ingest_text(BAKERY, name="bakery.md").raise_for_error().source_id
        run = memory.query("When is bread baked?").raise_for_error().run_id
        memory.remember([{"role": "user", "content": "I live in Bern."}], user_id="Rita", session_id="talk")
        (fact,) = memory.facts.list("Rita")
    return {
        "Conversations": "conversations?session=talk&user=Rita",
        "Sources": f"sources?src={source}",
        "Ask": f"ask?run={run}",
        "Facts": f"facts?user=Rita&fact={fact.id}",
        "People": "people?user=Rita",
    }


def test_the_entry_of_a_page_leads_to_its_beginning(filled: dict[str, str], served: Served, visit: Visit):
    app = served()
    for name, opened in filled.items():
        page = visit(f"{app}/{opened}")
        go(page, name)
        expect(page).to_have_url(f"{app}/{name.lower()}")
        page.go_back()
        expect(page).to_have_url(f"{app}/{opened}")
        page.context.close()
