"""An answer shared by who asked, opened by another who signed in, and closed again; in three browsers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app_browser import BAKERY
from memoir_engine import Memory
from oidc import Provider

QUESTION = "When is bread baked?"
SignIn = Callable[[str], Page]


@pytest.fixture
def people(served: Any, chromium: Browser, tmp_path: Path) -> Iterator[tuple[str, SignIn]]:
    """Yield the address of an app in which people sign in, and what signs one in, in a browser of their own."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text(BAKERY, name="bakery.txt").raise_for_error()
    pages: list[Page] = []
    with Provider(email_verified=True) as provider:
        served.secrets = provider.secrets
        url = served(MEMOIR_ROLES='{"aud@example.org": ["auditor"]}')

        def sign_in(name: str) -> Page:
            provider.person |= {"email": f"{name}@example.org", "name": name.title(), "sub": name}
            page = chromium.new_context(viewport={"width": 1500, "height": 940}).new_page()
            pages.append(page)
            page.goto(url)
            page.get_by_role("button", name="Sign in").click()
            expect(page.locator(".st-key-who")).to_contain_text(name.title())
            return page

        yield url, sign_in
        for page in pages:
            page.context.close()


def asked(page: Page, url: str) -> str:
    """Ask on the Ask page; return the address of the answer."""
    page.goto(f"{url}/ask")
    expect(page.locator(".stMain")).to_contain_text("Your questions are yours")
    page.get_by_label("Question", exact=True).fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".st-key-sharing")).to_contain_text("Only you see it")
    expect(page.locator(".st-key-answer")).to_contain_text("Tuesday")
    return page.url


def test_a_shared_link_opens_for_another_and_no_more_once_it_is_closed(people: tuple[str, SignIn]):
    url, sign_in = people
    ana, ben = sign_in("ana"), sign_in("ben")
    link = asked(ana, url)

    ben.goto(link)
    expect(ben.locator(".stMain")).to_contain_text("There is no run")
    ben.goto(f"{url}/ask")
    expect(ben.get_by_label("Question", exact=True)).to_be_visible()
    expect(ben.locator(".st-key-asked")).to_have_count(0)  # no earlier questions: none are Ben's

    ana.get_by_role("button", name="Share this answer").click()
    ana.get_by_text("for 7 days", exact=True).click()
    expect(ana.get_by_role("radio", name="for 7 days")).to_be_checked()
    ana.get_by_role("button", name="Share it", exact=True).click()
    expect(ana.locator(".st-key-sharing")).to_contain_text("everybody who signs in here can open its link")
    ben.goto(link)
    expect(ben.locator(".st-key-sharing")).to_contain_text("ana@example.org shared this answer")
    expect(ben.locator(".st-key-sharing")).to_contain_text("until")
    expect(ben.locator(".st-key-answer")).to_contain_text("Tuesday")
    expect(ben.get_by_role("button", name="Stop sharing")).to_have_count(0)

    ana.get_by_role("button", name="Stop sharing").click()
    expect(ana.locator(".st-key-sharing")).to_contain_text("You stopped sharing it")
    ben.goto(link)
    expect(ben.locator(".stMain")).to_contain_text("This answer is no longer shared: its link was closed")
    assert "Tuesday" not in ben.locator("body").inner_text()
    assert QUESTION not in ben.locator("body").inner_text()
    ben.goto(f"{link}&replay=1")
    expect(ben.locator(".stMain")).to_contain_text("This answer is no longer shared")

    aud = sign_in("aud")
    aud.goto(link)
    expect(aud.locator(".st-key-sharing")).to_contain_text("The question of ana@example.org")
    expect(aud.locator(".st-key-answer")).to_contain_text("Tuesday")
