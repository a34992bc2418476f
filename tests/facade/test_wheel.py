"""The built wheel holds every file of the packages, and works without the source tree. Needs neither network nor git."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from machine import REPOSITORY

PACKAGES = ("memoir_engine", "memoir_offline")
PROJECT = ("pyproject.toml", "README.md", "LICENSE")
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
PROGRAM = """
import sys

import memoir_engine
import memoir_offline
import network

unpacked, folder = sys.argv[1:]
network.guard()
assert all(package.__file__.startswith(unpacked) for package in (memoir_engine, memoir_offline))
spoken = {
    "en": ("Tea is grown in Uji. The first harvest begins in May.", "When does the harvest begin?", "I live in Lyon."),
    "ja": ("宇治ではお茶が作られています。最初の収穫は五月に始まります。", "収穫はいつ始まりますか。", "京都に住んでいます。"),
}
for language, (text, question, said) in spoken.items():
    with memoir_engine.Memory(db_path=f"{folder}/{language}.db", data_dir=f"{folder}/{language}", model="offline") as memory:
        memory.ingest_text(text, name="tea.txt").raise_for_error()
        reply = memory.query(question).raise_for_error()
        assert reply.answer and [memory.sources.get(chunk.source_id).name for chunk in reply.chunks] == ["tea.txt"]
        facts = memory.remember([{"role": "user", "content": said}], user_id="ana").facts
        assert language != "en" or [fact.content for fact in facts] == ["Lives in Lyon"]
        assert memory.audit.verify().ok
assert network.attempts == []
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of the source, which a build writes into, and unpack it."""
    source, built, target = (tmp_path_factory.mktemp(name) for name in ("source", "built", "unpacked"))
    for name in PROJECT:
        shutil.copy(REPOSITORY / name, source)
    for name in PACKAGES:
        shutil.copytree(REPOSITORY / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-c", BUILD, str(built)], cwd=source, capture_output=True, text=True, timeout=120, check=True)
    (wheel,) = built.glob("*.whl")
    with ZipFile(wheel) as packed:
        packed.extractall(target)
    return target


def files(folder: Path) -> set[str]:
    paths = (path for name in PACKAGES for path in (folder / name).rglob("*"))
    return {str(path.relative_to(folder)) for path in paths if path.is_file() and "__pycache__" not in path.parts}


@pytest.mark.full("builds a wheel")
def test_it_holds_every_file_of_the_packages(unpacked: Path):
    assert files(unpacked) == files(REPOSITORY)


@pytest.mark.full("builds a wheel")
def test_it_works_offline_in_english_and_japanese_away_from_the_source(unpacked: Path, tmp_path: Path):
    path = os.pathsep.join((str(unpacked), str(REPOSITORY / "tests")))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", PROGRAM, str(unpacked), str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, env=environment, timeout=120, check=True)
