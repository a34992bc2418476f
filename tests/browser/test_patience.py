"""What the other tests do in the browser, they do on a page at rest, and what is drawn twice for a moment they look at again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

DRAWN_AGAIN = """
<div data-testid=stApp data-test-connection-state=CONNECTED data-test-script-state=running>
  <button>Go</button><p>first place</p><p>second place</p>
</div>
<script>
  const app = document.querySelector("[data-testid=stApp]");
  setTimeout(() => {
    app.innerHTML = "<button onclick='document.title = `heard`'>Go</button><p>second place</p>";
    app.dataset.testScriptState = "notRunning";
  }, 500);
</script>
"""


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """Yield a page that looks like the app while its script runs, which then draws it again and ends."""
    context = chromium.new_context()
    page = context.new_page()
    page.set_content(DRAWN_AGAIN)
    yield page
    context.close()


def test_a_press_waits_until_the_page_is_drawn(page: Page):
    page.get_by_role("button", name="Go").click()
    expect(page).to_have_title("heard")


def test_what_stands_at_two_places_for_a_moment_is_looked_at_again(page: Page):
    expect(page.locator("p")).to_have_text("second place")
