"""Gain from asking in waves, and its cost in tree quality.

Time: 500 chunks filed at depth 3 by a model that takes 100 ms a call, beside the same calls one after another (their latencies in
the same ledger, added up). Names: posts of newsgroups filed in one go, so that up to eight batches are asked together, beside the
very same chunks filed one source after another, each of which sees all that came before it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks import data, stub
from benchmarks.frame import Size, figure
from benchmarks.ingestion import DELAY_S, Run, ingested
from memoir_engine import Category, Memory

FEATURES = ("ingest",)
AIMS_S = {8: 5.5, 32: 4.0}
PARAGRAPHS = 459  # of the corpus: 500 chunks
CATEGORIES = 3  # below each parent, so that most batches are full: some 300 calls
READS = ("longtext", "newsgroups")
POSTS = "newsgroups/train.jsonl"
OFFLINE: dict[str, Any] = {"model": "offline", "max_file_mb": 50}
SUBJECTS = ("violins", "bread", "chess", "rivers", "engines", "paintings")


def main(size: Size) -> dict[str, Any]:
    paragraphs, flights, posts = (PARAGRAPHS, (8, 32), 1200) if size == "full" else (40, (8,), 30)
    figures = []
    with stub.served(DELAY_S, CATEGORIES) as url:
        for flight in flights:
            figures += timed(
                flight, ingested(url, paragraphs, max_concurrency=flight), aim=AIMS_S[flight] if size == "full" else None
            )
    in_waves, one_by_one = named(texts(posts))
    for way, tree in (("in waves", in_waves), ("one source after another", one_by_one)):
        figures.append(figure(f"sibling names within one another, {way}", [len(near_duplicates(tree))], "pairs"))
        figures.append(figure(f"categories, {way}", [len(tree)], "categories", better="higher"))
    return {
        "title": "Classification in waves: what it saves, and what becomes of the names",
        "sizes": {"paragraphs": paragraphs, "posts": posts, "depth": 3},
        "figures": figures,
        "notes": ["Sibling names within one another: all words of one are words of the other, case aside."],
    }


def timed(flight: int, run: Run, *, aim: float | None) -> list[dict[str, Any]]:
    name = f"{run.chunks} chunks, {run.calls} calls of {DELAY_S * 1000:.0f} ms"
    waves = figure(f"{name}, {flight} in flight", [run.wall_s], "s", aim=aim)
    alone = figure(f"{name}, one at a time", [run.calls_s], "s")
    return [
        waves,
        alone,
        figure(f"{flight} in flight beside one at a time", [alone["median"] / waves["median"]], "×", better="higher"),
    ]


def texts(count: int) -> list[str]:
    """Return the first posts, or sentences in their place if absent."""
    path = data.find(POSTS)
    if path is not None:
        with path.open(encoding="utf-8") as lines:
            return [json.loads(line)["text"] for line, _ in zip(lines, range(count), strict=False)]
    return [f"Post {n} tells of {SUBJECTS[n % len(SUBJECTS)]} and of nothing else. " * 30 for n in range(count)]


def named(posts: list[str]) -> tuple[tuple[Category, ...], tuple[Category, ...]]:
    """Return the categories of all posts in one source, and of the same chunks as one source each."""
    with tempfile.TemporaryDirectory() as folder, Memory(data_dir=Path(folder), **OFFLINE) as memory:
        filed = memory.ingest_text("\n\n".join(posts), name="posts").raise_for_error()
        leaves = [category for category in memory.tree.all() if category.is_leaf]
        chunks = [chunk for leaf in leaves for chunk in memory.tree.chunks(leaf.id, limit=filed.chunks).chunks]
        in_waves = memory.tree.all()
    with tempfile.TemporaryDirectory() as folder, Memory(data_dir=Path(folder), **OFFLINE) as memory:
        for chunk in sorted(chunks, key=lambda chunk: chunk.position):
            memory.ingest_text(chunk.text, name=f"chunk {chunk.position}", contextual_helper=filed.helper).raise_for_error()
        return in_waves, memory.tree.all()


def near_duplicates(tree: Iterable[Category]) -> list[tuple[str, str]]:
    siblings: dict[int | None, list[str]] = {}
    for category in tree:
        siblings.setdefault(category.parent_id, []).append(category.name)
    pairs = [pair for names in siblings.values() for pair in combinations(names, 2)]
    return [(one, other) for one, other in pairs if words(one) <= words(other) or words(other) <= words(one)]


def words(name: str) -> set[str]:
    return set(name.casefold().split())
