"""What a question costs beside the model: engine time by strategy.

Engine time is the wall clock of the question less the latencies of its calls, which come one after another.
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
            taken = {
                strategy: [engine_ms(memory, strategy, n) for n in range(rounds * len(QUESTIONS))] for strategy in STRATEGIES
            }
    figures = []
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
