"""The name of a viewer in a real browser: given once, known after a refresh and in another tab; links open without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_browser import PATIENCE_MS, Served, Visit, cells
from memoir_engine import Memory

SAID = "I live in Lyon and I work as a nurse."


@pytest.fixture
def talked(tmp_path: Path) -> str:
    """Zoe's conversation and one of nobody's; return the fact of hers."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.remember([{"role": "user", "content": SAID}], user_id="zoe", session_id="z")
        memory.add_conversation("n", "user", "Is anybody there?")
        return memory.facts.list("zoe")[0].id


def tab(page: Page, address: str) -> Page:
    other = page.context.new_page()
    other.goto(address)
    return other


def test_a_name_is_given_once_and_links_open_without_it(talked: str, served: Served, visit: Visit):
    url = served(MEMOIR_REVIEWER="")
    page = visit(f"{url}/facts?fact={talked}")
    expect(page.locator(".st-key-fact-panel")).to_contain_text("zoe", timeout=PATIENCE_MS)
    page.locator(".st-key-fact-panel").get_by_role("link", name="Open the conversation").click()
    expect(page.locator(".message .text").first).to_have_text(SAID, timeout=PATIENCE_MS)
    page.go_back()
    expect(page.locator(".st-key-fact-panel")).to_contain_text("zoe", timeout=PATIENCE_MS)
    assert page.url == f"{url}/facts?fact={talked}"
    page.go_forward()
    expect(page.locator(".message .text").first).to_have_text(SAID, timeout=PATIENCE_MS)

    page.get_by_role("button", name="All conversations").click()
    expect(cells(page, "z")).to_have_count(1, timeout=PATIENCE_MS)
    expect(cells(page, "n")).to_have_count(1)
    assert page.url == f"{url}/conversations"

    foot = page.locator(".st-key-who")
    foot.get_by_role("button").click()
    field = page.locator(".st-key-who-name-foot input")
    field.fill("Ana López")
    field.press("Enter")
    expect(foot).to_contain_text("Ana López", timeout=PATIENCE_MS)
    expect(field).to_be_hidden()
    page.wait_for_function("() => document.cookie.includes('memoir_name=Ana%20L')", timeout=PATIENCE_MS)

    page.reload()
    expect(foot).to_contain_text("Ana López", timeout=PATIENCE_MS)
    other = tab(page, f"{url}/settings?as=Ben")
    expect(other.locator(".st-key-who")).to_contain_text("Ben", timeout=PATIENCE_MS)
    other.wait_for_url(f"{url}/settings")
    expect(tab(page, url).locator(".st-key-who")).to_contain_text("Ana López", timeout=PATIENCE_MS)
