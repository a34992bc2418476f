"""Remembering and recalling when a user has many facts already.

Facts are drawn by the offline model from conversations of plain statements, so the store is filled the way anybody fills one. The
engine's own time is that of the verb less what the ledger says the model took; embedding is the offline one and is in it.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.frame import Size, figure, timed
from memoir_engine import Memory

FACTS = {"full": (0, 1_000, 10_000), "small": (0, 20)}
MEASURED = {"full": 30, "small": 3}
AT_ONCE = 200  # statements of a conversation, while the store is filled
AIM_ADD_MS = 10.0
USER = "mia"
THINGS = "tea figs rain owls chess boats jazz bread soup hats maps bells lamps kites roses plums drums masks coins shells".split()
PLACES = "Lisbon Oslo Prague Turin Ghent Cork Lyon Graz Bergen Malmo Porto Basel Leeds Bruges Vienna Krakow Riga Sofia".split()


def main(size: Size) -> dict[str, Any]:
    adding, recalling = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Memory(db_path=folder / "facts.db", data_dir=folder / "data", model="offline") as memory:
            texts = _statements()
            for many in FACTS[size]:
                _fill(memory, texts, many)
                there = sum(memory.facts.counts(USER).values())
                adding.append((there, [_added(memory, next(texts)) for _ in range(MEASURED[size])]))
                asked = [f"who likes {thing} in {place}" for thing, place in zip(THINGS, PLACES, strict=False)]
                runs = [run for text in asked[: MEASURED[size]] for run in timed(partial(memory.recall, text, USER), runs=1)]
                recalling.append((there, [run * 1_000 for run in runs]))
    figures = []
    for there, runs in adding:
        aim = AIM_ADD_MS if there >= FACTS["full"][-1] else None
        figures.append(figure(f"add a fact, {there:,} there", runs, "ms", aim=aim, note="the verb less the model's time"))
    figures += [figure(f"recall ten, {there:,} there", runs, "ms") for there, runs in recalling]
    grown = figures[len(adding) - 1]["median"] / figures[0]["median"]
    figures.append(figure("adding at the end over at the beginning", [grown], "×", aim=1.5))
    return {
        "title": "Remembering and recalling among many facts of one user",
        "sizes": {"facts": adding[-1][0], "measured at each size": MEASURED[size]},
        "figures": figures,
    }


def _fill(memory: Memory, texts: Iterator[str], many: int) -> None:
    """Until so many facts are there, or a conversation adds none."""
    there = sum(memory.facts.counts(USER).values())
    while there < many:
        said = [{"role": "user", "content": next(texts)} for _ in range(min(AT_ONCE, many - there))]
        memory.remember(said, user_id=USER)
        before, there = there, sum(memory.facts.counts(USER).values())
        if there == before:
            raise RuntimeError(f"the offline model drew no facts; {there} are there")


def _added(memory: Memory, text: str) -> float:
    """Milliseconds of the engine."""
    made = []
    (took,) = timed(lambda: made.append(memory.remember([{"role": "user", "content": text}], user_id=USER)), runs=1)
    asked = sum(call.latency_ms for call in memory.runs.get(made[0].run_id).calls)
    return took * 1_000 - asked


def _statements() -> Iterator[str]:
    """Endless, different, the same every time."""
    chance = random.Random(20261122)
    number = 0
    while True:
        number += 1
        thing, other = chance.sample(THINGS, 2)
        yield f"I bought {number} {thing} and {number % 97} {other} in {chance.choice(PLACES)}."
