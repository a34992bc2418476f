"""Word search among a million passages. Runs only when named: it takes a quarter of an hour and two gigabytes.

The texts are those of `search`, a hundred thousand passages at a time, added by `add_knowledge` in documents of 500 passages
(240,000 characters) each; after each portion one question is asked, as somebody would who works while the store grows.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.chunking import made_text
from benchmarks.frame import Size, figure, quiet
from benchmarks.search import LENGTH, PER_DOCUMENT, SETTINGS, STEP, Aims, made_questions, opened_again, rested
from memoir_engine import Memory

FEATURES = ("search",)
READS = ("longtext",)
ONLY_BY_NAME = True
PASSAGES = {"full": 1_000_000, "small": 300}
PORTION = {"full": 100_000, "small": 100}
QUESTIONS = {"full": 20, "small": 2}  # of each portion
ADDED = {"full": 20, "small": 2}


def main(size: Size = "full") -> dict[str, Any]:
    return measured(size, "memoir, words alone", vector_store="off")


@quiet()
def measured(size: Size, name: str, *, vector_store: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = SETTINGS | {"vector_store": vector_store, "data_dir": Path(folder)}
        began = time.perf_counter()
        questions = _filled(settings, size)
        figures = [figure(f"{name}: filling, the making of the texts included", [time.perf_counter() - began], "s")]
        figures += opened_again(name, settings, questions, ADDED[size], Aims(p95_ms=100.0))
        most_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        figures.append(figure(f"{name}: memory at its most, while it was filled", [most_gb], "GB"))
    return {
        "title": "A search among a million passages, and what it takes to have them",
        "sizes": {"passages": PASSAGES[size], "questions": len(questions), "passages of a document": PER_DOCUMENT},
        "figures": figures,
    }


def _filled(settings: dict[str, Any], size: Size) -> list[str]:
    """Fill the store; return questions about all of it."""
    questions: list[str] = []
    with Memory(**settings) as memory:
        for at in range(0, PASSAGES[size], PORTION[size]):
            text = made_text(PORTION[size] * STEP, seed=1 + at)
            for number, document in enumerate(_documents(text)):
                memory.add_knowledge(f"d{at + number}", document)
            questions += made_questions([text[start : start + LENGTH] for start in range(0, len(text), STEP)], QUESTIONS[size])
            memory.search(questions[-1])  # takes in what is missing
        rested()
    return questions


def _documents(text: str) -> Iterator[str]:
    for start in range(0, len(text), STEP * PER_DOCUMENT):
        yield text[start : start + STEP * PER_DOCUMENT]
