"""A search in a real browser: live re-ranking, a result opened in its source, and the notice of a word-only search."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, expect

from app_browser import PATIENCE_MS, Served, Visit
from memoir_engine import Memory

QUERY = "harbour festival treasurer"
SUBJECTS = (
    "The harbour festival earned a surplus, and the board decided to repair the quay.",
    "The treasurer keeps the accounts, pays the invoices and reports to the members every spring.",
    "Harbours along the coast hold festivities in summer; festive boats come in at high water.",
    "A treasury is no festival. Treasurers count, harbourmasters watch the water of the harbour.",
    "The festival of bread is held in the market hall, far from any harbour or boat.",
    "Boats are painted in spring and brought back to the harbour before the members meet.",
    "| Boat | Berth | Length |\n|---|---|---|\n| Ida | outer harbour | 9 m |\n| Jorun | quay | 7 m |",
)
WEIGHED = """(range, alpha) => {
  range.value = alpha;
  range.dispatchEvent(new Event('input'));
  return [...range.getRootNode().querySelectorAll('.name')].map((name) => name.textContent);
}"""


@pytest.fixture
def ranked(tmp_path: Path) -> dict[float, list[str | None]]:
    """Add the texts; return the engine's ranking by weight."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        for number, text in enumerate(SUBJECTS, start=1):
            memory.add_knowledge(f"text-{number}", text)
        return {alpha: [one.doc_id for one in memory.search(QUERY, top_k=10, alpha=alpha)] for alpha in (0.0, 0.5, 1.0)}


def ranking(rows: Locator, names: list[str]) -> None:
    """Wait until these stand there, in this order."""
    expect(rows.locator(".name")).to_have_text(names)


def test_the_ranking_moves_under_the_hand_as_the_engine_would_rank(ranked: dict[float, list], served: Served, visit: Visit):
    page = visit(f"{served()}/search")
    page.get_by_role("textbox", name="Search for").fill(QUERY)
    page.get_by_role("textbox", name="Search for").press("Enter")
    rows, weight = page.locator(".ranking ol"), page.get_by_role("slider", name="Weight of vectors")
    expect(rows.locator("li")).to_have_count(len(SUBJECTS), timeout=PATIENCE_MS)
    ranking(rows, ranked[0.5])
    assert ranked[0.0] != ranked[1.0]
    table = rows.locator("li.tabled")
    expect(table.locator("tr", has_text="Ida").locator("td")).to_have_text(["Ida", "outer harbour", "9 m"])
    expect(table.locator(".text")).not_to_contain_text("|")
    assert weight.evaluate(WEIGHED, 1) == ranked[1.0]  # in one breath: nobody was asked
    assert weight.evaluate(WEIGHED, 0) == ranked[0.0]

    weight.press("End")
    page.wait_for_url("**/search?*alpha=1", timeout=PATIENCE_MS)
    page.reload()
    expect(rows.locator("li")).to_have_count(len(SUBJECTS), timeout=PATIENCE_MS)
    ranking(rows, ranked[1.0])

    rows.locator(".name").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog")
    expect(drawer.locator("mark")).to_have_text(SUBJECTS[int(str(ranked[1.0][1])[-1]) - 1], timeout=PATIENCE_MS)
    expect(drawer.get_by_role("link", name="Open the source")).to_be_visible()


@pytest.mark.full("a flow of the browser with other values")
def test_words_alone_say_why_and_the_weight_rests(ranked: dict[float, list], served: Served, visit: Visit):
    page = visit(f"{served(MEMOIR_VECTOR_STORE='off')}/search?q={quote(QUERY)}")
    expect(page.get_by_text("Ranked by words only")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_text("vectors are switched off")).to_be_visible()
    expect(page.get_by_role("slider", name="Weight of vectors")).to_be_disabled()
    ranking(page.locator(".ranking ol"), ranked[0.0])
