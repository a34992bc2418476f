"""Reading, bringing in and clearing a conversation, in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app_browser import PATIENCE_MS, Served, Visit, cells
from memoir_engine import Memory

HOSTILE = "<img src=x onerror=alert(1)> **not bold** [no link](https://example.org)"


@pytest.fixture
def talked(tmp_path: Path) -> None:
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.add_conversation("kitchen", "user", "Where is the tea?")
        memory.add_conversation("kitchen", "assistant", HOSTILE)
        for number in range(60):
            memory.add_conversation("kitchen", "user", f"And thing number {number}?")


@pytest.mark.req("SESSION 3.2")
def test_a_conversation_opens_at_its_message_is_brought_in_again_and_cleared(talked: None, served: Served, visit: Visit):
    address = f"{served()}/conversations"
    page = visit(f"{address}?session=kitchen&n=2")
    focus = page.locator(".message.focus")
    expect(focus).to_be_in_viewport(timeout=PATIENCE_MS)
    expect(focus.locator(".text")).to_have_text(HOSTILE)
    expect(page.locator(".sheet img")).to_have_count(0)

    page.get_by_role("button", name="Details 3", exact=True).click()
    expect(page.get_by_text("Message 3", exact=True)).to_be_visible(timeout=PATIENCE_MS)
    expect(page).to_have_url(re.compile("n=3"))

    page.goto(f"{address}?bring=1")
    box = page.get_by_label("Or paste it")
    expect(box).to_be_visible(timeout=PATIENCE_MS)
    box.fill(json.dumps([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}]))
    box.press("Control+Enter")
    page.get_by_role("button", name="Import", exact=True).click(timeout=PATIENCE_MS)
    expect(page.get_by_text("2 messages imported into")).to_be_visible(timeout=PATIENCE_MS)

    page.goto(f"{address}?session=kitchen&clear=1")
    page.get_by_role("button", name="Delete for good").click(timeout=PATIENCE_MS)
    expect(page.get_by_text("The conversation was deleted.")).to_be_visible(timeout=PATIENCE_MS)
    expect(cells(page, "kitchen")).to_have_count(0)
    expect(cells(page, "Hello")).to_have_count(1)


def test_back_leads_from_a_conversation_to_the_fact_it_was_opened_from(
    talked: None, tmp_path: Path, served: Served, visit: Visit
):
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.remember([{"role": "user", "content": "I live in Lyon."}], user_id="mia", session_id="moved")
    page = visit(f"{served()}/facts?user=mia")
    page.locator(".bar").click()
    page.get_by_role("link", name="Open the conversation").click()
    expect(page.locator(".message.human .text")).to_have_text("I live in Lyon.", timeout=PATIENCE_MS)
    fact = r".*/facts\?user=mia&fact=[\w-]+$"
    page.get_by_role("button", name="All conversations").click()
    expect(page).to_have_url(re.compile(r".*/conversations$"), timeout=PATIENCE_MS)
    for address in (r".*/conversations\?session=moved&user=mia$", fact, r".*/facts\?user=mia$"):
        page.go_back()
        expect(page).to_have_url(re.compile(address), timeout=PATIENCE_MS)
