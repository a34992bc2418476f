"""Remembering and recalling for a user with many facts, and the exact search for the nearest, compared with Chroma.

The store is filled through `remember` as well, with a model on loopback that makes a fact of every message and an embedder of few
numbers; what it holds gets vectors of the length that is measured when it is opened with their embedder. Facts are then added by
the offline model. The engine's own time is that of the verb less what the ledger says the model took and less the embedder's; its
parts are between the events of the run. The ten nearest are asked of `ExactVectors`, the index that remembering and recall look
into: `recall` itself reads SQL before and after, and is measured beside it.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import stub
from benchmarks.frame import Size, figure, quiet, ratio, timed
from memoir_engine import EMBEDDERS, ExactVectors, Memory

FEATURES = ("facts",)
FACTS = {"full": (0, 1_000, 10_000), "small": (0, 20)}
MEASURED = {"full": 30, "small": 3}
BY_HAND = {"full": 50, "small": 3}
AT_ONCE = 200  # statements of a conversation, while the store is filled
AIMS_ADD_MS = {10_000: 10.0, 100_000: 50.0}
AIM_BY_HAND_MS = 10.0
VECTORS = {"full": 10_000, "small": 200}
ASKED = {"full": 100, "small": 5}
DIM, FILLING_DIM = 384, 64
AIM_TOP_MS = 1.0
USER = "mia"
ENDING = "ending the run"
PARTS = {
    "ConversationCut": "opening the run, cutting",
    "FactsMerged": "drawing it from the words",
    "FactsCompared": "comparing it with what is known",
    "FactsStored": "storing it with its words",
    "RunEnded": ENDING,
}  # by the event that ends it
THINGS = "tea figs rain owls chess boats jazz bread soup hats maps bells lamps kites roses plums drums masks coins shells".split()
PLACES = "Lisbon Oslo Prague Turin Ghent Cork Lyon Graz Bergen Malmo Porto Basel Leeds Bruges Vienna Krakow Riga Sofia".split()

Vectors = np.ndarray[Any, np.dtype[np.float32]]


class RandomVectors:
    """Embedder that returns a random direction per text, without meaning, at next to no cost; it measures its own time."""

    lexical = True  # it asks nobody

    def __init__(self, dim: int) -> None:
        self.id, self.dim, self.taken_ms = f"random-{dim}", dim, 0.0

    async def embed(self, texts: Sequence[str], run: object) -> Any:
        began = time.perf_counter()
        rows = np.stack([np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.dim) for text in texts])
        found = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        self.taken_ms += (time.perf_counter() - began) * 1_000
        return found

    async def close(self) -> None:
        pass


MEASURED_BY, FILLED_BY = RandomVectors(DIM), RandomVectors(FILLING_DIM)
EMBEDDERS.register("random-measured")(lambda _config: MEASURED_BY)
EMBEDDERS.register("random-filling")(lambda _config: FILLED_BY)


def main(size: Size) -> dict[str, Any]:
    measured = among(FACTS[size], size)
    return measured | {
        "figures": measured["figures"] + list(_nearest(VECTORS[size], ASKED[size])),
        "notes": ["Vectors are random: Chroma's times are fair, and what it finds of these is its worst case."],
        "packages": ("chromadb",),
    }


@quiet()
def among(steps: Sequence[int], size: Size, *, most_growth: float | None = 1.5) -> dict[str, Any]:
    """Measure adding and recalling among a rising number of facts."""
    by_step: list[list[dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as name, stub.served() as url:
        texts = _statements()
        for many in steps:
            _fill(Path(name), url, texts, many)
            with _opened(Path(name), "random-measured", model="offline") as memory:
                memory.recall(THINGS[0], USER)  # everything gets the vectors it lacks
                by_step.append(
                    [*_adding(memory, texts, many, size), _recalling(memory, many, size), *_by_hand(memory, texts, many, size)]
                )
    grown = by_step[-1][0]["median"] / by_step[0][0]["median"]
    grows = figure("adding at the end over at the beginning", [grown], "×", aim=most_growth)
    return {
        "title": "Remembering and recalling among many facts of one user",
        "sizes": {"facts": steps[-1], "numbers of a vector": DIM, "measured at each size": MEASURED[size]},
        "figures": [*(one for some in by_step for one in some), grows],
    }


def _opened(folder: Path, embedder: str, **settings: Any) -> Memory:
    return Memory(db_path=folder / "facts.db", data_dir=folder / "data", embedder=embedder, **settings)


def _fill(folder: Path, url: str, texts: Iterator[str], many: int) -> None:
    """Add facts until there are this many, or a conversation adds none."""
    os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
    with _opened(folder, "random-filling", model=stub.MODEL, output_mode="native") as memory:
        there = sum(memory.facts.counts(USER).values())
        while there < many:
            said = [{"role": "user", "content": next(texts)} for _ in range(min(AT_ONCE, many - there))]
            memory.remember(said, user_id=USER)
            before, there = there, sum(memory.facts.counts(USER).values())
            if there == before:
                raise RuntimeError(f"no facts were drawn; {there} are there")


def _adding(memory: Memory, texts: Iterator[str], many: int, size: Size) -> list[dict[str, Any]]:
    """Add texts one after the other; the first of a process, which loads libraries, does not count."""
    _added(memory, next(texts))
    runs, worked = [], []
    for _ in range(MEASURED[size]):
        before = time.process_time()
        runs.append(_added(memory, next(texts)))
        worked.append((time.process_time() - before) * 1_000)
    name, taken = f"add a fact, {many:,} there", [sum(run.values()) for run in runs]
    made = [figure(name, taken, "ms", aim=AIMS_ADD_MS.get(many), note="the verb less the model's time and the embedder's")]
    made += [figure(f"{name}: {part}", [run[part] for run in runs], "ms") for part in PARTS.values()]
    return [*made, figure(f"{name}: processor time", worked, "ms", note="the offline model's included, whatever else is running")]


def _added(memory: Memory, text: str) -> dict[str, float]:
    """Return the engine's milliseconds by part; time between two events belongs to the part that the later one ends."""
    embedded, made, began = MEASURED_BY.taken_ms, list[Any](), datetime.now(UTC)
    (took,) = timed(lambda: made.append(memory.remember([{"role": "user", "content": text}], user_id=USER)), runs=1)
    told = memory.runs.get(made[0].run_id)
    asked = {call.id: call.latency_ms for call in told.calls}
    parts, spent = dict.fromkeys(PARTS.values(), 0.0), 0.0
    for event in told.events:
        spent += asked.get(int(event.body.get("call_id") or 0), 0.0)
        if event.kind in PARTS:
            spent += MEASURED_BY.taken_ms - embedded if event.kind == "FactsCompared" else 0.0
            parts[PARTS[event.kind]] = (event.at - began).total_seconds() * 1_000 - spent
            began, spent = event.at, 0.0
    parts[ENDING] = took * 1_000 - sum(asked.values()) - (MEASURED_BY.taken_ms - embedded) - sum(parts.values())
    return parts


def _recalling(memory: Memory, many: int, size: Size) -> dict[str, Any]:
    asked = [f"who likes {thing} in {place}" for thing, place in zip(THINGS, PLACES, strict=False)]
    taken = [timed(partial(memory.recall, text, USER), runs=1)[0] * 1_000 for text in asked[: MEASURED[size]]]
    return figure(
        f"recall ten, {many:,} there", taken, "ms", note="SQL, the looking up of what was found, and the embedder included"
    )


def _by_hand(memory: Memory, texts: Iterator[str], many: int, size: Size) -> Iterator[dict[str, Any]]:
    """Add, correct and end facts by hand, one after the other: no model is asked, so the verb's time is the engine's."""
    added, corrected = list[str](), list[str]()

    def words() -> str:
        return next(texts).replace("I bought", "Bought")

    verbs: dict[str, Callable[[], object]] = {
        "add a fact": lambda: added.append(memory.facts.add(words(), USER).fact_id or ""),
        "preview a correction": lambda: memory.facts.preview("correct", added[-1], words()),
        "correct a fact": lambda: corrected.append(memory.facts.correct(added.pop(), words(), "misheard").fact_id or ""),
        "retire a fact": lambda: memory.facts.retire(corrected.pop(), "over"),
    }
    for verb, work in verbs.items():
        runs = [seconds * 1_000 for seconds in timed(work, runs=BY_HAND[size], warm=1 if verb == "add a fact" else 0)]
        yield figure(f"{verb} by hand, {many:,} there", runs, "ms", aim=AIM_BY_HAND_MS, note="the commit included")


def _nearest(many: int, questions: int) -> Iterator[dict[str, Any]]:
    """Measure the search for the ten nearest among this many vectors."""
    chance = np.random.default_rng(3)
    rows, asked = _units(chance, many), _units(chance, questions)
    truth = [set(np.argsort(-(rows.astype(np.float64) @ one))[:10].tolist()) for one in asked.astype(np.float64)]
    index = ExactVectors(DIM)
    index.apply_changes(range(many), rows, (), seq=1)
    ours = yield from _top(
        f"ExactVectors: ten of {many:,}", lambda one: [near.key for near in index.top(one, 10)], asked, truth, True
    )
    if find_spec("chromadb") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        theirs = yield from _top(f"Chroma: ten of {many:,}", _chroma(Path(folder), rows), asked, truth, False)
    yield ratio("ten nearest beside Chroma", ours, theirs)


def _top(
    name: str, ask: Callable[[Vectors], Sequence[int]], asked: Vectors, truth: Sequence[set[int]], is_ours: bool
) -> Generator[dict[str, Any], None, dict[str, Any]]:
    found: list[Sequence[int]] = []
    ask(asked[0])
    taken = [timed(lambda one=one: found.append(ask(one)), runs=1)[0] * 1_000 for one in asked]  # type: ignore[misc]
    hits = [len(true.intersection(some)) / 10 for true, some in zip(truth, found, strict=True)]
    made = figure(name, taken, "ms", aim=AIM_TOP_MS if is_ours else None)
    yield made
    yield figure(f"{name}: recall", [float(np.mean(hits))], "share", aim=1.0 if is_ours else None, better="higher")
    return made


def _chroma(folder: Path, rows: Vectors) -> Callable[[Vectors], Sequence[int]]:
    """Open Chroma on disk as a long-lived process has it."""
    chromadb = import_module("chromadb")
    settings = import_module("chromadb.config").Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(folder), settings=settings)
    held = client.create_collection("peer", embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
    for at in range(0, len(rows), 2_000):
        held.upsert(ids=[str(at + number) for number in range(len(rows[at : at + 2_000]))], embeddings=rows[at : at + 2_000])
    return lambda one: [int(key) for key in held.query(query_embeddings=one[None], n_results=10, include=[])["ids"][0]]


def _units(chance: np.random.Generator, many: int) -> Vectors:
    rows = chance.standard_normal((many, DIM)).astype(np.float32)
    found: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found


def _statements() -> Iterator[str]:
    """Yield an endless, reproducible series of distinct statements."""
    chance = random.Random(20261122)
    number = 0
    while True:
        number += 1
        thing, other = chance.sample(THINGS, 2)
        yield f"I bought {number} {thing} and {number % 97} {other} in {chance.choice(PLACES)}."
