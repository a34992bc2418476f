"""Adding a fact, and recalling, when a user has a hundred thousand: as `facts` does it, and only when it is asked for by name."""

from __future__ import annotations

from typing import Any

from benchmarks import facts
from benchmarks.frame import Size

FEATURES = ("facts",)
ONLY_BY_NAME = True  # filling takes a quarter of an hour
FACTS = {"full": (0, 100_000), "small": (0, 20)}


def main(size: Size) -> dict[str, Any]:
    return facts.among(FACTS[size], size, most_growth=None)
