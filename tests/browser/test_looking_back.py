"""Looking back in a real browser: by the slider's keys to an earlier tree, and a question about that moment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app_browser import BAKERY, FESTIVAL, PATIENCE_MS, Served, Visit, ask
from memoir_engine import Memory


def changed(folder: Path) -> tuple[int, str]:
    """Rename a category and withdraw a source; return the seq before that, and the old name."""
    with Memory(data_dir=folder / "memory", model="offline") as memory:
        memory.ingest_text(BAKERY, name="bakery.md").raise_for_error()
        memory.ingest_text(FESTIVAL, name="accounts.md").raise_for_error()
        then, mia = memory.audit.head().seq, memory.acting_as("Mia", roles=("auditor",))
        top = memory.tree.path(memory.sources.chunks(2)[0].category_id or 0)[0]
        mia.review.rename(top.id, "Money matters", reason="clearer")
        mia.sources.withdraw(1, reason="out of date")
        return then, top.name


def row(page: Page, name: str) -> Locator:
    return page.locator(".row", has_text=name)


def at(seq: int) -> re.Pattern[str]:
    return re.compile(rf"[?&]seq={seq}\b")


def test_the_slider_walks_back_by_keys_and_the_address_brings_the_moment_back(tmp_path: Path, served: Served, visit: Visit):
    then, name = changed(tmp_path)
    page = visit(f"{served()}/tree")
    expect(row(page, "Money matters")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("button", name="History").click()
    slider = page.get_by_role("slider")
    expect(slider).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".st-key-past")).to_contain_text("bakery.md withdrawn, by Mia (out of date)", timeout=PATIENCE_MS)
    slider.press("ArrowLeft")
    expect(page.locator(".st-key-past")).to_contain_text("renamed to Money matters", timeout=PATIENCE_MS)
    slider.press("ArrowLeft")
    expect(page).to_have_url(at(then), timeout=PATIENCE_MS)
    expect(row(page, name).first).to_contain_text("renamed", timeout=PATIENCE_MS)
    expect(row(page, "Money matters")).to_have_count(0)
    page.reload()
    expect(row(page, name).first).to_contain_text("renamed", timeout=PATIENCE_MS)
    row(page, name).first.click()
    expect(page.get_by_text("Renamed: now Money matters")).to_be_visible(timeout=PATIENCE_MS)
    expect(page).to_have_url(at(then))
    page.get_by_role("button", name="Back to now").click()
    expect(row(page, "Money matters")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_role("slider")).to_have_count(0)


@pytest.mark.full("a flow of the browser with other values")
def test_a_question_about_a_moment_is_answered_from_what_was_filed_then(tmp_path: Path, served: Served, visit: Visit):
    then, _ = changed(tmp_path)
    page = visit(f"{served()}/tree?seq={then}")
    page.get_by_role("link", name="Ask as of this moment").click()
    expect(page.locator(".st-key-ask-as-of")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_text(f"(event {then})")).to_be_visible(timeout=PATIENCE_MS)
    ask(page, "How often is the sourdough starter fed?")
    banner = page.locator(".st-key-as-of-banner")
    expect(banner).to_contain_text(f"event {then}", timeout=PATIENCE_MS)
    expect(page.locator(".st-key-answer")).to_contain_text("twice a week", timeout=PATIENCE_MS)
    banner.get_by_role("link", name="The tree of that moment").click()
    expect(page).to_have_url(at(then), timeout=PATIENCE_MS)
    expect(page.get_by_role("slider")).to_be_visible(timeout=PATIENCE_MS)
