"""A wrong reply of an agent in a real browser: reported below it, and resolved in review beside the facts that it was given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app_browser import PATIENCE_MS, Served, Visit, fill
from memoir_engine import AgentClient, Memory, Reply


@pytest.fixture
def reply(tmp_path: Path) -> Reply:
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        for content in ("Lives in Lyon", "Works as a nurse", "Drinks green tea"):
            memory.facts.add(content)
        with AgentClient(memory=memory) as agent:
            return agent.query("Where do I live?")


def test_a_wrong_reply_goes_from_its_report_to_the_correction_that_mended_it(
    served: Served, visit: Visit, reply: Reply, tmp_path: Path
):
    url = served(MEMOIR_REVIEWER="")
    talking = visit(f"{url}/conversations?session={reply.session_id}&as=Vi")
    expect(talking.get_by_text("Is the last reply right?")).to_be_visible(timeout=PATIENCE_MS)
    talking.get_by_role("button", name="This answer is wrong").click()
    fill(talking, "Reason", "I moved to Bern.")
    talking.get_by_role("button", name="Send report").click()
    expect(talking.get_by_text("You reported that this answer is wrong.")).to_be_visible(timeout=PATIENCE_MS)

    reviewing = visit(f"{url}/review?of=answers&as=Ada")
    report = reviewing.locator(".st-key-report")
    expect(report.get_by_text("Vi says that this answer is wrong")).to_be_visible(timeout=PATIENCE_MS)
    expect(report.get_by_text("I moved to Bern.")).to_be_visible()
    expect(report.locator(".st-key-fb-reply")).to_contain_text(reply.text[:40])
    expect(report.locator(".st-key-fb-given")).to_contain_text("Lives in Lyon")

    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        lyon = next(fact for fact in memory.facts.list() if fact.content == "Lives in Lyon")
        mended = memory.acting_as("Ada", roles=("auditor", "admin")).facts.correct(lyon.id, "Lives in Bern")
    reviewing.reload()
    expect(report.get_by_role("combobox", name="Mended by")).to_have_value(
        re.compile("^Corrected a fact, Ada, "), timeout=PATIENCE_MS
    )
    reviewing.get_by_role("button", name="Resolve report").click()
    expect(reviewing.get_by_text("No open reports")).to_be_visible(timeout=PATIENCE_MS)
    talking.reload()
    expect(talking.get_by_text("Ada mended this on")).to_be_visible(timeout=PATIENCE_MS)
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        (said,) = memory.feedback.of(reply.run_id)
        assert said.settlement is not None and said.settlement.mended_by is not None
        assert said.settlement.mended_by.action_id == mended.action_id
        assert memory.audit.verify().ok
