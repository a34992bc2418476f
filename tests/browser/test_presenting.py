"""Presenter's mode in a browser: larger type, no figures for developers, kept for the tab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_browser import BAKERY, Served, Visit, becomes, ready
from memoir_engine import Memory

FIGURES = re.compile(r"[0-9] ?(ms|µs)\b|[0-9] tokens\b(?<!500 tokens)|\$[0-9]|[0-9a-f]{26}")  # but how long a chunk may be


@pytest.fixture
def answered(tmp_path: Path, served: Served) -> str:
    """Address of an answered question."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text(BAKERY, name="bakery.md").raise_for_error()
        run_id = memory.query("When is bread baked?").raise_for_error().run_id
    return f"{served()}/ask?run={run_id}"


def size_px(page: Page, selector: str) -> float:
    return float(page.locator(selector).first.evaluate("node => parseFloat(getComputedStyle(node).fontSize)"))


def test_it_enlarges_the_answer_and_hides_what_only_developers_read(answered: str, visit: Visit):
    page = visit(answered)
    before = size_px(page, ".answer"), size_px(page, ".st-key-answer h2")
    expect(page.locator(".st-key-technical-figures")).to_contain_text("tokens")
    page.get_by_text("Presenter view").click()
    for hidden in ("figures", "tables", "run-id"):
        expect(page.locator(f".st-key-technical-{hidden}")).to_be_hidden()
    expect(page.locator("[class*=st-key-path-] .head button").first).to_be_hidden()
    for place, then in zip((".answer", ".st-key-answer h2"), before, strict=True):
        becomes(lambda place=place, then=then: round(size_px(page, place) / then, 2), 1.25)


def test_it_is_kept_over_a_refresh_and_other_pages_until_it_is_switched_off(answered: str, visit: Visit):
    page = visit(f"{answered}&present=1")
    expect(page.locator(".st-key-technical-figures")).to_be_hidden()
    page.get_by_role("link", name="Search", exact=True).click()
    expect(page).to_have_url(re.compile("/search.*present=1"))
    page.reload()
    expect(
        page.get_by_role("switch", name="Presenter view").or_(page.get_by_role("checkbox", name="Presenter view"))
    ).to_be_checked()
    page.get_by_text("Presenter view").click()
    expect(page).not_to_have_url(re.compile("present"))


def test_no_page_shows_a_developers_figure_and_the_switch_stays_in_sight(answered: str, visit: Visit):
    url = answered.partition("/ask")[0]
    page = visit(f"{url}/?present=1")
    page.set_viewport_size({"width": 1440, "height": 900})
    smallest = page.locator(".slicetext").first.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
    assert smallest >= 11 * 1.25
    for place in ("sources", "sources?src=1", "tree?chunk=1", "review", "activity", "search?q=bread", answered[len(url) + 1 :]):
        page.goto(f"{url}/{place}{'&' if '?' in place else '?'}present=1")
        ready(page)
        assert not FIGURES.search(page.locator("[data-testid=stMain]").inner_text()), place
        expect(page.get_by_text("Presenter view")).to_be_in_viewport(ratio=1)
