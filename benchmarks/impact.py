"""What would change: twenty questions asked of the memory and of a branch, with the offline model.

The memory is filed by the stub model and then opened with the offline one. Each look is at another change, so that no snapshot is
made before; a look for nothing comes first, since a process loads what its first question needs. The head is compared at the end.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import stub
from benchmarks.frame import Size, figure
from benchmarks.ingestion import SETTINGS, corpus
from memoir_engine import Memory

FEATURES = ("ingest", "query", "review")
READS = ("longtext",)
AIM_S, AIM_FIRST_S = 3.0, 1.0
QUESTIONS = 20


def main(size: Size) -> dict[str, Any]:
    chunks, rounds = (10_000, 3) if size == "full" else (40, 1)
    with stub.served() as url, tempfile.TemporaryDirectory() as folder:
        os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        with Memory(data_dir=Path(folder), **SETTINGS) as memory:
            held = memory.ingest_text(corpus(chunks), name="corpus").raise_for_error().chunks
        with Memory(data_dir=Path(folder), **{**SETTINGS, "model": "offline"}) as memory:
            figures = looks(memory, rounds)
    return {
        "title": "What would change, with the offline model",
        "sizes": {"chunks": held, "questions": QUESTIONS},
        "figures": figures,
    }


def looks(memory: Memory, rounds: int) -> list[dict[str, Any]]:
    leaves = [category for category in memory.tree.all() if category.is_leaf]
    questions = asked(memory, [leaf.id for leaf in leaves])
    memory.impact([{"verb": "rename", "category_id": leaves[0].id, "name": "Warm"}], questions=questions[:1])
    head, taken, first = memory.audit.head(), list[float](), list[float]()
    flipped = 0
    for n in range(rounds):
        chunk_ids = [chunk.id for chunk in memory.tree.chunks(leaves[n].id, limit=3).chunks]
        times: list[float] = []
        began = time.perf_counter()
        impact = memory.impact(
            [{"verb": "refile", "chunk_ids": chunk_ids, "category_id": leaves[n + 1].id}],
            questions=questions,
            on_event=lambda stamped, at=times: at.append(time.perf_counter()),  # type: ignore[misc]
        )
        taken.append(time.perf_counter() - began)
        first.append(times[0] - began)
        flipped += len(impact.flipped)
    assert memory.audit.head() == head
    return [
        figure(f"{QUESTIONS} questions, before and after a re-filing of three chunks", taken, "s", aim=AIM_S),
        figure("until the first question is compared", first, "s", aim=AIM_FIRST_S),
        figure("questions that flip, of all looks", [float(flipped)], "questions"),
    ]


def asked(memory: Memory, leaves: list[int]) -> list[str]:
    """Return questions made of the first words of chunks of several leaves, those that the changes touch among them."""
    texts = [memory.tree.chunks(leaf, limit=1).chunks[0].text for leaf in leaves[:QUESTIONS]]
    texts += [chunk.text for chunk in memory.tree.chunks(leaves[0], limit=QUESTIONS).chunks]
    return list(dict.fromkeys(" ".join(text.split()[:12]) for text in texts))[:QUESTIONS]
