"""Chat in a real browser: words stream, cite their sources, can be stopped, and leave facts behind."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import fake_openai as fake
from app_browser import BAKERY, FESTIVAL, PATIENCE_MS, Served, Visit, becomes
from memoir_engine import Memory

Held = tuple[fake.FakeOpenAI, threading.Event]
MOVED = "I live in Lyon with my sister Ada and I work as a cook at the harbour inn."
QUESTION = "What surplus did the harbour festival earn?"


@pytest.fixture
def filled(tmp_path: Path) -> None:
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text(BAKERY, name="bakery.txt").raise_for_error()
        memory.ingest_text(FESTIVAL, name="festival.txt").raise_for_error()


def begin(page: Page) -> None:
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_placeholder("Say or ask something")).to_be_visible(timeout=PATIENCE_MS)


def say(page: Page, text: str) -> None:
    box = page.get_by_placeholder("Say or ask something")
    box.fill(text)
    box.press("Enter")


def test_two_messages_are_answered_with_what_was_shown_and_leave_facts_behind(filled: None, served: Served, visit: Visit):
    page = visit(f"{served()}/conversations")
    page.set_viewport_size({"width": 900, "height": 940})
    begin(page)
    say(page, MOVED)
    shown = page.locator(".st-key-conv-message")
    expect(shown).to_be_visible(timeout=PATIENCE_MS)
    say(page, QUESTION)
    expect(page.locator(".message .text").last).to_contain_text("8,450 euros", timeout=PATIENCE_MS)
    expect(shown).to_contain_text("Shown to the model for this answer", timeout=PATIENCE_MS)
    expect(shown).to_contain_text("festival")
    page.locator(".message.ai .cite").last.click()
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("festival.txt", timeout=PATIENCE_MS)
    expect(drawer.locator(".focus")).to_contain_text("8,450 euros", timeout=PATIENCE_MS)
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0, timeout=PATIENCE_MS)
    page.locator(".st-key-conv-close button").click()
    page.locator(".st-key-conv-facts summary").click()
    page.get_by_role("button", name="Extract facts").click()
    expect(page.locator(".st-key-conv-facts")).to_contain_text("Lives in Lyon with their sister Ada", timeout=PATIENCE_MS)
    becomes(lambda: page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 900, True)


def test_a_turn_that_is_stopped_keeps_what_was_asked_and_the_talk_goes_on(served: Served, visit: Visit, held: Held):
    server, gate = held
    page = visit(served(MEMOIR_MODEL="lmstudio:local-model", LMSTUDIO_BASE_URL=server.url) + "/conversations")
    begin(page)
    server.say(fake.Held(gate, "Noted."))
    say(page, MOVED)
    server.wait_for(1)
    stop = page.get_by_role("button", name="Stop", exact=True).and_(page.locator("[class*=st-key-talk-stop] button"))
    stop.click()
    expect(stop).to_have_count(0, timeout=PATIENCE_MS)
    expect(page.locator(".message .text").first).to_have_text(MOVED, timeout=PATIENCE_MS)
    gate.set()
    page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    server.say("You cook at the harbour inn.")
    say(page, "And where do I work?")
    expect(page.locator(".message .text").last).to_have_text("You cook at the harbour inn.", timeout=PATIENCE_MS)
    expect(page.locator(".message .text", has_text="And where do I work?")).to_have_count(1)
