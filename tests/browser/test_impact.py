"""What would change? In the app: seen before a source is withdrawn, kept with the action, and found in its report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app_browser import BAKERY, FESTIVAL, PATIENCE_MS, Served, Visit, fill, ready
from memoir_engine import Memory

FLIPS, STAYS = "How is the sourdough starter fed?", "What did the harbour festival earn?"


@pytest.fixture
def asked(tmp_path: Path) -> int:
    """Ask two questions about two sources; return the source that answers the first."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        source = memory.ingest_text(BAKERY, name="bakery.md").raise_for_error().source_id
        memory.ingest_text(FESTIVAL, name="festival.md").raise_for_error()
        for question in (FLIPS, STAYS):
            memory.query(question, strategy="one_shot").raise_for_error()
    assert source is not None
    return source


def test_it_flips_one_answer_and_what_was_seen_is_in_the_report_of_the_action(
    served: Served, visit: Visit, tmp_path: Path, asked: int
):
    page = visit(f"{served()}/sources?src={asked}")
    page.locator(".st-key-withdraw-open button").click()
    panel = page.locator(".st-key-withdraw-panel")
    panel.get_by_text("What would change?").click()
    expect(panel.locator(".st-key-withdraw-impact-go button")).to_be_visible(timeout=PATIENCE_MS)
    ready(page)
    panel.get_by_role("radio", name="My own").click()
    fill(page, "One question per line", f"{FLIPS}\n{STAYS}")
    fill(page, "Name of the set", "Bread and boats")
    expect(panel.locator(".st-key-withdraw-impact-save button")).to_be_enabled()
    ready(page)
    panel.locator(".st-key-withdraw-impact-save button").click()
    expect(panel.get_by_role("combobox", name="Set")).to_have_value("Bread and boats (2 questions)")
    ready(page)
    panel.locator(".st-key-withdraw-impact-go button").click()
    expect(panel).to_contain_text("1 would change", timeout=PATIENCE_MS)
    expect(panel).to_contain_text("1 stays")
    panel.locator(".st-key-withdraw-impact-delete button").click()
    expect(panel).to_contain_text("The set was deleted.")
    ready(page)
    panel.locator(".st-key-withdraw-impact-back button").click()
    expect(panel.get_by_role("combobox", name="Set")).to_have_value("Bread and boats (2 questions)")
    ready(page)
    item = panel.locator("[class*=st-key-withdraw-][class*=-item]")
    expect(item).to_have_count(1)
    expect(item).to_contain_text(FLIPS)
    expect(item).to_contain_text("fed twice a week")
    panel.locator(".st-key-withdraw-do button").click()
    expect(page).to_have_url(re.compile(r"/activity\?action=\w+$"), timeout=PATIENCE_MS)
    kept = page.locator(".st-key-act-seen")
    expect(kept).to_contain_text("1 would change", timeout=PATIENCE_MS)
    expect(kept).to_contain_text(STAYS)
    page.locator("[class*=st-key-report-action] button").first.click()
    with page.expect_download() as download:
        page.locator(".st-key-report-action-html button").click()
    report = Path(download.value.path()).read_text(encoding="utf-8")
    assert "What its maker saw would change" in report and "fed twice a week" in report


def test_a_page_drawn_anew_in_the_middle_neither_loses_the_press_nor_asks_twice(
    served: Served, visit: Visit, tmp_path: Path, asked: int
):
    page = visit(f"{served()}/sources?src={asked}")
    page.locator(".st-key-withdraw-open button").click()
    panel = page.locator(".st-key-withdraw-panel")
    panel.get_by_text("What would change?").click()
    expect(panel.locator(".st-key-withdraw-impact-go button")).to_be_visible()
    ready(page)
    panel.evaluate(
        """panel => {
          panel.querySelector('.st-key-withdraw-impact-go button').click();
          const other = [...panel.querySelectorAll('.st-key-withdraw-impact-which [role=radio]')]
            .find(each => each.textContent.includes('Those that used this'));
          setTimeout(() => other.click(), 60);
        }"""
    )
    expect(panel).to_contain_text("1 would change", timeout=PATIENCE_MS)
    expect(panel.locator("[class*=st-key-withdraw-][class*=-item]")).to_have_count(1)


def test_a_look_at_another_change_is_not_shown_and_a_memory_that_moved_on_is_said(
    served: Served, visit: Visit, tmp_path: Path, asked: int
):
    page = visit(f"{served()}/tree")
    page.get_by_role("radio", name=re.compile("New category")).or_(
        page.get_by_role("button", name=re.compile("New category"))
    ).first.click()
    name = page.get_by_role("textbox", name="Name of the new category")
    name.fill("Boats")
    name.press("Tab")
    expect(page.get_by_text("Boats is created")).to_be_visible(timeout=PATIENCE_MS)
    ready(page)  # a press while the page is drawn again would be lost
    fold = page.locator("[class*=st-key-edit-create-0-impact]").first
    fold.get_by_text("What would change?").click()
    expect(page.locator(".st-key-edit-create-0-impact-go button")).to_be_visible(timeout=PATIENCE_MS)
    ready(page)  # the fold draws the page again, too
    page.locator(".st-key-edit-create-0-impact-go button").click()
    expect(fold).to_contain_text("Nothing would change for these questions.", timeout=PATIENCE_MS)
    name.fill("Ships")
    name.press("Tab")
    expect(page.get_by_text("Ships is created")).to_be_visible(timeout=PATIENCE_MS)
    expect(fold).not_to_contain_text("Nothing would change for these questions.", timeout=PATIENCE_MS)
    name.fill("Boats")
    name.press("Tab")
    expect(fold).to_contain_text("Nothing would change for these questions.", timeout=PATIENCE_MS)

    other = visit(f"{page.url.split('/tree')[0]}/sources?src={asked}")
    other.locator(".st-key-withdraw-open button").click()
    other.locator(".st-key-withdraw-do button").click()
    expect(other).to_have_url(re.compile(r"/activity\?action=\w+$"), timeout=PATIENCE_MS)
    name.fill("Boats ")
    name.press("Tab")
    name.fill("Boats")
    name.press("Tab")
    expect(fold).to_contain_text("The memory has changed since", timeout=PATIENCE_MS)
    expect(page.locator(".st-key-edit-create-0-impact-go button")).to_contain_text("Ask again")
