"""Engine time of a question by strategy, without the model's.

Engine time is the wall clock of the question less the latencies of its calls, which come one after another. The first questions
after an ingestion share the processor with the vectors that are made behind it, and the very first loads what a process needs:
both are figures of their own. The others begin once a search, which waits for those vectors, has come back.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import stub
from benchmarks.frame import Size, figure, percentile
from benchmarks.ingestion import SETTINGS, corpus
from memoir_engine import Memory

FEATURES = ("ingest", "query")
READS = ("longtext",)
AIM_MS = 15.0
STRATEGIES = ("one_shot", "wide_branch", "zoom_in", "branch_out")
QUESTIONS = (
    "What did the committee ask for?",
    "How did the economy grow last year?",
    "Which standards does the web site follow?",
    "Who signs the agreement on children's health insurance?",
    "What changed in the type system?",
)


def main(size: Size) -> dict[str, Any]:
    chunks, rounds = (10_000, 8) if size == "full" else (40, 1)
    with stub.served() as url, tempfile.TemporaryDirectory() as folder:
        os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        with Memory(data_dir=Path(folder), **SETTINGS) as memory:
            held = memory.ingest_text(corpus(chunks), name="corpus").raise_for_error().chunks
            first, *behind = [engine_ms(memory, STRATEGIES[1], n) for n in range(1 + len(QUESTIONS))]
            memory.search(QUESTIONS[0])
            taken = {
                strategy: [engine_ms(memory, strategy, n) for n in range(rounds * len(QUESTIONS))] for strategy in STRATEGIES
            }
    figures = [
        figure("the first question of a process, engine time", [first], "ms", note="after an ingestion by that process"),
        figure(f"{STRATEGIES[1]}, while vectors are made behind an ingestion, engine time", behind, "ms"),
    ]
    for strategy, runs in taken.items():
        figures.append(figure(f"{strategy}, engine time", runs, "ms"))
        figures.append(figure(f"{strategy}, engine time, p95", [percentile(runs, 0.95)], "ms", aim=AIM_MS))
    return {
        "title": "Milliseconds of a question without its model",
        "sizes": {"chunks": held, "questions": rounds * len(QUESTIONS)},
        "figures": figures,
    }


def engine_ms(memory: Memory, strategy: str, number: int) -> float:
    question = QUESTIONS[number % len(QUESTIONS)]
    result = memory.query(question, strategy=strategy, per_path_limit="auto", safety_net=3).raise_for_error()
    return result.wall_ms - sum(response.latency_ms for response in result.responses)
