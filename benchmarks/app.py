"""The app as a user starts it, in its own process, and a browser that visits it.

Invariant: the process has a data folder and a port of its own, and is ended with everything it started.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.frame import ROOT

READY = """heading => {
  const app = document.querySelector('[data-testid=stApp]');
  return app && app.dataset.testConnectionState === 'CONNECTED' && app.dataset.testScriptState === 'notRunning'
    && document.querySelector('[data-testid=stMainBlockContainer] [data-testid=stElementContainer]')
    && !document.querySelector('[data-testid=stSkeleton],[data-stale="true"]')
    && [...document.querySelectorAll('[data-testid=stMainBlockContainer] h1')]
         .some(found => found.innerText.toLowerCase().includes(heading));
}"""
MOST_S = 120.0
POLL_S = 0.02
COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}  # bytecode is kept between starts, as it is for a user
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
LIBRARIES_THAT_CALL_HOME = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "ANONYMIZED_TELEMETRY": "False"}


@dataclass(frozen=True)
class App:
    url: str
    started: float  # of time.perf_counter


@contextmanager
def served(data_dir: Path) -> Iterator[App]:
    """Start the app on a free port, without waiting for it to answer."""
    port = _free_port()
    settings = {"MEMOIR_DATA_DIR": str(data_dir), "MEMOIR_MODEL": "offline"} | COMPILED | LIBRARIES_THAT_CALL_HOME
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless", "true"]
    started = time.perf_counter()
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | settings, stdout=quiet, stderr=quiet, stdin=quiet, start_new_session=True
    )
    try:
        yield App(f"http://127.0.0.1:{port}", started)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for_health(app: App) -> float:
    """Return the seconds from the start until /api/health answers."""
    while time.perf_counter() - app.started < MOST_S:
        try:
            with urllib.request.urlopen(f"{app.url}/api/health", timeout=5) as reply:
                if reply.status == 200:
                    return time.perf_counter() - app.started
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(POLL_S)
    raise TimeoutError(f"the app did not answer within {MOST_S:g} s")


@contextmanager
def browser_page(color_scheme: Literal["light", "dark"] = "light", locale: str = "en") -> Iterator[Any]:
    """Open a page of a headless Chromium: the machine's, else Playwright's. Raises if there is neither."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("MEMOIR_TEST_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=color_scheme, locale=locale)
        finally:
            browser.close()


def wait_until_drawn(page: Any, heading: str = "") -> None:
    """Wait until the script has ended, nothing is left to draw, and the page's title contains `heading`."""
    page.wait_for_function(READY, arg=heading.lower(), timeout=MOST_S * 1000, polling="raf")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
