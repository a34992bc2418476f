"""Adding a fact and recalling among a hundred thousand, as in `facts`; runs only when named."""

from __future__ import annotations

from typing import Any

from benchmarks import facts
from benchmarks.frame import Size

FEATURES = ("facts",)
ONLY_BY_NAME = True  # filling takes a quarter of an hour
FACTS = {"full": (0, 100_000), "small": (0, 20)}


def main(size: Size) -> dict[str, Any]:
    return facts.among(FACTS[size], size, most_growth=None)
