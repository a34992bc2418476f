"""A wrong answer in a real browser, from the report beside it to its resolution and to the word that tells of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from app_browser import BAKERY, FESTIVAL, PATIENCE_MS, Served, Visit, fill
from memoir_engine import Memory


@pytest.fixture
def run_id(tmp_path: Path) -> str:
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text(BAKERY, name="bakery.md").raise_for_error()
        memory.ingest_text(FESTIVAL, name="accounts.md").raise_for_error()
        return memory.query("What did the harbour festival earn?").raise_for_error().run_id


def test_a_wrong_answer_goes_from_its_report_to_its_resolution_and_back_to_who_reported_it(
    served: Served, visit: Visit, run_id: str, tmp_path: Path
):
    url = served(MEMOIR_REVIEWER="")
    asking = visit(f"{url}/ask?run={run_id}&as=Vi")
    asking.get_by_role("button", name="This answer is wrong").click()
    fill(asking, "Reason", "It earned more than that.")
    asking.get_by_role("button", name="Send report").click()
    expect(asking.get_by_text("You reported that this answer is wrong.")).to_be_visible(timeout=PATIENCE_MS)

    reviewing = visit(f"{url}/review?of=answers&as=Ada")
    report = reviewing.locator(".st-key-report")
    expect(report.get_by_text("Vi says that this answer is wrong")).to_be_visible(timeout=PATIENCE_MS)
    expect(report.get_by_text("It earned more than that.")).to_be_visible()
    expect(report.get_by_text("How it was found")).to_be_visible()
    fill(reviewing, "Explanation", "The accounts say 8,450.")
    reviewing.get_by_role("button", name="Resolve report").click()
    expect(reviewing.get_by_text("No open reports")).to_be_visible(timeout=PATIENCE_MS)

    asking.reload()
    told = asking.locator(".st-key-notice")
    expect(told).to_contain_text("Ada answered your report", timeout=PATIENCE_MS)
    expect(told).to_contain_text("The accounts say 8,450.")
    told.get_by_role("button", name="Mark as read").click()
    expect(told).to_have_count(0, timeout=PATIENCE_MS)
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        assert [one.state for one in memory.feedback.of(run_id)] == ["explained"]
        assert memory.audit.verify().ok
