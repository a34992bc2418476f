"""Checkpoints of a graph whose conversation grows, compared with LangGraph's own SQLite saver.

Both savers are handed the same checkpoints directly, one after each message, with the whole list of messages, as LangGraph does;
each writes to a SQLite file of its own, with the durability it has by default. Bytes are of the tables of checkpoints.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.frame import Size, figure, missing, ratio, timed
from memoir_engine import Memory

FEATURES = ("langgraph", "conversations")
LENGTHS = {"full": (10, 100, 1_000, 10_000), "small": (10, 40)}
THEIR_LONGEST = 1_000  # theirs writes the whole list each time: ten thousand would take 20 GB
Figure = dict[str, Any]
AROUND = 20  # checkpoints measured at each length
CHARS = 257
AIM_MS, AIM_MB, AIM_GROWTH = 1.0, 3.0, 1.5
THEIRS = "langgraph-checkpoint-sqlite"
WORDS = "river stone window market engine letter garden winter bridge silver number paper forest signal harbour copper".split()


def main(size: Size) -> dict[str, Any]:
    lengths = LENGTHS[size]
    with tempfile.TemporaryDirectory() as name:
        absent = missing([THEIRS])
        ours, shorter = _ours(Path(name), lengths), [n for n in lengths if n <= THEIR_LONGEST]
        theirs = None if absent else _theirs(Path(name) / "theirs.db", shorter)
    mine = [figure(f"put at message {at:,}", runs, "ms", aim=AIM_MS) for at, runs in ours["put"].items()]
    grown = figure(f"put at {lengths[-1]:,} over at {lengths[0]}", [mine[-1]["median"] / mine[0]["median"]], "×", aim=AIM_GROWTH)
    reading = [figure(f"read at message {at:,}", runs, "ms") for at, runs in ours["read"].items()]
    sizes = [figure(f"bytes at {at:,} messages", [taken], "MB", aim=AIM_MB) for at, taken in ours["mb"].items() if at <= 1_000]
    return {
        "title": "Checkpoints of a conversation that grows, beside LangGraph's saver for SQLite",
        "sizes": {"messages": lengths[-1], "characters of a message": CHARS, "checkpoints measured at each length": AROUND},
        "figures": [
            *mine,
            grown,
            *reading,
            *sizes,
            *(_beside(mine, sizes, theirs) if theirs else ()),
        ],
        "notes": [f"{package}: not installed" for package in absent],
        "packages": ["langgraph", "langgraph-checkpoint", "langgraph-checkpoint-sqlite", "langchain-core"],
    }


def _beside(mine: list[Figure], sizes: list[Figure], theirs: dict[str, dict[int, Any]]) -> list[Figure]:
    """Return their figures, and ours relative to them at the greatest length."""
    other = [figure(f"{THEIRS}: put at message {at:,}", runs, "ms") for at, runs in theirs["put"].items()]
    their_sizes = [figure(f"{THEIRS}: bytes at {at:,} messages", [taken], "MB") for at, taken in theirs["mb"].items()]
    last = len(other) - 1
    ahead = ratio("put beside LangGraph's", mine[last], other[last])
    return [*other, *their_sizes, ahead, ratio("bytes beside LangGraph's", sizes[last], their_sizes[last])]


def _ours(folder: Path, lengths: tuple[int, ...]) -> dict[str, dict[int, Any]]:
    from memoir_engine.langgraph import MemoirCheckpointSaver

    path = folder / "ours.db"
    with Memory(db_path=path, data_dir=folder / "data", model="offline") as memory:
        return _grown(MemoirCheckpointSaver(memory), lengths, lambda: _megabytes(path, "checkpoint"))


def _theirs(path: Path, lengths: list[int]) -> dict[str, dict[int, Any]]:
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(str(path)) as saver:
        return _grown(saver, tuple(lengths), lambda: _megabytes(path, ""))


def _grown(saver: Any, lengths: tuple[int, ...], megabytes: Callable[[], float]) -> dict[str, dict[int, Any]]:
    """Measure milliseconds per put and per read, and megabytes, at each length."""
    from langchain_core.messages import AIMessage, HumanMessage

    messages: list[Any] = []
    chance, place = random.Random(20261122), {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    found: dict[str, dict[int, Any]] = {"put": {}, "read": {}, "mb": {}}
    taken: list[float] = []
    for number in range(1, lengths[-1] + AROUND + 1):
        kind = HumanMessage if number % 2 else AIMessage
        messages = [*messages, kind(_text(chance), id=f"m{number}")]
        checkpoint, began = _checkpoint(messages, number), time.perf_counter()
        place = saver.put(place, checkpoint, {"source": "loop", "step": number, "parents": {}}, {"messages": number})
        taken.append((time.perf_counter() - began) * 1_000)
        if number in lengths:
            found["mb"][number] = megabytes()
        if number - AROUND in lengths:
            found["put"][number - AROUND] = taken[-2 * AROUND :]
            found["read"][number - AROUND] = [run * 1_000 for run in timed(partial(saver.get_tuple, place), runs=5, warm=1)]
    return found


def _checkpoint(messages: list[Any], version: int) -> Any:
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.base.id import uuid6

    values = {"messages": messages}
    return empty_checkpoint() | {"id": str(uuid6()), "channel_values": values, "channel_versions": {"messages": version}}


def _text(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=60))[:CHARS]


def _megabytes(path: Path, begins: str) -> float:
    """Sum the pages of the tables with this prefix and of their indexes."""
    connection = sqlite3.connect(path)
    tables = "SELECT name FROM sqlite_master WHERE tbl_name LIKE ?"
    wanted = f"SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name IN ({tables})"
    (size,) = connection.execute(wanted, (f"{begins}%",)).fetchone()
    connection.close()
    return int(size) / 1_000_000
