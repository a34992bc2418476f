"""A new user's first hour in a real browser: load the samples, upload, walk the tree, ask, open the evidence."""

from __future__ import annotations

import json
import re
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

import fake_openai as fake
from app_browser import BAKERY, FESTIVAL, PATIENCE_MS, Served, Visit, ask, upload, wait_for_source
from memoir_engine import Memory

Held = tuple[fake.FakeOpenAI, threading.Event]


@pytest.fixture
def filled(tmp_path: Path) -> None:
    """Fill the memory with two sources on two subjects before the app starts."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text(BAKERY, name="bakery.txt").raise_for_error()
        memory.ingest_text(FESTIVAL, name="festival.txt").raise_for_error()


def test_upload_then_tree_then_ask_then_the_very_words(served: Served, visit: Visit):
    url = served()
    page = visit(f"{url}/sources")
    upload(page, ("bakery.txt", BAKERY), ("festival.txt", FESTIVAL))
    wait_for_source(page, "bakery.txt")
    wait_for_source(page, "festival.txt")

    page.get_by_role("link", name="Category tree").click()
    rows = page.get_by_role("treeitem")
    expect(rows.first).to_be_visible(timeout=PATIENCE_MS)
    rows.first.click()
    expect(page).to_have_url(re.compile(r"cat=\d+"), timeout=PATIENCE_MS)

    page.get_by_role("link", name="Ask", exact=True).click()
    ask(page, "What surplus did the harbour festival earn?")
    expect(page).to_have_url(re.compile(r"run=\w+"), timeout=PATIENCE_MS)
    citation = page.locator(".answer button").first
    expect(citation).to_be_visible(timeout=PATIENCE_MS)
    citation.click()
    expect(page.get_by_role("dialog").locator("mark").first).to_contain_text("8,450 euros", timeout=PATIENCE_MS)


def test_the_sample_memory_opens_with_one_click_stays_over_a_refresh_and_is_left_with_another(served: Served, visit: Visit):
    page = visit(served())
    page.get_by_role("button", name="Explore the sample memory").click()
    banner = page.locator(".st-key-sample-banner")
    expect(banner).to_be_visible(timeout=2 * PATIENCE_MS)
    page.get_by_role("link", name="Category tree").click()
    expect(page.get_by_role("treeitem").nth(3)).to_be_visible(timeout=PATIENCE_MS)
    expect(page).to_have_url(re.compile("sample=1"), timeout=PATIENCE_MS)
    page.reload()
    expect(page.get_by_role("treeitem").nth(3)).to_be_visible(timeout=PATIENCE_MS)
    banner.get_by_role("button", name="Back to my memory").click()
    expect(page.get_by_text("Welcome to Memoir")).to_be_visible(timeout=PATIENCE_MS)


def test_a_link_to_a_chunk_opens_the_tree_at_its_leaf(filled: None, served: Served, visit: Visit):
    deep = visit(served() + "/tree?chunk=1")
    expect(deep.get_by_role("treeitem", selected=True)).to_be_visible(timeout=PATIENCE_MS)
    expect(deep.locator(".block.focus")).to_contain_text("sourdough starter")
    expect(deep.get_by_text("Why it is here", exact=True)).to_be_visible()
    expect(deep.locator(".card")).to_have_count(3)


def test_the_tree_is_walked_by_keyboard(filled: None, served: Served, visit: Visit):
    page = visit(served() + "/tree")
    tree = page.get_by_role("tree")
    expect(page.get_by_role("treeitem")).to_have_count(2, timeout=PATIENCE_MS)
    tree.focus()
    tree.press("ArrowRight")
    expect(page.get_by_role("treeitem")).to_have_count(3)
    tree.press("ArrowDown")
    tree.press("ArrowRight")
    tree.press("ArrowDown")
    tree.press("Enter")
    expect(page.get_by_role("treeitem", selected=True)).to_have_attribute("aria-level", "3")
    expect(page.get_by_text("Chunks in this category")).to_be_visible(timeout=PATIENCE_MS)


def test_the_filter_leaves_what_was_looked_for(filled: None, served: Served, visit: Visit):
    page = visit(served() + "/tree")
    first = page.get_by_role("treeitem").first
    name = str(first.locator(".name").text_content(timeout=PATIENCE_MS))
    page.get_by_label("Filter categories").fill(name)
    expect(page.locator(".name mark").first).to_have_text(name)
    page.get_by_label("Filter categories").fill("nothing has this name")
    expect(page.get_by_text("No category name contains this.")).to_be_visible()


def test_a_running_job_is_cancelled_and_leaves_nothing(served: Served, visit: Visit, held: Held):
    server, _ = held
    url = served(MEMOIR_MODEL="lmstudio:local-model", LMSTUDIO_BASE_URL=server.url)
    page = visit(f"{url}/sources")
    upload(page, ("bakery.txt", BAKERY))
    server.wait_for(1)
    card = page.locator("[class*=st-key-job-]", has_text="bakery.txt")
    card.get_by_role("button", name="Cancel").click()
    expect(card).to_contain_text("cancelled", timeout=PATIENCE_MS)
    expect(page.get_by_text("Nothing was stored")).to_be_visible(timeout=PATIENCE_MS)


def test_a_reload_in_the_middle_of_a_run_shows_it_still_running_and_then_its_answer(
    filled: None, served: Served, visit: Visit, held: Held
):
    server, gate = held
    page = visit(served(MEMOIR_MODEL="lmstudio:local-model", LMSTUDIO_BASE_URL=server.url) + "/ask")
    ask(page, "What surplus did the harbour festival earn?")
    expect(page).to_have_url(re.compile(r"run=\w+"), timeout=PATIENCE_MS)
    server.wait_for(1)
    page.reload()
    expect(page.locator(".st-key-head-ask")).to_contain_text("running", timeout=PATIENCE_MS)
    gate.set()
    expect(page.locator(".st-key-head-ask")).to_contain_text("answered", timeout=PATIENCE_MS)
    expect(page.locator(".answer")).to_contain_text("8,450 euros")


@pytest.mark.full("a flow of the browser with other values")
def test_a_hostile_name_is_shown_as_text(served: Served, visit: Visit):
    name = "<img src=x onerror=alert(1)> ![x](http://example.invalid/x.png) [link](javascript:alert(1)).txt"
    page = visit(served() + "/sources")
    upload(page, (name, BAKERY))
    expect(page.locator("[class*=st-key-job-]")).to_contain_text("done", timeout=PATIENCE_MS)
    assert page.locator("[class*=st-key-job-] img, [class*=st-key-job-] a[href^=javascript]").count() == 0


def test_every_answer_of_the_server_carries_the_security_headers(served: Served):
    url = served()
    with urllib.request.urlopen(f"{url}/api/health", timeout=60) as answer:
        headers = dict(answer.headers)
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_programs_reach_the_api_beside_the_pages_and_unknown_paths_are_json(served: Served):
    url = served()
    with urllib.request.urlopen(f"{url}/api/v1/openapi.json", timeout=60) as answer:
        assert "/api/v1/search" in json.load(answer)["paths"]
    told = {}
    for path in ("api/v1/overview", "api/v1/nothing", "api/nothing"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{url}/{path}", timeout=60)
        told[path] = (refused.value.code, json.load(refused.value)["code"])
    assert told == {"api/v1/overview": (401, "E753"), "api/v1/nothing": (404, "E761"), "api/nothing": (404, "E761")}
