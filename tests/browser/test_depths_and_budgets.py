"""Deep and narrow trees, all four strategies, a forced SUMMARIZE, and a killed process resumed, in a real browser."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from playwright.sync_api import expect

import fake_openai as fake
from app_browser import BAKERY, FESTIVAL, PATIENCE_MS, Served, Visit, ask, cells, pick, upload, wait_for_source
from memoir_engine import Memory

Held = tuple[fake.FakeOpenAI, threading.Event]

LIKE_A_FEW_PATHS = pytest.mark.full("a flow of the browser with other values")
SUBJECTS = {
    "bakery.txt": BAKERY,
    "festival.txt": FESTIVAL,
    "garden.txt": "The garden is watered from rain barrels. Tomatoes need more water, herbs need less, roses are pruned. " * 28,
    "stars.txt": "The telescope shows the moons of Jupiter. The comet passes the constellation and the planets align. " * 28,
    "football.txt": "The striker scored two goals in the match. The referee gave a penalty and the league cheered. " * 28,
    "clinic.txt": "The patient has a fever and takes antibiotics. The doctor measures blood pressure at the clinic. " * 28,
}
LONG = "".join(
    f"The sourdough starter lives in cold room number {n}. Bread is baked on Tuesdays; the dough rests overnight. "
    for n in range(140)
)


@pytest.fixture
def filled(tmp_path: Path) -> None:
    """Fill the memory with sources on several subjects before the app starts."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text(LONG, name="bakery.txt").raise_for_error()
        memory.ingest_text(FESTIVAL, name="festival.txt").raise_for_error()


def test_a_tree_of_depth_5_keeps_to_four_categories_at_level_1(served: Served, visit: Visit, tmp_path: Path):
    url = served(MEMOIR_HIERARCHY_DEPTH="5", MEMOIR_CATEGORY_LIMITS='{"1": 4}')
    page = visit(url + "/sources")
    upload(page, *SUBJECTS.items())
    for name in SUBJECTS:
        expect(cells(page, name)).to_have_count(1, timeout=PATIENCE_MS)
    # a source may be filed before its run has ended, and then the page is drawn once more under a hand that clicks
    expect(page.locator("[class*=st-key-cancel-]")).to_have_count(0, timeout=PATIENCE_MS)
    page.get_by_role("link", name="Category tree").click()
    expect(page.get_by_role("treeitem")).to_have_count(4, timeout=PATIENCE_MS)
    leaf = visit(url + "/tree?chunk=1").get_by_role("treeitem", selected=True)
    expect(leaf).to_have_attribute("aria-level", "5", timeout=PATIENCE_MS)


@pytest.mark.parametrize(
    "strategy", ["A few paths", *(pytest.param(name, marks=LIKE_A_FEW_PATHS) for name in ("One path", "Zoom in", "Branch out"))]
)
def test_a_question_is_answered_by_each_strategy(filled: None, served: Served, visit: Visit, strategy: str):
    page = visit(served() + "/ask")
    page.get_by_text("Options", exact=True).click()
    page.get_by_role("radio", name=strategy).click()
    expect(page.get_by_role("radio", name=strategy)).to_be_checked(timeout=PATIENCE_MS)
    ask(page, "What surplus did the harbour festival earn?")
    expect(page.locator(".st-key-answer")).to_contain_text("8,450 euros", timeout=PATIENCE_MS)
    expect(page.locator("[data-testid=stMainBlockContainer]")).to_contain_text(f"{strategy} · ")
    expect(page.get_by_text("Evidence", exact=True)).to_have_count(1)  # beside it, for a moment, that of the live view


@pytest.mark.req("MEMOIR 9.8")
def test_a_budget_that_forces_summaries_shows_their_targets_and_results(filled: None, served: Served, visit: Visit):
    page = visit(served() + "/ask")
    page.get_by_text("Options", exact=True).click()
    pick(page, re.compile("token limit"), re.compile("^Shorten every chunk"))
    budget = page.get_by_role("spinbutton", name="Token limit")
    budget.fill("1700")
    budget.press("Tab")
    ask(page, "How is the sourdough starter kept, and when is bread baked?")
    page.get_by_role("tab", name=re.compile(r"^Summaries \([1-9]\d*\)")).click(timeout=PATIENCE_MS)
    panel = page.get_by_role("tabpanel", name=re.compile("^Summaries"))
    expect(panel.get_by_test_id("stMetric").first).to_contain_text(re.compile(r"Compression ratio\s*\d+\.\d %"))
    expect(cells(panel, "bakery.txt").first).to_have_count(1, timeout=PATIENCE_MS)
    expect(panel.locator("canvas th", has_text="Target").first).to_have_count(1)
    expect(panel.locator(".sheet").first).to_contain_text("Summary", timeout=PATIENCE_MS)
    expect(panel.locator(".sheet").nth(1)).to_contain_text("Original chunk: bakery.txt")


def test_after_the_process_was_killed_the_job_goes_on_and_asks_only_for_the_rest(served: Served, visit: Visit, held: Held):
    server, gate = held
    server.say({"author": "unknown", "date": "unknown", "topic": "bread", "summary": "About bread."})
    settings = {"MEMOIR_MODEL": "lmstudio:local-model", "LMSTUDIO_BASE_URL": server.url}
    page = visit(served(**settings) + "/sources")
    upload(page, ("bakery.txt", BAKERY))
    server.wait_for(2)  # the helper is paid for; the first batch is being asked
    served.kill()
    gate.set()
    page = visit(served(**settings) + "/sources")
    card = page.locator("[class*=st-key-job-]", has_text="bakery.txt")
    expect(card).to_contain_text("interrupted", timeout=PATIENCE_MS)
    expect(card).to_contain_text("1 answer saved")
    card.get_by_role("button", name="Resume").click()
    wait_for_source(page, "bakery.txt")
    helpers = [seen for seen in server.seen if seen.instructions.startswith("task: helper")]
    assert len(helpers) == 1
