"""Growth of one document's ingestion time with its length, which should be linear.

Filed by the offline model on SQLite, ledger and audit rows included. The texts are prose in a seeded order, so that no part is a
copy of another.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.frame import Size, figure
from benchmarks.ingestion import corpus
from memoir_engine import Memory

FEATURES = ("ingest",)
READS = ("longtext",)
MB = 1_000_000
AIM_GROWTH = 1.2  # processor seconds per MB of the longest beside those of the shortest
CHARS_PER_PARAGRAPH = 1000  # the corpus' have more


@dataclass(frozen=True)
class Filed:
    """Measurements of one document. processor_s: CPU time of all threads, which shows the growth even on a busy machine."""

    length_mb: float
    chunks: int
    wall_s: float
    processor_s: float


def main(size: Size) -> dict[str, Any]:
    lengths = (1.0, 2.0, 5.0) if size == "full" else (0.02, 0.04)
    runs = [filed(length) for length in lengths]
    figures = []
    for run in runs:
        name = f"{run.length_mb:g} MB"
        figures.append(figure(name, [run.wall_s], "s"))
        figures.append(figure(f"{name}, processor", [run.processor_s], "s"))
        figures.append(figure(f"{name}, chunks per second", [run.chunks / run.wall_s], "chunks/s", better="higher"))
    first, last = runs[0], runs[-1]
    growth = (last.processor_s / last.length_mb) / (first.processor_s / first.length_mb)
    name = f"processor seconds per MB at {last.length_mb:g} MB beside {first.length_mb:g} MB"
    figures.append(figure(name, [growth], "×", aim=AIM_GROWTH if size == "full" else None))
    return {
        "title": "One long document with the offline model",
        "sizes": {f"chunks_of_{run.length_mb:g}_mb": run.chunks for run in runs},
        "figures": figures,
    }


def filed(length_mb: float) -> Filed:
    """Ingest a document of this length into its own memory."""
    chars = round(length_mb * MB)
    text = corpus(chars // CHARS_PER_PARAGRAPH + 1)[:chars]
    with tempfile.TemporaryDirectory() as folder, Memory(data_dir=Path(folder), model="offline") as memory:
        memory.estimate(text[:5000])  # what is loaded once is not the document's
        began, processor = time.perf_counter(), time.process_time()
        result = memory.ingest_text(text, name="long.txt").raise_for_error()
        return Filed(length_mb, result.chunks, time.perf_counter() - began, time.process_time() - processor)
