"""Facts in a real browser: a conversation comes in, its facts appear, and keys walk the timeline."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from app_browser import PATIENCE_MS

TALK = (
    "Mia: I live in Lyon with my sister Ada and I work as a cook at the harbour inn.\n"
    "Bot: Noted.\n"
    "Mia: Big news! I live in Berlin now. <b>I love the lakes there</b>, every one of them.\n"
)


@pytest.mark.req("TIMEM consolidation.4")
def test_a_conversation_is_remembered_and_what_changed_stands_beside_what_was(served, visit):
    page = visit(f"{served()}/facts")
    page.locator(".st-key-facts-remember button").click()
    page.get_by_role("textbox", name="Who the facts are about").fill("mia")
    page.locator(".st-key-remember-text-0 textarea").fill(TALK)
    page.keyboard.press("Control+Enter")
    page.locator(".st-key-remember-go button").click()
    expect(page.locator("[class*=st-key-remember-0]")).to_contain_text("added", timeout=PATIENCE_MS)
    old = page.locator(".bar.outdated")
    expect(old).to_have_text("Lives in Lyon with their sister Ada", timeout=PATIENCE_MS)
    old.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".bar:focus")).to_contain_text("Lives in Berlin now")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-fact-panel")).to_contain_text("How it changed")
    page.locator(".st-key-fact-evidence button").click()
    marks = page.locator("[role=dialog] mark")
    expect(marks.first).to_contain_text("I live in Lyon with my sister Ada")
    expect(marks.nth(1)).to_contain_text("I live in Berlin now.")
