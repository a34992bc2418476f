"""The app as a stranger has it: installed from the wheel, opened by one command, away from the repository."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

import machine
from app_browser import PATIENCE_MS, wait_for_health
from wheels import away_from_the_source, unpack


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def keys_heard() -> Iterator[None]:
    """Processes started now are interrupted by SIGINT, also where this one was started to ignore it, as behind a shell's `&`."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.full("builds a wheel, and starts an app of its own")
@pytest.mark.usefixtures("keys_heard")
@pytest.mark.parametrize(
    ("command", "seen", "stop"),
    [("app", "Explore the sample memory", signal.SIGTERM), ("demo", "What it is about", signal.SIGINT)],
    ids=["app", "demo"],
)
def test_one_command_opens_the_app_and_ends_with_it(
    unpacked: Path, tmp_path: Path, visit, command: str, seen: str, stop: signal.Signals
):
    port = machine.free_port()
    words = [command, "--port", str(port), "--data-dir", str(tmp_path / "memory")]
    settings = away_from_the_source(unpacked) | {"MEMOIR_MODEL": "offline"}
    with subprocess.Popen([sys.executable, "-m", "memoir_engine.api.cli", *words], cwd=tmp_path, env=settings) as process:
        try:
            wait_for_health(f"http://localhost:{port}", process)
            page = visit(f"http://localhost:{port}")
            expect(page.get_by_text(seen).first).to_be_visible(timeout=PATIENCE_MS)
            font = page.locator(".stApp").evaluate("of => getComputedStyle(of).fontFamily")
        finally:
            process.send_signal(stop)
    with socket.create_server(("127.0.0.1", port)):  # nobody was left behind on it
        pass
    assert (process.returncode, font.split(",")[0]) == (0, "Inter")
