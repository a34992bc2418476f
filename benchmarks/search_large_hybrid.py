"""`search_large` with vectors beside the words. Runs only when named: it takes an hour and 15 GB of disk."""

from __future__ import annotations

from typing import Any

from benchmarks import search_large
from benchmarks.frame import Size

FEATURES = ("search",)
READS = ("longtext",)
ONLY_BY_NAME = True


def main(size: Size = "full") -> dict[str, Any]:
    return search_large.measured(size, "memoir, hybrid", vector_store="auto") | {"packages": ("chromadb",)}
