"""Search compared with rank_bm25, bm25s's own retrieve, SQLite FTS5 and Chroma alone, over the same passages in one run.

Passages are 512 characters of English text with 32 shared, made of the long public texts with words exchanged; a question is five
words of one of them, not next to each other. Ours is `Memory.search` as anybody calls it: with SQL and the texts of the results.
Peers are asked for keys alone. What a text costs until it is found is counted from the return of `add_knowledge`, which has
committed it; where a peer has to build anew, that is what it costs.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.chunking import made_text
from benchmarks.frame import Size, figure, missing, percentile, quiet, timed
from memoir_engine import Memory

FEATURES = ("search",)
READS = ("longtext",)
PASSAGES = {"full": 100_000, "small": 300}
QUESTIONS = {"full": 200, "small": 5}
ADDED = {"full": 20, "small": 2}
STEP, LENGTH = 480, 512
PER_DOCUMENT = 500
DIM = 512
PEERS = ("rank-bm25", "bm25s", "chromadb")
LOOK_S, IDLE = 0.2, 5
SETTINGS = {"model": "offline", "embedder": "offline"}


class Aims(NamedTuple):
    opened_s: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    found_ms: float | None = None


Ask = Callable[[str], Any]
Add = Callable[[str], Any]


@quiet()
def main(size: Size = "full") -> dict[str, Any]:
    text = made_text(PASSAGES[size] * STEP, seed=1)
    passages = [text[at : at + LENGTH] for at in range(0, len(text), STEP)]
    questions = made_questions(passages, QUESTIONS[size])
    figures: list[dict[str, Any]] = []
    absent = missing(PEERS)
    peers = (("rank_bm25", _rank_bm25), ("bm25s retrieve", _bm25s), ("SQLite FTS5", _fts5))
    theirs = [(name, made) for name, made in peers if name.replace("_", "-") not in absent]
    with tempfile.TemporaryDirectory() as folder:
        figures += _ours(Path(folder) / "words", text, questions, size, vector_store="off")
        figures += _ours(Path(folder) / "hybrid", text, questions, size, vector_store="auto")
        for name, made in theirs:
            figures += _theirs(name, made, passages, questions, size, Path(folder))
        figures += _chroma(passages, size, Path(folder) / "chroma")
    return {
        "title": "Milliseconds of a search, and of a text until it is found",
        "sizes": {"passages": len(passages), "questions": len(questions)},
        "figures": figures,
        "notes": [
            "Chroma alone holds random vectors of the same length: its times are fair, what it finds is not looked at.",
            *(f"{name}: not installed" for name in absent),
        ],
        "packages": PEERS,
    }


def made_questions(passages: list[str], count: int) -> list[str]:
    chance = random.Random(7)
    split = (chance.choice(passages).split() for _ in range(count))
    return [" ".join(words[at] for at in sorted(chance.sample(range(len(words)), min(5, len(words))))) for words in split]


def _ours(folder: Path, text: str, questions: list[str], size: Size, *, vector_store: str) -> Iterator[dict[str, Any]]:
    """Measure one memory twice: filled and asked, then closed and opened again."""
    words = vector_store == "off"
    name = "memoir, words alone" if words else "memoir, hybrid"
    settings: dict[str, Any] = SETTINGS | {"vector_store": vector_store, "data_dir": folder}
    with Memory(**settings) as memory:
        for number, at in enumerate(range(0, len(text), STEP * PER_DOCUMENT)):
            memory.add_knowledge(f"d{number}", text[at : at + STEP * PER_DOCUMENT])
        memory.search(questions[0])  # takes in what is missing
        rested()
    aims = Aims(2.0, 3.0, 10.0, 25.0) if words else Aims(2.0, None, 30.0, None)
    yield from opened_again(name, settings, questions, ADDED[size], aims)


def opened_again(name: str, settings: dict[str, Any], questions: list[str], added: int, aims: Aims) -> Iterator[dict[str, Any]]:
    """Measure a filled and closed memory: opening, answers, and texts added afterwards."""
    opened = time.perf_counter()
    with Memory(**settings) as memory:
        memory.search(questions[0])
        yield figure(f"{name}: opened again, with the first answer", [time.perf_counter() - opened], "s", aim=aims.opened_s)
        rested()
        yield from _asked(name, memory.search, questions, aims=(aims.p50_ms, aims.p95_ms))
        found = [until_found(memory, number) for number in range(added)]
        yield figure(f"{name}: a new text until it is found", found, "ms", aim=aims.found_ms)


def rested() -> None:
    """Wait until background work is done: Chroma indexes vectors for minutes, and a folder closed meanwhile is refilled."""
    quiet = 0
    while quiet < IDLE:
        before = time.process_time()
        time.sleep(LOOK_S)
        quiet = quiet + 1 if time.process_time() - before < LOOK_S / 50 else 0


def until_found(memory: Memory, number: int) -> float:
    """Return the milliseconds from the commit to a result that contains it."""
    memory.add_knowledge(f"new{number}", f"zanzibar{number} clove market opens at dawn")
    began = time.perf_counter()
    first = memory.search(f"zanzibar{number}", top_k=1)[0]
    taken = time.perf_counter() - began
    assert first.doc_id == f"new{number}", "the new text was not found"
    return taken * 1000


def _theirs(
    name: str,
    made: Callable[[list[str], Path], tuple[Ask, Add]],
    passages: list[str],
    questions: list[str],
    size: Size,
    folder: Path,
) -> Iterator[dict[str, Any]]:
    ask, add = made(passages, folder)
    ask(questions[0])
    yield from _asked(name, ask, questions)
    runs = 1 if name != "SQLite FTS5" else ADDED[size]
    found = timed(lambda: (add("zanzibar clove market opens at dawn"), ask("zanzibar")), runs=runs)
    yield figure(f"{name}: a new text until it is found", [taken * 1000 for taken in found], "ms")


def _asked(
    name: str, ask: Ask, questions: list[str], aims: tuple[float | None, float | None] = (None, None)
) -> Iterator[dict[str, Any]]:
    taken = [timed(lambda question=question: ask(question), runs=1)[0] * 1000 for question in questions]  # type: ignore[misc]
    yield figure(f"{name}: a search", taken, "ms", aim=aims[0])
    yield figure(f"{name}: a search, p95", [percentile(taken, 0.95)], "ms", aim=aims[1])


def _rank_bm25(passages: list[str], _folder: Path) -> tuple[Ask, Add]:
    kind = import_module("rank_bm25").BM25Okapi
    rows = [passage.lower().split() for passage in passages]
    held = [kind(rows)]

    def add(text: str) -> None:
        rows.append(text.lower().split())
        held[0] = kind(rows)

    return lambda question: np.argpartition(-held[0].get_scores(question.lower().split()), 10)[:10], add


def _bm25s(passages: list[str], _folder: Path) -> tuple[Ask, Add]:
    bm25s = import_module("bm25s")
    rows = bm25s.tokenize(passages, show_progress=False, return_ids=False)

    def built() -> Any:
        index = bm25s.BM25()
        index.index(rows, show_progress=False)
        return index

    held = [built()]

    def ask(question: str) -> Any:
        asked = bm25s.tokenize([question], show_progress=False, return_ids=False)
        return held[0].retrieve(asked, k=10, show_progress=False)

    def add(text: str) -> None:
        rows.extend(bm25s.tokenize([text], show_progress=False, return_ids=False))
        held[0] = built()

    return ask, add


def _fts5(passages: list[str], folder: Path) -> tuple[Ask, Add]:
    connection = sqlite3.connect(folder / "fts5.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE VIRTUAL TABLE passage USING fts5(text)")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO passage VALUES (?)", ((passage,) for passage in passages))
    connection.execute("COMMIT")

    def ask(question: str) -> Any:
        words = " OR ".join(f'"{word}"' for word in question.replace('"', "").split())
        wanted = "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY bm25(passage) LIMIT 10"
        return connection.execute(wanted, (words,)).fetchall()

    return ask, lambda text: connection.execute("INSERT INTO passage VALUES (?)", (text,))


def _chroma(passages: list[str], size: Size, folder: Path) -> Iterator[dict[str, Any]]:
    with _collection(folder) as collection:
        chance = np.random.default_rng(3)
        for at in range(0, len(passages), 2000):
            rows = chance.standard_normal((min(2000, len(passages) - at), DIM)).astype(np.float32)
            collection.upsert(ids=[str(at + number) for number in range(len(rows))], embeddings=rows)
        asked = chance.standard_normal((QUESTIONS[size], 1, DIM)).astype(np.float32)
        taken = [timed(lambda row=row: collection.query(query_embeddings=row, n_results=10), runs=1)[0] * 1000 for row in asked]  # type: ignore[misc]
        yield figure("Chroma alone: a search", taken, "ms")
        yield figure("Chroma alone: a search, p95", [percentile(taken, 0.95)], "ms")
        added = timed(lambda: collection.upsert(ids=["new"], embeddings=asked[0]), runs=ADDED[size])
        yield figure("Chroma alone: a new vector", [each * 1000 for each in added], "ms")


@contextmanager
def _collection(folder: Path) -> Iterator[Any]:
    chromadb = import_module("chromadb")
    settings = import_module("chromadb.config").Settings(anonymized_telemetry=False)
    with chromadb.PersistentClient(str(folder), settings=settings) as client:
        yield client.create_collection("peer", embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
