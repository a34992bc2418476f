"""A model chosen in the browser: a wrong key, a right one, the switch, and a model by its name, on a server of our own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

import fake_openai as fake
from app_browser import Served, Visit, fill

RIGHT, WRONG = "sk-right-key-0123456789", "sk-wrong-key-9876543210"


@pytest.fixture
def server() -> Iterator[fake.FakeOpenAI]:
    """Serve a model to whoever sends the right key, and one that needs none."""
    refused = fake.Status(401, "Incorrect API key provided", "invalid_api_key")
    with fake.FakeOpenAI() as server:
        server.otherwise(lambda seen: refused if seen.authorization == f"Bearer {WRONG}" else fake.offline(seen))
        yield server


@pytest.fixture
def settings(served: Served, visit: Visit, server: fake.FakeOpenAI) -> Page:
    return visit(f"{served(OPENAI_BASE_URL=server.url, LMSTUDIO_BASE_URL=server.url, OPENAI_API_KEY='')}/settings")


def choose(page: Page, typed: str) -> None:
    field = page.get_by_role("combobox", name="Model to use")
    field.fill(typed)
    field.press("Enter")


def enter(page: Page, key: str) -> None:
    fill(page, "API key", key)
    page.locator(".st-key-keep-key button").click()


def test_a_wrong_key_is_refused_a_right_one_kept_and_the_model_switched(settings: Page):
    card = settings.locator(".st-key-model")
    choose(settings, "openai:gpt-4o-mini")
    expect(card).to_contain_text("$0.15 for a million tokens in, $0.60 for a million out")
    expect(card.get_by_role("button", name="Use this model")).to_be_disabled()
    enter(settings, WRONG)
    expect(card).to_contain_text("refused the API key")
    expect(card).to_contain_text("This model needs a key")
    enter(settings, RIGHT)
    expect(card).to_contain_text("A key was entered here")
    expect(card).to_contain_text("answered in")
    assert RIGHT not in settings.content() and WRONG not in settings.content()
    card.get_by_role("button", name="Use this model").click()
    expect(settings.locator(".st-key-foot-model")).to_contain_text("gpt-4o-mini")
    card.get_by_role("button", name="Forget this key").click()
    expect(card).not_to_contain_text("A key was entered here")
    settings.get_by_role("link", name="Activity", exact=True).click()
    expect(settings.locator("[class*=st-key-act-row-]").first).to_contain_text("model")


def test_a_model_that_no_list_has_is_chosen_by_its_name(settings: Page):
    choose(settings, "lmstudio:our-own-model")
    card = settings.locator(".st-key-model")
    card.get_by_role("button", name="Test the model").click()
    expect(card).to_contain_text("our-own-model answered in")
    card.get_by_role("button", name="Use this model").click()
    expect(settings.locator(".st-key-foot-model")).to_contain_text("our-own-model")


def test_a_name_of_no_model_is_told(settings: Page):
    choose(settings, "x" * 201)
    expect(settings.locator(".st-key-model").get_by_role("alert")).to_be_visible()
    expect(settings.get_by_role("button", name="Use this model")).to_have_count(0)
