"""Age of a figure relative to the code it measures, from the history of git.

A benchmark names in `FEATURES` the rooms of the engine it is about; what it measures is the engine without the other features,
and the app too where it says `APP`. A room that is in no list counts for every benchmark: rather one mark too many.
Invariant: read when the table is written; without git, or without the commit in its history, that is said and nothing is marked.
"""

from __future__ import annotations

import importlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.frame import ROOT

ENGINE, APP = ("memoir_engine", "memoir_offline"), ("ui", "pages", "app.py")
FEATURES = ("agent", "audit", "conversations", "facts", "ingest", "langgraph", "query", "review", "search")
UNTOLD = "there is no history of git here that tells whether the code has changed since"


@dataclass(frozen=True)
class Age:
    """commit: the commit measured, "" if unknown. by_time: derived from the date, since no commit was recorded.

    changes: commits to the measured code since then; None without history. last: the latest of them, with its day.
    """

    commit: str
    by_time: bool = False
    changes: int | None = None
    last: str = ""

    @property
    def is_older(self) -> bool:
        return bool(self.changes)

    def __str__(self) -> str:
        taken = (self.commit.replace("+", ", with changes not committed") or "unknown") + (
            ", by its time" if self.by_time else ""
        )
        if self.changes is None:
            return f"Commit {taken}; {UNTOLD}."
        if not self.changes:
            return f"Commit {taken}; the code it measures is the same since."
        commits = "1 commit has" if self.changes == 1 else f"{self.changes} commits have"
        return f"Commit {taken}; older than the code it measures: {commits} changed it since, the last {self.last}."


def of(result: dict[str, Any], root: Path = ROOT) -> Age:
    """Return the age of a recorded result."""
    written = str(result.get("commit", ""))
    commit = written or _git(root, "log", "-1", "--format=%h", f"--before={result['taken_at']}")
    since = (
        _git(root, "log", "--format=%h of %cs", f"{commit.rstrip('+')}..HEAD", "--", *code(result["name"])) if commit else None
    )
    if since is None:
        return Age(commit or "", by_time=bool(commit) and not written)
    commits = since.splitlines()
    return Age(commit or "", not written, len(commits), commits[0] if commits else "")


def now(root: Path = ROOT) -> str:
    """Return the commit of the work tree, with a plus if tracked files have changed; "" without git."""
    commit = _git(root, "rev-parse", "--short=7", "HEAD")
    return "" if commit is None else commit + ("+" if _git(root, "status", "--porcelain", "--untracked-files=no") else "")


def code(name: str) -> list[str]:
    """Return git's pathspecs of the code that this benchmark measures."""
    benchmark = importlib.import_module(f"benchmarks.{name}")
    others = [feature for feature in FEATURES if feature not in benchmark.FEATURES]
    return [*ENGINE, *(APP if getattr(benchmark, "APP", False) else ()), *_without(others)]


def _without(features: list[str]) -> Iterator[str]:
    yield from (f":(exclude){engine}/{feature}" for engine in ENGINE for feature in features)


def _git(root: Path, *arguments: str) -> str | None:
    """Return git's output; None without git or without that history."""
    try:
        said = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.strip()
