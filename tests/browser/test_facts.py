"""Facts in a real browser: a conversation comes in, its facts appear, and keys walk the timeline."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app_browser import PATIENCE_MS, becomes
from memoir_engine import Memory

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


def test_the_words_beside_a_narrow_bar_open_its_fact_and_the_axis_stays_in_view(served, visit, tmp_path: Path):
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        for number in range(24):
            memory.facts.add(
                f"Cousin number {number} lives in Lyon", user_id="mia", subject=f"cousin {number}", valid_from="2020"
            )
        wrong = memory.facts.add("Is vegetarian", user_id="mia")
        memory.facts.retire([str(wrong.fact_id)], reason="it was a joke")
    page = visit(f"{served()}/facts?user=mia")
    bar = page.locator(".bar.outdated")
    expect(bar.locator(".text")).to_be_visible(timeout=PATIENCE_MS)
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.locator(".axis .today")).to_be_in_viewport()
    becomes(lambda: bar.evaluate("node => node.getBoundingClientRect().width") < 20, True)
    page.locator(".bar").last.scroll_into_view_if_needed()
    page.locator(".axis .today").hover(trial=True)  # nothing covers it
    bar.locator(".text").click()
    expect(page.locator(".st-key-fact-panel")).to_contain_text("Is vegetarian", timeout=PATIENCE_MS)
    expect(bar).to_have_attribute("aria-label", re.compile("^Is vegetarian. ended, "))
