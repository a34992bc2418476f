"""Speed of an ingestion: the engine alone, and with a slow model.

Engine time is the wall clock less the latencies of the calls, asked one at a time so that none overlap; the model client's own
run, the wire to a stub on loopback included, is those latencies and stands beside it. With a slow model the wall clock is
compared with the waiting time: calls ÷ in flight × the delay, or the longest chain of calls, where that takes longer.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice, repeat
from math import ceil
from pathlib import Path
from typing import Any

from benchmarks import data, stub
from benchmarks.frame import ROOT, Size, figure
from memoir_engine import Decision, Memory

FEATURES = ("ingest",)
READS = ("longtext",)
AIM_CHUNKS_PER_S = 500
AIM_PEAK_MB = 700
SETTINGS: dict[str, Any] = {"model": stub.MODEL, "output_mode": "native", "batch_size": 5, "hierarchy_depth": 3}
DELAY_S = 0.1
DELAYED_CHUNKS = 500
AIMS = {8: 1.3, 32: 2.0}  # times the waiting time
WAVES, WIDEST = (1, 2, 4), 8  # batches of one category that are asked together


@dataclass(frozen=True)
class Run:
    """Measurements of one ingestion. engine_s: without the calls; calls_s: their latencies. chain: the longest, in calls.

    cpu_s: processor time of the process, the stub's not included; unlike the others it hardly depends on what else is running.
    """

    chunks: int
    calls: int
    wall_s: float
    calls_s: float
    chain: int
    cpu_s: float

    @property
    def engine_s(self) -> float:
        return self.wall_s - self.calls_s


def main(size: Size) -> dict[str, Any]:
    counts = (1_000, 10_000) if size == "full" else (40,)
    runs_each = 3 if size == "full" else 1
    figures = []
    with stub.served() as url:
        for count in counts:
            figures += engine_figures(
                count, [ingested(url, count, max_concurrency=1) for _ in range(runs_each if count < 5000 else 1)]
            )
    with stub.served(DELAY_S) as url:
        for flight in (8, 32) if size == "full" else (8,):
            run = ingested(url, DELAYED_CHUNKS if size == "full" else 40, max_concurrency=flight)
            figures += delayed_figures(flight, run, aim=AIMS[flight] if size == "full" else None)
    memory_aim = AIM_PEAK_MB if size == "full" else None
    figures.append(figure(f"peak memory of a process, {counts[-1]} chunks", [peak_mb(counts[-1])], "MB", aim=memory_aim))
    return {
        "title": "Ingestion on SQLite, ledger and audit rows included",
        "sizes": {"chunks": list(counts), "depth": 3},
        "figures": figures,
    }


def engine_figures(count: int, runs: list[Run]) -> list[dict[str, Any]]:
    speeds = [run.chunks / run.engine_s for run in runs]
    return [
        figure(f"engine, {count} chunks", speeds, "chunks/s", aim=AIM_CHUNKS_PER_S, better="higher"),
        figure(f"model client, {count} chunks", [run.calls_s / run.calls * 1000 for run in runs], "ms/call"),
        figure(f"processor, all together, {count} chunks", [run.cpu_s / run.chunks * 1000 for run in runs], "ms/chunk"),
        figure(f"all together, {count} chunks", [run.chunks / run.wall_s for run in runs], "chunks/s", better="higher"),
    ]


def delayed_figures(flight: int, run: Run, *, aim: float | None) -> list[dict[str, Any]]:
    behind = max(ceil(run.calls / flight), run.chain)
    name = f"{run.chunks} chunks, model of {DELAY_S * 1000:.0f} ms, {flight} in flight"
    return [
        figure(name, [run.wall_s], "s"),
        figure(f"{name}, processor", [run.cpu_s], "s"),
        figure(f"{name}, calls one behind another", [behind], "calls"),
        figure(f"{name}, times its waiting time", [run.wall_s / (behind * DELAY_S)], "×", aim=aim),
    ]


def longest_chain(decisions: Iterable[Decision]) -> int:
    """Return how many calls follow on one another at least: the helper's, then waves, each behind those that placed its chunks.

    decisions: in the order of chunks. Calls that settle names come behind a wave and are left out, so the chain may be longer.
    """
    levels: dict[int, dict[int | None, dict[int, list[int]]]] = {}  # level → parent → call → chunks
    for made in decisions:
        if made.call_id is not None and made.chunk_id is not None:
            levels.setdefault(made.level, {}).setdefault(made.parent_id, {}).setdefault(made.call_id, []).append(made.chunk_id)
    behind: dict[int, int] = {}  # chunk → calls up to the one that placed it last
    for _, streams in sorted(levels.items()):
        placed: dict[int, int] = {}
        for calls in streams.values():
            batches, before = iter(calls.values()), 1
            for width in chain(WAVES, repeat(WIDEST)):
                asked = list(islice(batches, width))
                if not asked:
                    break
                for batch in asked:
                    placed |= dict.fromkeys(batch, 1 + max(before, *(behind.get(chunk, 1) for chunk in batch)))
                before = max(placed[chunk] for batch in asked for chunk in batch)
        behind |= placed
    return max(behind.values(), default=1)


def ingested(url: str, chunks: int, *, max_concurrency: int) -> Run:
    os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
    text = corpus(chunks)
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(data_dir=Path(folder), max_concurrency=max_concurrency, **SETTINGS) as memory,
    ):
        memory.test_call()  # what is loaded once is not the ingestion's
        memory.estimate(text[:5000])
        began, busy = time.perf_counter(), time.process_time()
        result = memory.ingest_text(text, name="corpus").raise_for_error()
        wall_s, cpu_s = time.perf_counter() - began, time.process_time() - busy
        run, decisions = memory.jobs.get(result.run_id), list[Decision]()
        while page := memory.runs.decisions(result.run_id, after=decisions[-1].id if decisions else 0):
            decisions += page
    return Run(result.chunks, run.calls, wall_s, run.latency_ms / 1000, longest_chain(decisions), cpu_s)


def peak_mb(chunks: int) -> float:
    """Return the most memory that a process of its own held while it filed these chunks and made its indexes of them."""
    command = [sys.executable, "-m", "benchmarks.ingestion", str(chunks)]
    return float(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout)


def _file_and_search(url: str, chunks: int) -> None:
    os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
    with tempfile.TemporaryDirectory() as folder, Memory(data_dir=Path(folder), **SETTINGS) as memory:
        memory.ingest_text(corpus(chunks), name="corpus").raise_for_error()
        memory.search("river")  # waits until what is filed can be found


def corpus(chunks: int) -> str:
    """Generate about this many chunks of prose, reproducibly: sentences of the long texts in a seeded order."""
    sentences = [line.strip() for text in data.longtexts().values() for line in text.split(". ") if 40 < len(line) < 400]
    chance = random.Random(20261121)
    return "\n\n".join(". ".join(chance.choices(sentences, k=14)) + "." for _ in range(chunks))


if __name__ == "__main__":
    with stub.served() as stub_url:
        _file_and_search(stub_url, int(sys.argv[1]))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
