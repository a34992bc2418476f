"""Memories with a few texts to search. Vectors are compared exactly unless the test is about an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memoir_engine import Memory

TEXTS = {
    "tax": "Income tax was introduced by Pitt in 1799 to pay for the war. It was taken away in 1816 and came back in 1842.",
    "tides": "The tide tables of Brixham list high water for every day. Spring tides follow the full moon by two days.",
    "bread": "The sourdough starter lives in the cold room. Bread is baked on Tuesdays in an oven heated with beech wood.",
    "moon": "The moon turns once in a month. A full moon rises when the sun sets, and pulls at every sea.",
}
Opened = Callable[..., Memory]


def opened(tmp_path: Path) -> Iterator[Opened]:
    """Open memories in the test's folder; close all at the end."""
    memories: list[Memory] = []

    def one(**settings: Any) -> Memory:
        memories.append(Memory(data_dir=tmp_path / "memory", **({"model": "offline", "vector_store": "exact"} | settings)))
        return memories[-1]

    yield one
    for memory in memories:
        memory.close()


def memory(opened: Opened) -> Memory:
    return filled(opened())


def filled(memory: Memory) -> Memory:
    for doc_id, text in TEXTS.items():
        memory.add_knowledge(doc_id, text)
    return memory
