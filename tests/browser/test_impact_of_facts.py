"""What would change? For facts and for filings in review: seen before it is decided, and found in the report of the action."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from app_browser import PATIENCE_MS, Served, Visit, fill, ready
from app_review import SMALL, Desk, opened
from app_review import fill as fill_memory
from memoir_engine import Memory

SAID = (
    *("Mia lives in Lyon", "The cat of Mia is called Pixel", "Mia works at Initech as a nurse", "Mia drinks green tea"),
    *("Mia plays the violin in a quartet", "Mia is allergic to walnuts", "Mia has a brother called Paul"),
    *("Mia reads crime novels", "Mia is training for a marathon", "Mia speaks Portuguese", "Mia collects old stamps"),
)
QUESTIONS = "Where does Mia live?\nWhat is the name of her cat?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        for content in SAID:
            memory.facts.add(content, "mia")
        lives = memory.facts.list("mia")[-1].id
        memory.facts.suggest("correct", lives, "Mia lives in Bern")
    return tmp_path / "memory"


def lyon(folder: Path) -> str:
    with Memory(data_dir=folder, model="offline") as memory:
        return next(fact.id for fact in memory.facts.list("mia") if fact.content == SAID[0])


def ask(page: Page, fold: Locator, questions: str) -> None:
    """Ask one's own questions in an open fold, and wait until one of them flips and the other stays."""
    fold.get_by_role("textbox", name="One question per line").fill(questions)
    fold.locator("[class*=-impact-go] button").click()
    expect(fold).to_contain_text("1 would change", timeout=PATIENCE_MS)
    expect(fold).to_contain_text("1 stays")


def reported(page: Page, *words: str) -> None:
    """Find what was seen with the newest action, and in its report."""
    kept = page.locator(".st-key-act-seen")
    expect(kept).to_contain_text("1 would change", timeout=PATIENCE_MS)
    page.locator("[class*=st-key-report-action] button").first.click()
    with page.expect_download() as download:
        page.locator(".st-key-report-action-html button").click()
    report = Path(download.value.path()).read_text(encoding="utf-8")
    assert "What its maker saw would change" in report
    assert all(each in report for each in words)


def newest_action(folder: Path, **settings: Any) -> str:
    with Memory(**{"data_dir": folder, "model": "offline", **settings}) as memory:
        return memory.audit.actions(limit=1)[0].action_id


def test_a_correction_flips_one_recall_and_what_was_seen_is_in_its_report(folder: Path, served: Served, visit: Visit):
    url = served()
    page = visit(f"{url}/facts?user=mia&fact={lyon(folder)}&edit=correct")
    fill(page, "Fact", "Mia lives in Basel")
    fold = page.locator("[class*=st-key-fact-edit-look]").first
    expect(fold).to_be_visible(timeout=PATIENCE_MS)
    fold.get_by_text("What would change?").click()
    ask(page, fold, QUESTIONS)
    item = fold.locator("[class*=-item]").first
    expect(item).to_contain_text("Where does Mia live?")
    expect(item).to_contain_text("Mia lives in Basel")
    page.locator(".st-key-fact-edit-do button").click()
    expect(page.locator(".st-key-undo-banner")).to_be_visible(timeout=PATIENCE_MS)
    reported(visit(f"{url}/activity?action={newest_action(folder)}"), "Mia lives in Basel", "Where does Mia live?")


def test_a_proposal_approved_in_review_by_its_key_keeps_what_was_seen(folder: Path, served: Served, visit: Visit):
    url = served()
    page = visit(f"{url}/review?of=facts")
    desk = Desk(page)
    desk.ready()
    fold = page.locator("[class*=st-key-rv-look-proposal]").first
    fold.get_by_text("What would change?").click()
    ask(page, fold, QUESTIONS)
    expect(fold.locator("[class*=-item]").first).to_contain_text("Mia lives in Bern")
    desk.press("a")
    expect(page.locator(".review")).to_contain_text("Undo", timeout=PATIENCE_MS)
    desk.saved()
    action = newest_action(folder)
    reported(visit(f"{url}/activity?action={action}"), "Mia lives in Bern")


def test_a_chunk_filed_elsewhere_in_review_keeps_what_was_seen(tmp_path: Path, served: Served, visit: Visit):
    folder = tmp_path / "memory"
    fill_memory(folder, 6)
    with opened(folder) as memory:
        leaves = [leaf for leaf in memory.tree.all() if leaf.is_leaf]
        first = memory.review.queue().items[0]
    target = next(leaf for leaf in leaves if leaf.id != first.category_id)
    url = served()
    page = visit(f"{url}/review")
    desk = Desk(page)
    desk.ready()
    fold = page.locator("[class*=st-key-rv-look-]").first
    fold.get_by_text("What would change?").click()
    fill(page, "Search categories", target.name)
    expect(fold.get_by_role("combobox", name="Move to")).to_have_value(re.compile(re.escape(target.name)), timeout=PATIENCE_MS)
    ready(page)
    own = fold.get_by_role("radio", name="My own").or_(fold.get_by_role("button", name="My own"))
    own.first.click()
    ask(page, fold, f"{first.text}\nWho plays the trombone?")
    desk.press("r")
    page.keyboard.type(" ".join(target.path))
    expect(page.get_by_role("option", name=target.name).first).to_be_visible(timeout=PATIENCE_MS)
    page.keyboard.press("Enter")
    expect(desk.box).not_to_have_attribute("data-key", first.key, timeout=PATIENCE_MS)
    desk.saved()
    reported(visit(f"{url}/activity?action={newest_action(folder, **SMALL)}"), "Who plays the trombone?")
    with opened(folder) as memory:
        assert memory.audit.actions(limit=1)[0].verb == "refile" and memory.audit.verify().ok
