"""Pages at several window widths in a real browser: nothing is alone in a row, no half of a page is empty."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_browser import PATIENCE_MS, Served, Visit, becomes
from memoir_engine import Memory

WIDTHS = (1440, 1280, 1180, 1024, 900)
PARTS = """() => [...document.querySelectorAll('.stGrid[class*=st-key-sides]')].map(grid => ({
  whole: grid.getBoundingClientRect().width,
  parts: [...grid.querySelectorAll(':scope > .stGridCell')].map(part => part.getBoundingClientRect())
    .map(box => ({top: box.top, width: box.width})),
}))"""
FILLED = f"""() => {{
  const grids = ({PARTS})();
  return grids.length > 0 && grids.every(({{whole, parts: [one, other]}}) => other && (one.top === other.top
    ? one.width + other.width < whole && one.width + other.width > whole - 60
    : Math.abs(one.width - whole) < 2 && Math.abs(other.width - whole) < 2));
}}"""


@pytest.fixture
def asked(tmp_path: Path) -> str:
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text("Bed 4 of the garden is watered from the barrel by the shed. " * 12, name="beds.txt").raise_for_error()
        return memory.query("Where is bed 4 watered from?").raise_for_error().run_id


def one_row(page: Page, *keys: str) -> bool:
    boxes = [page.locator(f".st-key-{key}").bounding_box() for key in keys]
    middles = [box["y"] + box["height"] / 2 for box in boxes if box]
    return len(middles) == len(keys) and max(middles) - min(middles) < 4


@pytest.mark.full("a flow of the browser with other values")
def test_two_parts_stand_side_by_side_or_each_is_as_wide_as_the_page(asked: str, served: Served, visit: Visit):
    url = served()
    for place in ("sources", "sources?src=1", "activity"):
        page = visit(f"{url}/{place}")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.wait_for_function(FILLED, timeout=PATIENCE_MS).json_value()


def test_all_that_is_done_with_a_question_stands_in_one_row(asked: str, served: Served, visit: Visit):
    page = visit(f"{served()}/ask?run={asked}")
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_role("button", name="Copy link")).to_be_visible(timeout=PATIENCE_MS)
    becomes(lambda: one_row(page, "ask-new", "ask-same", "ask-along", "ask-link"), True)
    page.get_by_role("button", name="Export").click()
    for name in ("Web page (HTML)", "Data (JSON)", "Answer and calls (JSON)"):
        with page.expect_download(timeout=PATIENCE_MS) as waited:
            page.get_by_role("button", name=name).click()
        assert waited.value.path().stat().st_size > 1000
