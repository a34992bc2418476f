"""Public data sets beside the repository, and stand-in texts for use without them.

Invariant: a benchmark names the sets it reads in `READS` and reads them through `find` alone. Where one is absent, what was
measured is written down with its name, so that nobody takes a figure of the stand-in for one of the data; labels have no
stand-in, and what needs them is left out.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.frame import ROOT

FOLDER = ROOT.parent / "shared" / "data"
TEXTS, SENTENCES = 12, 60
TALKS, SITTINGS, TURNS = 3, 12, 16
SUBJECTS = {
    "garden": "tomatoes compost barrels bees watering gravel hedges seedlings mulch greenhouse orchard pruning",
    "harbour": "ferries quays fishermen lanterns tides cranes anchors pilots nets lighthouse cargo moorings",
    "school": "teachers pupils lessons classrooms timetables essays libraries holidays examinations chalk playground grades",
    "court": "judges witnesses verdicts appeals statutes lawyers evidence juries sentences clauses hearings precedents",
    "kitchen": "bakers ovens flour recipes kettles spices dough saucepans butter onions tables guests",
    "railway": "stations signals engines tickets platforms conductors bridges timetables tunnels carriages freight rails",
}
VERBS = "describe replace measure inspect finish repair collect question remember prepare compare divide".split()
CLOSINGS = ("before the winter", "in the second week", "with great care", "for the new members", "at the old price", "after all")


def find(name: str) -> Path | None:
    """Return the path of a file or folder of the data sets, such as "locomo/locomo_public3.json"; None if absent."""
    path = FOLDER / name
    return path if path.exists() else None


def absent(benchmark: ModuleType) -> list[str]:
    """List the sets a benchmark reads that are missing."""
    return [name for name in getattr(benchmark, "READS", ()) if find(name) is None]


def rows(name: str) -> list[dict[str, Any]]:
    """Read a file of JSON lines; empty if absent."""
    path = find(name)
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    return [json.loads(line) for line in lines if line]


def longtexts() -> dict[str, str]:
    """Return the long texts by name, in order; generated prose if they are absent."""
    folder = find("longtext")
    if folder is None:
        return {f"prose-{number}.txt": prose(number) for number in range(1, TEXTS + 1)}
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*")) if path.is_file()}


def prose(seed: int) -> str:
    """Generate reproducible sentences in paragraphs of five, each about one subject."""
    chance = random.Random(seed)
    paragraphs = [chance.choice(sorted(SUBJECTS)) for _ in range(SENTENCES // 5)]
    return "\n\n".join(" ".join(_sentence(chance, subject) for _ in range(5)) for subject in paragraphs)


def sittings() -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield (conversation, turns in LoCoMo's form) of generated talks, one subject per sitting."""
    chance = random.Random(20261123)
    for talk in range(TALKS):
        for sitting in range(SITTINGS):
            subject = sorted(SUBJECTS)[sitting % len(SUBJECTS)]
            yield talk, [{"speaker": ("Ada", "Ben")[turn % 2], "text": _sentence(chance, subject)} for turn in range(TURNS)]


def _sentence(chance: random.Random, subject: str) -> str:
    first, second, third = chance.sample(SUBJECTS[subject].split(), 3)
    verb = chance.choice(VERBS)
    return f"The {first} of the {subject} {verb} the {second} and the {third} {chance.choice(CLOSINGS)}."
