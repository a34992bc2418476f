"""The hand and the eye of a person in the browser tests: they act on a page at rest, and look again at what is drawn twice.

Playwright waits until an element can be pressed; it knows nothing of a script that is still drawing the page around it. A press
in that moment falls on what is about to be replaced, and is lost; a thing that moves up stands at its old and its new place until
the script ends. Both are rare here and common on a slower machine.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Error, Locator, LocatorAssertions, Page, TimeoutError

if TYPE_CHECKING:
    import pytest

ACTS = ("check", "click", "fill", "focus", "press", "press_sequentially", "set_input_files", "uncheck")
RESTLESS_S = 20  # a page that never rests, since something is told on it all the time, is acted on all the same
LOOK_S = 0.05
AT_REST = """() => document.getAnimations().every(
  each => each.playState !== 'running' || each.effect.getComputedTiming().iterations === Infinity)"""
STILL = f"""() => {{
  const app = document.querySelector('[data-testid=stApp]');
  return (!app || app.dataset.testConnectionState === 'CONNECTED' && app.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-testid=stSkeleton], [data-stale="true"]')) && ({AT_REST})();
}}"""


def become_patient(patch: pytest.MonkeyPatch) -> None:
    """Make every action wait for a page at rest, and every expectation look again where two things matched."""
    for name in ACTS:
        patch.setattr(Locator, name, _at_rest(getattr(Locator, name)))
    for name in dir(LocatorAssertions):
        if name.startswith(("to_", "not_to_")):
            patch.setattr(LocatorAssertions, name, _looked_again(getattr(LocatorAssertions, name)))


def _rest(page: Page) -> None:
    with contextlib.suppress(TimeoutError):
        page.wait_for_function(STILL, timeout=RESTLESS_S * 1_000)


def _at_rest(act: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(act)
    def acts(self: Locator, *args: Any, **given: Any) -> Any:
        self.first.wait_for(state="attached", timeout=given.get("timeout"))
        _rest(self.page)
        return act(self, *args, **given)

    return _looked_again(acts)


def _looked_again(look: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(look)
    def looks(*args: Any, **given: Any) -> Any:
        until = time.monotonic() + RESTLESS_S
        while True:
            try:
                return look(*args, **given)
            except (AssertionError, Error) as problem:
                if "strict mode violation" not in str(problem) or time.monotonic() > until:
                    raise
            time.sleep(LOOK_S)

    return looks
