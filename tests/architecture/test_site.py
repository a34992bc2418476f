"""The site of docs/ is built without a broken link, holds every page, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from machine import REPOSITORY
from scripts import site_hooks

PAGES = sorted(path.relative_to(REPOSITORY / "docs") for path in (REPOSITORY / "docs").rglob("*.md"))
LOADED = re.compile(
    r"<(?:script|img|iframe|source|embed|link(?![^>]*rel=\"?canonical))\b[^>]*?(?:src|href)=\"?(?:https?:)?//[^\s>]+"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it as `make site` does. Not with --quiet, under which mkdocs counts no warning, so that --strict never fails."""
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(built)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return built


def test_every_page_of_the_documents_is_on_the_site_under_its_name(site: Path):
    names = [page.with_name("index.md") if page.name == "README.md" else page for page in PAGES]
    assert [str(name) for name in names if not (site / name).with_suffix(".html").is_file()] == []


def test_a_page_that_nobody_put_into_the_menu_stands_under_more():
    assert site_hooks.menu(["index.md", "new.md", "decisions/0001-a.md"]) == [
        {"Start": ["index.md"]},
        {"Decisions": ["decisions/0001-a.md"]},
        {"More": ["new.md"]},
    ]


def test_no_page_loads_anything_from_elsewhere(site: Path):
    loaded = {hit for page in site.rglob("*.html") for hit in LOADED.findall(page.read_text(encoding="utf-8"))}
    styles = "\n".join(style.read_text(encoding="utf-8") for style in site.rglob("*.css"))
    assert loaded == set()
    assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//[^)]*", styles) == []


def test_links_to_files_beside_the_documents_lead_to_their_page_or_are_words():
    text = "[roles](../README.md#who-may-do-what), [map](architecture.md), [code](../app.py), [site](https://example.org)"
    relinked = site_hooks.relinked(text, of="docs/security.md", at="security.md")
    assert relinked == "[roles](readme.md#who-may-do-what), [map](architecture.md), code, [site](https://example.org)"


def test_make_site_and_this_test_build_in_strict_mode_and_hear_warnings():
    (command,) = re.findall(r"mkdocs build.*", (REPOSITORY / "Makefile").read_text(encoding="utf-8"))
    assert command == "mkdocs build --strict"
