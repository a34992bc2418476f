"""The wheel, built from a copy of the source and unpacked. Needs neither network nor git."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from machine import REPOSITORY

PACKAGES = ("memoir_engine", "memoir_offline")
APP = ("app.py", "pages", "ui", ".streamlit/config.toml")
PROJECT = ("pyproject.toml", "README.md", "LICENSE")
BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"


def unpack(folder: Path) -> Path:
    """Build the wheel from a copy of the source, so that nothing is written into it, and unpack it."""
    source, built, target = (folder / name for name in ("source", "built", "unpacked"))
    for name in (*PROJECT, *PACKAGES, *APP):
        _copy(REPOSITORY / name, source / name)
    built.mkdir()
    subprocess.run([sys.executable, "-c", BUILD, str(built)], cwd=source, capture_output=True, text=True, timeout=300, check=True)
    (wheel,) = built.glob("*.whl")
    with ZipFile(wheel) as packed:
        packed.extractall(target)
    return target


def away_from_the_source(unpacked: Path, *more: str) -> dict[str, str]:
    """Return an environment in which Python finds the unpacked wheel before anything else."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(unpacked), *more)), "PYTHONDONTWRITEBYTECODE": "1"}


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, to, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(path, to)
