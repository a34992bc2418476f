"""Signing in with a provider, in a real browser: nothing before, one's name on every action, nothing after signing out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app_browser import BAKERY, PATIENCE_MS, fill
from memoir_engine import Memory
from oidc import Provider


@pytest.fixture
def filled(tmp_path: Path) -> None:
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text(BAKERY, name="bakery.txt").raise_for_error()


def text_of(page: Page) -> str:
    return page.locator("body").inner_text()


def test_nothing_is_seen_before_signing_in_and_each_action_carries_who_did_it(
    filled: None, served: Any, chromium: Browser, tmp_path: Path
):
    with Provider(email="ana@example.org", email_verified=True, name="Ana Silva") as provider:
        served.secrets = provider.secrets
        url = served(MEMOIR_ROLES='{"ana@example.org": ["auditor"]}')
        page = chromium.new_context(viewport={"width": 1500, "height": 940}).new_page()
        page.goto(f"{url}/sources?src=1")
        sign_in = page.get_by_role("button", name="Sign in")
        expect(sign_in).to_be_visible(timeout=PATIENCE_MS)
        assert "bakery" not in text_of(page)
        assert page.get_by_test_id("stSidebarNav").count() == 0

        sign_in.click()
        who = page.locator(".st-key-who")
        expect(who).to_contain_text("Ana Silva", timeout=PATIENCE_MS)
        expect(who).to_contain_text("auditor")
        page.goto(f"{url}/sources?src=1")
        page.get_by_role("tab", name="Description of the source").click()
        page.get_by_role("button", name="Write my own").click()
        fill(page, "What this source is", "It tells of bread.")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".st-key-src-helper")).to_contain_text("It tells of bread.", timeout=PATIENCE_MS)

        with page.expect_response(re.compile("/auth/logout")):  # it takes the cookie back; the page may show the way in before it
            page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible(timeout=PATIENCE_MS)
        page.goto(f"{url}/sources?src=1")
        expect(page.get_by_role("button", name="Sign in")).to_be_visible(timeout=PATIENCE_MS)
        assert "bakery" not in text_of(page)
        page.context.close()
    served.stop()
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        (recorded,) = memory.audit.actions(verb="record_roles")
        assert recorded.actor == "Memoir" and len(memory.audit.action(recorded.action_id).events) == 1, (
            "once, whoever and how often people sign in"
        )
        last = memory.audit.actions(limit=1)[0]
    assert (last.verb, last.actor) == ("set_helper", "ana@example.org")


def test_a_provider_that_cannot_be_reached_lets_nobody_in(filled: None, served: Any, chromium: Browser):
    with Provider(email="ana@example.org") as provider:
        served.secrets = provider.secrets
        url = served()
    page = chromium.new_context().new_page()
    page.goto(url)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile("/auth/login"), timeout=PATIENCE_MS)
    page.goto(f"{url}/sources")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible(timeout=PATIENCE_MS)
    assert "bakery" not in text_of(page)
    page.context.close()
