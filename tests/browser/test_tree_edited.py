"""Tree edits in a real browser by keyboard: preview, edit, undo; a split proposed by the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app_browser import PATIENCE_MS, Served, Visit
from memoir_engine import Category, Memory

TEXTS = (
    "Red wine is aged in oak barrels, and the wine rests in bottles.",
    "White wine is fermented in steel; the grapes of the wine are picked early.",
    "Wine of late grapes is sweet, and such wine keeps for years.",
    "Bees swarm in May, and the hive of the bees must be large.",
    "The bees give honey; the hive is opened twice and the bees are fed.",
    "A queen of the bees lays eggs in the hive while bees gather honey.",
)


@pytest.fixture
def leaf(tmp_path: Path) -> Category:
    """Return the one leaf of a memory, with chunks on two subjects."""
    with Memory(data_dir=tmp_path / "memory", model="offline", chunk_min_tokens=5, chunk_max_tokens=30) as memory:
        for number, text in enumerate(TEXTS):
            memory.ingest_text(text, name=f"{number}.txt").raise_for_error()
        filed = [chunk for source in memory.sources.list() for chunk in memory.sources.chunks(source.id)]
        target = int(filed[0].category_id or 0)
        memory.review.refile_many([chunk.id for chunk in filed], target)
        memory.review.rename(target, "Cellar and garden")
        return memory.tree.node(target)


def test_a_category_is_renamed_and_split_as_proposed_and_both_are_taken_back_by_keys(
    served: Served, visit: Visit, leaf: Category
):
    page = visit(f"{served()}/tree?cat={leaf.id}")
    title = page.get_by_role("heading", name="Cellar and garden")
    expect(title).to_be_visible()
    entries = page.evaluate("history.length")

    press(page, "Rename")
    name = page.get_by_role("textbox", name="Name", exact=True)
    name.fill("Store")
    name.press("Enter")
    expect(page.get_by_text("What this would do")).to_be_visible()
    expect(title).to_be_visible()  # nothing has happened yet
    do(page, "rename", leaf)
    expect(page.get_by_role("heading", name="Store")).to_be_visible()

    page.reload()
    press(page, "Undo")
    expect(page.get_by_text("The undo takes this back")).to_be_visible()
    press(page, "Undo it")
    expect(title).to_be_visible()

    press(page, "Split")
    page.get_by_text("Ask the model").click()
    press(page, "Get suggestions")
    expect(page.get_by_text("Why, in the model's words")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_text("Chunks moved: 3")).to_be_visible()
    do(page, "split", leaf)
    expect(page.get_by_test_id("stMetricValue").first).to_have_text("3")
    press(page, "Undo")
    press(page, "Undo it")
    expect(page.get_by_test_id("stMetricValue").first).to_have_text("6")
    assert page.evaluate("history.length") == entries  # one press of Back still leaves the page


def press(page: Page, name: str) -> None:
    """Focus the button and press the key."""
    _key(page, page.get_by_role("button", name=name, exact=True).or_(page.get_by_role("radio", name=name, exact=True)).first)


def do(page: Page, verb: str, leaf: Category) -> None:
    """Wait for the preview and press its button."""
    _key(page, page.locator(f"[class*=st-key-edit-{verb}-{leaf.id}][class*=-do] button"))


def _key(page: Page, button: Locator) -> None:
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(button).to_be_enabled()
    button.press("Enter")
