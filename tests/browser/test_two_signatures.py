"""Two reviewers in a real browser: what the first decides takes effect when the second signs it, and not under another tab."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from app_browser import PATIENCE_MS, Served, Visit, fill
from app_review import Desk
from memoir_engine import Memory

TWO = '{"filings": 1}'
TEXTS = (
    "Red wine is aged in oak barrels, and the wine rests in bottles.",
    "The harbour festival earned a surplus of 8,450 euros.",
)


@pytest.fixture
def filed(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    with Memory(data_dir=folder, model="offline", chunk_min_tokens=5, chunk_max_tokens=30) as memory:
        for number, text in enumerate(TEXTS):
            memory.ingest_text(text, name=f"{number}.txt").raise_for_error()
    return folder


def test_two_reviewers_sign_one_decision_and_one_alone_cannot(served: Served, visit: Visit, filed: Path):
    url = served(MEMOIR_REVIEWER="", MEMOIR_TWO_SIGNATURES=TWO, MEMOIR_CHUNK_MIN_TOKENS="5", MEMOIR_CHUNK_MAX_TOKENS="30")
    first = Desk(visit(f"{url}/review?as=Ada"))
    first.ready()
    first.press("a")
    expect(first.page.locator(".notice")).to_contain_text("Recorded as the first signature", timeout=PATIENCE_MS)
    other_tab = visit(f"{url}/review?of=together&as=Ada")
    expect(other_tab.get_by_text("You decided first: approve.")).to_be_visible(timeout=PATIENCE_MS)
    expect(other_tab.get_by_role("button", name="Sign as the second")).to_have_count(0)

    second = visit(f"{url}/review?of=together&as=Ben")
    expect(second.get_by_text("Ada decided first: approve.")).to_be_visible(timeout=PATIENCE_MS)
    second.get_by_role("button", name="Sign as the second").click()
    expect(second.get_by_text("Nothing waits for a second person")).to_be_visible(timeout=PATIENCE_MS)

    other_tab.reload()
    expect(other_tab.locator(".st-key-notice")).to_contain_text("Ben signed what you decided first", timeout=PATIENCE_MS)
    with Memory(data_dir=filed, model="offline") as memory:
        (item,) = memory.review.queue(state="approved").items
        assert memory.review.remarks(item.key).signed == ("Ada", "Ben")
        assert memory.audit.verify().ok


def test_a_comment_below_an_item_is_seen_by_whom_it_mentions(served: Served, visit: Visit, filed: Path):
    url = served(MEMOIR_REVIEWER="", MEMOIR_CHUNK_MIN_TOKENS="5", MEMOIR_CHUNK_MAX_TOKENS="30")
    writing = visit(f"{url}/review?as=Ada")
    fill(writing, "Comment", "Law or tax, @Ben?")
    writing.locator("[class*=st-key-together-] button", has_text="Send").click()
    expect(writing.get_by_text("Law or tax, @Ben?")).to_be_visible(timeout=PATIENCE_MS)
    reading = visit(f"{url}/?as=Ben")
    notice = reading.locator(".st-key-notice")
    expect(notice).to_contain_text("Ada mentioned you in a comment.", timeout=PATIENCE_MS)
    notice.get_by_role("button", name="Open").click()
    expect(reading.get_by_text("Law or tax, @Ben?").last).to_be_visible(timeout=PATIENCE_MS)
