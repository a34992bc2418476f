"""Growing conversation: appending, reading and disk space, compared with LangChain's SQL history.

Both write to a SQLite file of their own, the same turns of a question and an answer. Ours chains each turn by hash in the same
transaction, and that is in the time; bytes are of the tables session and message alone, and beside them of the whole file.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.frame import Size, figure, missing, ratio, timed
from memoir_engine import Memory

FEATURES = ("conversations",)
LENGTHS = {"full": (10, 100, 1_000, 10_000), "small": (10, 40)}
TURNS = {"full": 60, "small": 4}  # measured at each length
LONG_TURN = 10  # messages of a turn with tools
AT_ONCE = 500  # messages, while it is made long
CHARS = 257  # of a message
AIM_MS, AIM_BYTES = 0.3, 2.0
PEER = "langchain-community"
THEIRS = "LangChain SQLChatMessageHistory"
WORDS = "river stone window market engine letter garden winter bridge silver number paper forest signal harbour copper".split()

Figure = dict[str, Any]
Said = Callable[[list[str]], object]


def main(size: Size) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        absent = missing([PEER])
        ours, theirs = _ours(folder, size), None if absent else _theirs(folder / "theirs.db", size)
    lengths = LENGTHS[size]
    figures = []
    for at, mine in zip(lengths, ours["append"], strict=True):
        figures.append(figure(f"append at message {at:,}", mine, "ms", aim=AIM_MS, note="per message, in turns of two"))
    figures.append(figure("append in a turn of ten", ours["turn"], "ms", aim=AIM_MS, note="per message"))
    for at, mine in zip(lengths, ours["worked"], strict=True):
        figures.append(figure(f"processor time of an append at message {at:,}", mine, "ms", note="whatever else is running"))
    grows = figures[-1]["median"] / figures[-len(lengths)]["median"]
    figures.append(figure(f"processor time at {lengths[-1]:,} over at {lengths[0]}", [grows], "×", aim=1.5))
    reloads = [figure(f"read all of {at:,}", mine, "ms") for at, mine in zip(lengths, ours["read"], strict=True)]
    figures += reloads
    figures.append(figure("bytes of its tables over bytes of text", [ours["tables"]], "×", aim=AIM_BYTES))
    figures.append(figure("bytes of the whole file over bytes of text", [ours["file"]], "×", note="with the chain of all turns"))
    if theirs:
        figures += _beside(figures[len(lengths) - 1], reloads[-1], theirs, lengths)
    return {
        "title": "A conversation that grows, beside LangChain's SQL history",
        "sizes": {"messages": lengths[-1], "characters of a message": CHARS, "turns measured at each length": TURNS[size]},
        "figures": figures,
        "notes": [f"{package}: not installed" for package in absent],
        "packages": ["langchain-core", "langchain-community"],
    }


def _beside(appended: Figure, read: Figure, theirs: dict[str, Any], lengths: tuple[int, ...]) -> list[Figure]:
    """Return their figures, and ours relative to them at the end."""
    others = []
    for kind, unit, times in (("append at message", "ms", theirs["append"]), ("read all of", "ms", theirs["read"])):
        others += [figure(f"{THEIRS}: {kind} {at:,}", runs, unit) for at, runs in zip(lengths, times, strict=True)]
    ahead = ratio("append beside LangChain, at the end", appended, others[len(lengths) - 1])
    return [*others, ahead, ratio("reading beside LangChain, at the end", read, others[-1])]


def _ours(folder: Path, size: Size) -> dict[str, Any]:
    texts, path = _texts(), folder / "ours.db"
    with Memory(db_path=path, data_dir=folder / "data", model="offline") as memory:

        def say(said: list[str]) -> object:
            roles = ("user", "assistant")
            return memory.sessions.append("s", [{"role": roles[i % 2], "content": one} for i, one in enumerate(said)])

        def read() -> object:
            return memory.sessions.get_session_history("s")

        found = _grown(say, read, texts, size)
        turn = [next(texts) for _ in range(LONG_TURN)]
        found["turn"] = [run * 1_000 / LONG_TURN for run in timed(lambda: say(turn), runs=TURNS[size])]
    return found | _bytes(folder, texts)


def _bytes(folder: Path, texts: Iterator[str]) -> dict[str, float]:
    """Measure a conversation of a thousand messages in its own store."""
    path, said = folder / "bytes.db", [next(texts) for _ in range(1_000)]
    with Memory(db_path=path, data_dir=folder / "bytes", model="offline") as memory:
        for at in range(0, len(said), 2):
            memory.sessions.append("s", [{"role": "user", "content": said[at]}, {"role": "assistant", "content": said[at + 1]}])
    text = sum(len(one.encode()) for one in said)
    return {"tables": _of_tables(path, {"session", "message"}) / text, "file": _compact(path, folder / "whole.db") / text}


def _of_tables(path: Path, kept: set[str]) -> int:
    """Return the bytes of these tables with their indexes: the file's size with them minus without them."""
    alone, without = path.with_suffix(".alone"), path.with_suffix(".without")
    return _compact(path, alone, keep=kept) - _compact(path, without, keep=set())


def _compact(path: Path, copy: Path, keep: set[str] | None = None) -> int:
    shutil.copy(path, copy)
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.execute("PRAGMA journal_mode=DELETE")
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for name in tables:
        if keep is not None and name not in keep and not name.startswith("sqlite_"):
            connection.execute(f'DROP TABLE "{name}"')
    connection.execute("VACUUM")
    connection.close()
    return copy.stat().st_size


def _theirs(path: Path, size: Size) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_community.chat_message_histories import SQLChatMessageHistory
        from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

        history = SQLChatMessageHistory("s", connection=f"sqlite:///{path}")

        def say(said: list[str]) -> object:
            made: list[BaseMessage] = [(AIMessage if i % 2 else HumanMessage)(one) for i, one in enumerate(said)]
            history.add_messages(made)
            return None

        return _grown(say, lambda: history.messages, _texts(), size)


def _grown(say: Said, read: Callable[[], object], texts: Iterator[str], size: Size) -> dict[str, Any]:
    """Measure milliseconds per message and per read at each length."""
    append, worked, reading, there = [], [], [], 0
    say([next(texts), next(texts)])
    there += 2
    for length in LENGTHS[size]:
        while there < length:
            count = min(AT_ONCE, length - there)
            say([next(texts) for _ in range(count)])
            there += count
        reading.append([run * 1_000 for run in timed(read, runs=5, warm=1)])
        turns = [[next(texts), next(texts)] for _ in range(TURNS[size])]
        times = [_both(say, turn) for turn in turns]
        append.append([wall * 500 for wall, _ in times])
        worked.append([processor * 500 for _, processor in times])
        there += 2 * len(turns)
    return {"append": append, "worked": worked, "read": reading}


def _both(say: Said, turn: list[str]) -> tuple[float, float]:
    """Return wall-clock seconds and this process's CPU seconds."""
    began, worked = time.perf_counter(), time.process_time()
    say(turn)
    return time.perf_counter() - began, time.process_time() - worked


def _texts() -> Iterator[str]:
    """Yield endless reproducible texts."""
    chance = random.Random(20261122)
    while True:
        yield " ".join(chance.choices(WORDS, k=60))[:CHARS]
