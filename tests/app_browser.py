"""Helpers to use the app in a real browser as a person does: upload, wait, ask."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, Protocol

from playwright.sync_api import Locator, Page, expect

from patience import AT_REST

Visit = Callable[..., Page]
Served = Callable[..., str]

PATIENCE_MS = 120_000
START_S = 180
READY = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  return app && app.dataset.testConnectionState === 'CONNECTED' && app.dataset.testScriptState === 'notRunning'
    && document.querySelector('[data-testid=stMainBlockContainer] [data-testid=stElementContainer]')
    && !document.querySelector('[data-testid=stSkeleton], [data-stale="true"]');
}"""
BAKERY = (
    "The sourdough starter lives in the cold room and is fed twice a week with rye flour and water. "
    "Bread is baked on Tuesdays; the dough rests overnight and the oven is heated with beech wood. "
) * 14
FESTIVAL = (
    "The harbour festival earned a surplus of 8,450 euros, and the board decided to repair the quay. "
    "The treasurer keeps the accounts, pays the invoices and reports to the members every spring. "
) * 14


def ready(page: Page) -> None:
    """Wait until the script has run, nothing is stale, and nothing unfolds any more, beside which a press would fall."""
    page.wait_for_function(READY)
    page.wait_for_function(AT_REST)


def becomes(read: Callable[[], Any], wanted: Any) -> None:
    """Wait until what is read off the page is this: a place or a size is not final once its element is there."""
    until = time.monotonic() + PATIENCE_MS / 1_000
    while (seen := read()) != wanted:
        assert time.monotonic() < until, f"{seen!r}, not {wanted!r}"
        time.sleep(0.05)


def choose(page: Page, *files: tuple[str, str]) -> None:
    """Put files into the drop zone and wait until they can be started."""
    payload = [{"name": name, "mimeType": "text/plain", "buffer": text.encode()} for name, text in files]
    page.locator("[class*=st-key-upload-] input[type=file]").set_input_files(payload)
    expect(page.locator(".st-key-file-files button")).to_be_enabled(timeout=PATIENCE_MS)


def upload(page: Page, *files: tuple[str, str]) -> None:
    choose(page, *files)
    page.locator(".st-key-file-files button").click()


def wait_for_source(page: Page, name: str) -> None:
    card = page.locator("[class*=st-key-job-]", has_text=name)
    expect(card).to_contain_text("done", timeout=PATIENCE_MS)


def cells(within: Page | Locator, text: str) -> Locator:
    """Find table cells with exactly this text; tables are painted, with an accessible copy inside their canvas."""
    return within.locator("canvas td", has_text=re.compile(f"^{re.escape(text)}$"))


def pick(page: Page, label: re.Pattern[str], option: re.Pattern[str]) -> None:
    """Choose an option by keyboard."""
    page.get_by_role("combobox", name=label).press("ArrowDown")
    page.get_by_role("option", name=option).click()


def ask(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Question").fill(question)
    page.locator(".st-key-ask-go button").click()


def fill(page: Page, label: str, text: str) -> None:
    """Type into a field and leave it."""
    field = page.get_by_role("textbox", name=label)
    field.fill(text)
    field.press("Tab")


class _Process(Protocol):
    def poll(self) -> int | None: ...


def wait_for_health(url: str, process: _Process) -> None:
    """Wait until the app answers; fail when it has ended, or after START_S seconds."""
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/api/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError("the app did not start")
